package disktest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const roleEnv = "DISKTEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "" {
		os.Exit(m.Run())
	}
	err := Submit()
	if err == nil {
		err = Serve(writeAll)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeAll writes in every way there is, below the folder given, and goes on after errors.
func writeAll(words []string) string {
	at := func(name string) string { return filepath.Join(words[0], name) }
	var errs []error
	try := func(err error) { errs = append(errs, err) }
	try(os.Mkdir(at("d"), 0o700))
	f, err := os.Create(at("d/f1234567"))
	try(err)
	if err == nil {
		_, err = f.WriteString("text")
		try(err)
		try(f.Sync())
		try(f.Truncate(1))
		try(f.Chmod(0o600))
		try(f.Close())
	}
	try(os.Link(at("d/f1234567"), at("d/g")))
	try(os.Rename(at("d/g"), at("h")))
	try(os.Remove(at("h")))
	_, err = os.ReadFile(at("d/f1234567"))
	try(err)
	try(os.WriteFile(words[1], nil, 0o600))
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return ""
}

func judged(t *testing.T) (do func(Fault) string, d *Disk) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"=1"), os.Stderr
	root := t.TempDir()
	d, err = Start(cmd, filepath.Join(root, "judged"))
	if errors.Is(err, ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	n := 0
	return func(f Fault) string {
		n++
		dir := filepath.Join(root, "judged", fmt.Sprint(n))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		outside := filepath.Join(root, fmt.Sprint("outside", n))
		answer, err := d.Do(f, dir, outside)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(outside); err != nil {
			answer += " and outside failed too"
		}
		return answer
	}, d
}

var allWrites = []string{"d mkdir 1", "d/f* open 1", "d/f* write 1", "d/f* sync 1", "d/f* truncate 1", "d/f* chmod 1", "d/g link 1", "h rename 1", "h unlink 1"}

func TestEveryWriteHasItsName(t *testing.T) {
	do, d := judged(t)
	for range 2 { // each run counts anew
		if said := do(Fault{}); said != "" {
			t.Fatal(said)
		}
		if got := d.Writes(); !slices.Equal(got, allWrites) {
			t.Errorf("writes %q, want %q", got, allWrites)
		}
	}
	if do(Fault{Write: "no such write", Errno: syscall.EIO}); d.Failed() {
		t.Error("a write failed that there is not")
	}
}

func TestOneWriteFailsOnce(t *testing.T) {
	do, d := judged(t)
	for _, w := range allWrites[2:6] { // the others bring those behind them down
		said := do(Fault{Write: w, Errno: syscall.EIO})
		if !d.Failed() || strings.Count(said, "input/output error") != 1 {
			t.Errorf("%s: %q", w, said)
		}
	}
}

func TestAFaultStays(t *testing.T) {
	do, d := judged(t)
	said := do(Fault{Write: "d/f* sync 1", Errno: syscall.EROFS, Stays: true})
	if !d.Failed() || strings.Count(said, "read-only file system") < 5 {
		t.Errorf("%q", said)
	}
	if said := do(Fault{}); said != "" {
		t.Errorf("mended: %q", said)
	}
}

// A full disk still deletes and cuts off.
func TestAFullDiskDeletes(t *testing.T) {
	do, d := judged(t)
	for _, w := range []string{"h unlink 1", "d/f* truncate 1", "d/f* chmod 1"} {
		if said := do(Fault{Write: w, Errno: syscall.ENOSPC}); said != "" || d.Failed() {
			t.Errorf("%s: %q", w, said)
		}
	}
}
