package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"cluster-watchdog/watchdog"
)

func TestOpenCreatesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	_, err := Open(dir, examined)
	check(t, err)
	info, err := os.Stat(dir)
	check(t, err)
	same(t, "mode", os.FileMode(0o700)|os.ModeDir, info.Mode())
	entries, err := os.ReadDir(dir)
	check(t, err)
	same(t, "nothing in it yet", 0, len(entries))
}

func TestOpenRefuses(t *testing.T) {
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		check(t, os.WriteFile(path, nil, 0o600))
		refuses(t, path, "cannot create the state folder")
	})
	t.Run("a folder open to all", func(t *testing.T) {
		dir := t.TempDir()
		check(t, os.Chmod(dir, 0o777))
		refuses(t, dir, "every user may write to it")
	})
}

func refuses(t *testing.T, dir, want string) {
	t.Helper()
	if _, err := Open(dir, examined); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Open: %v, want %q", err, want)
	}
}

// The kernel's answer is made up: nothing can be mounted in a test.
func TestNetworkFileSystemIsRefusedB02(t *testing.T) {
	for magic, want := range map[int64]string{
		0x6969: "it is on NFS", 0xff534d42: "it is on SMB", 0x01021997: "it is on 9p", 0xef53: "", 0x01021994: "",
	} {
		err := checkDisk("/var/lib/x", func(dir string, on *syscall.Statfs_t) error {
			same(t, "asked of", "/var/lib/x", dir)
			on.Type = magic
			return nil
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%#x: %v", magic, err)
		}
	}
	err := checkDisk("/var/lib/x", func(string, *syscall.Statfs_t) error { return syscall.EIO })
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "cannot tell the file system of the state folder /var/lib/x") {
		t.Error(err)
	}
}

func TestFolderProblem(t *testing.T) {
	rows := []struct {
		name  string
		owner uint32
		us    int
		mode  os.FileMode
		want  string
	}{
		{"root's, by root", 0, 0, 0o700, ""},
		{"root's, by a user", 0, 1000, 0o755, ""},
		{"ours", 1000, 1000, 0o700, ""},
		{"ours, open to our group", 1000, 1000, 0o775, ""},
		{"a user's, by root", 1000, 0, 0o700, "it belongs to user 1000, and must belong to root or to user 0 who runs this"},
		{"another user's", 1001, 1000, 0o700, "it belongs to user 1001, and must belong to root or to user 1000 who runs this"},
		{"open to all", 0, 0, 0o777, "every user may write to it"},
		{"open to all, sticky", 0, 0, 0o777 | os.ModeSticky, "every user may write to it"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { same(t, "problem", r.want, folderProblem(r.owner, r.us, r.mode)) })
	}
}

// Errors of the file system are no damage: nothing may be set aside for them.
func TestReadOnlyFolder(t *testing.T) {
	s := filled(t)
	want := load(t, s)
	check(t, os.Chmod(s.Path(), 0o444))
	check(t, os.Chmod(s.dir, 0o555))
	t.Cleanup(func() { os.Chmod(s.dir, 0o700) })
	asNobody(t, s.dir, func() {
		got, err := s.Load()
		if err != nil {
			t.Error(err)
		}
		if len(got.Attempts) != len(want.Attempts) {
			t.Error("reading needs leave to write")
		}
		err = s.SaveReset(at(0))
		if !errors.Is(err, fs.ErrPermission) || isDamage(err) || !strings.Contains(err.Error(), "cannot save the state") {
			t.Errorf("SaveReset: %v", err)
		}
		if err := WriteFlag(s.dir, watchdog.Flag{}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("WriteFlag: %v", err)
		}
		if to, err := s.SetAside(noon, "x"); err == nil || to != "" {
			t.Errorf("SetAside: %q, %v", to, err)
		}
	})
	same(t, "everything is kept", want, load(t, s))
}

func TestUnreadableDatabaseIsNoDamage(t *testing.T) {
	s := filled(t)
	check(t, os.Chmod(s.Path(), 0))
	asNobody(t, s.dir, func() {
		if _, err := s.Load(); !errors.Is(err, fs.ErrPermission) || isDamage(err) {
			t.Errorf("Load: %v", err)
		}
	})
}

func TestFullDiskIsNoDamageB06(t *testing.T) {
	s := filled(t)
	want := load(t, s)
	_, out, _ := play(t, "fulldisk", s.dir)
	if !out.Scan() || !strings.Contains(out.Text(), "cannot save the state") || strings.Contains(out.Text(), "damaged") {
		t.Errorf("the other process says %q", out.Text())
	}
	same(t, "what was saved before", want, load(t, s))
	check(t, s.SaveReset(at(0)))
}

// A tick each minute on a full disk must not fill the folder with names.
func TestFullDiskLeavesNothingBehindB06(t *testing.T) {
	dir := t.TempDir()
	_, out, _ := play(t, "nodisk", dir)
	if !out.Scan() || !strings.Contains(out.Text(), "cannot save the state") {
		t.Errorf("the other process says %q", out.Text())
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	if len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// asNobody runs do without the rights of root, if we are root. Only one thread changes its user
// for the file system, and it ends with do.
func asNobody(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) { // so that nobody gets there
		info, err := os.Stat(up)
		check(t, err)
		check(t, os.Chmod(up, info.Mode().Perm()|0o055))
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		err := errors.Join(syscall.Setfsgid(65534), syscall.Setfsuid(65534))
		if err == nil {
			do()
		}
		done <- err
	}()
	check(t, <-done)
}
