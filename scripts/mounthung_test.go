package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// N01: a command that ignores signals, and a child of it that holds its output for ever.
const stuck = `trap '' TERM
echo $$ >>"$FAKE/left-behind"
/usr/bin/setsid /bin/sleep 300 &
echo $! >>"$FAKE/left-behind"
exec /bin/sleep 300`

// endLeftBehind ends what stand-ins left behind.
func (n *node) endLeftBehind() {
	for pid := range strings.FieldsSeq(n.got("left-behind")) {
		exec.Command("/bin/kill", "-9", pid).Run() // one that has ended is as good
	}
}

// A program that hangs on the mount only: the home of the user answers.
const stuckThere = `case $* in *models*) ;; *) exec /usr/bin/"${0##*/}" "$@" ;; esac
` + stuck

func TestHungMountN01(t *testing.T) {
	for _, c := range []struct{ command, sentinel, seconds string }{{"stat", "", "8"}, {"findmnt", "", "4"}, {"head", "sentinel", "8"}} {
		t.Run("N01: "+c.command, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			defer n.endLeftBehind()
			path := mounted(n, "nfs4")
			n.bin(c.command, stuckThere)
			got := checkMount(n, path, "nfs4", c.sentinel)
			got.fails(t, "mount "+path+" is hung: no answer within "+c.seconds+" s")
			got.oneLine(t)
			if strings.Contains(got.err, "absent") || strings.Contains(got.err, "not a mount point") {
				t.Errorf("hung is not absent: %s", got.err)
			}
		})
	}
}

// own returns the user's own folder on this node.
func own(t *testing.T, n *node) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(n.home, ".cache", "cluster-watchdog", host)
}

// outstanding writes down a living process as an earlier look that still waits.
func outstanding(t *testing.T, n *node, name string, pid int, birth string) {
	t.Helper()
	file := filepath.Join(own(t, n), name+".pid")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%d %s 2026-11-29T11:58:16Z\n", pid, birth), 0o600); err != nil {
		t.Fatal(err)
	}
}

func birth(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))[19]
}

// N01: at most one look is outstanding, however many ticks come by.
func TestMountHungSinceAnEarlierLookN01(t *testing.T) {
	n := newNode(t)
	path := mounted(n, "nfs4")
	n.bin("stat", `echo x >>"$FAKE/looks"; exit 1`)
	name := "fs-" + strings.ReplaceAll(path, "/", "%2F")
	outstanding(t, n, name, os.Getpid(), birth(t, os.Getpid()))
	got := checkMount(n, path, "", "")
	got.fails(t, "mount "+path+" is hung since 2026-11-29T11:58:16Z")
	got.oneLine(t)
	if n.got("looks") != "" {
		t.Error("a second look was started beside the first")
	}

	n = newNode(t)
	path = mounted(n, "nfs4")
	name = "fs-" + strings.ReplaceAll(path, "/", "%2F")
	outstanding(t, n, name, os.Getpid(), "1") // the number went to another process
	checkMount(n, path, "", "").passes(t, "fstype=nfs4\n")
}

// After a reboot a process may have the number and the age of one that was written down before.
func TestMountLookOfAnEarlierBootN01(t *testing.T) {
	for boot, hung := range map[string]bool{"": true, bootOf(t): true, "0b1c0000-0000-4000-8000-000000000000": false} {
		n := newNode(t)
		path := mounted(n, "nfs4")
		name := "fs-" + strings.ReplaceAll(path, "/", "%2F")
		outstanding(t, n, name, os.Getpid(), birth(t, os.Getpid())+" 2026-11-29T11:58:16Z "+boot+"\n#")
		if got := checkMount(n, path, "", ""); hung != (got.exit == 1) {
			t.Errorf("boot %q: got exit %d, %q", boot, got.exit, got.err)
		}
	}
}

func bootOf(t *testing.T) string {
	t.Helper()
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(id))
}

// An earlier look that ends meanwhile is no reason to fail.
func TestMountWaitsForAnEarlierLook(t *testing.T) {
	n := newNode(t)
	path := mounted(n, "nfs4")
	earlier := exec.Command("/bin/sleep", "300")
	if err := earlier.Start(); err != nil {
		t.Fatal(err)
	}
	go earlier.Wait()
	outstanding(t, n, "mount-"+strings.ReplaceAll(path, "/", "%2F"), earlier.Process.Pid, birth(t, earlier.Process.Pid))
	n.play("on-sleep", fmt.Sprintf("kill %d 2>/dev/null; exit 0", earlier.Process.Pid))
	checkMount(n, path, "", "").passes(t, "fstype=nfs4\n")
}

func TestOwnFolderIsTheUsersAlone(t *testing.T) {
	n := newNode(t)
	checkMount(n, mounted(n, "nfs4"), "", "").passes(t, "fstype=nfs4\n")
	for _, dir := range []string{own(t, n), filepath.Dir(own(t, n))} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v", dir, info.Mode())
		}
	}
}
