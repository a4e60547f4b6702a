package scripts

import (
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"

	"cluster-watchdog/watchdog/netfs/badmount"
)

// realMounts lets the node ask the machine's own findmnt.
func realMounts(n *node) { n.bin("findmnt", `exec /usr/bin/findmnt "$@"`) }

// N01: the kernel keeps the process in D for ever, KILL or not. Nothing holds the session, and the
// next look starts no second process beside it.
func TestRealHungMountN01(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.bad", "nas:/models")
	b.Hang()
	n := newNode(t)
	realMounts(n)
	checkMount(n, b.Path, "", "").fails(t, "mount "+b.Path+" is hung: no answer within 8 s")
	for _, group := range []string{"", "other"} { // of any group: the mount is one
		got := n.run("check/mount", map[string]string{"WATCHDOG_GROUP": group, "WATCHDOG_MOUNT": b.Path, "WATCHDOG_FSTYPE": "", "WATCHDOG_SENTINEL": ""})
		got.fails(t, "mount "+b.Path+" is hung since 2", "an earlier look still waits")
		got.oneLine(t)
	}
	n.run("check/disk", map[string]string{"WATCHDOG_DISK_PATH": b.Path, "WATCHDOG_DISK_MIN": "1"}).
		fails(t, "disk "+b.Path+" is hung since 2")
	if got := b.Waiting(); got != 1 {
		t.Errorf("%d processes wait for the mount, want 1", got)
	}
	n.run("check/dirs", map[string]string{"WATCHDOG_DIRS": n.fake + "\n" + b.Path + "/cache\n/tmp"}).
		fails(t, "folder "+b.Path+"/cache is hung: no answer within 8 s")
}

func TestRealMountSaysWhatIsWrong(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	for _, r := range []struct {
		says  syscall.Errno
		words string
	}{
		{syscall.ESTALE, "is stale (Stale file handle)"},
		{syscall.EIO, "cannot be read (Input/output error)"},
		{syscall.ETIMEDOUT, "does not answer (Connection timed out)"},
		{syscall.EACCES, "refuses this user (Permission denied)"},
		{syscall.ENOTCONN, "is dead (Transport endpoint is not connected)"},
	} {
		b := badmount.New(t, "fuse.bad", "nas:/models")
		b.Say(r.says)
		n := newNode(t)
		realMounts(n)
		got := checkMount(n, b.Path, "", "")
		got.fails(t, "mount "+b.Path+" "+r.words)
		got.oneLine(t)
	}
}

// A daemon that was killed leaves its mount behind.
func TestRealMountWithoutItsDaemon(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.bad", "nas:/models")
	f, err := os.Open(b.Path) // keeps it busy: it is aborted and stays mounted
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer f.Close()
	b.Kill()
	n := newNode(t)
	realMounts(n)
	checkMount(n, b.Path, "", "").fails(t, "mount "+b.Path+" is dead")
}

var slowWords = regexp.MustCompile(`^fstype=fuse.bad\nwarning=mount .* is slow: it took [3-9][0-9]? s to answer; `)

// N04: what answers late is told, with the seconds, and is no refusal.
func TestRealSlowMountN04(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.bad", "nas:/models")
	b.Late(4 * time.Second)
	n := newNode(t)
	realMounts(n)
	n.bin("sleep", `exec /bin/sleep "$@"`)
	got := checkMount(n, b.Path, "fuse.bad", "")
	if got.exit != 0 || got.err != "" || !slowWords.MatchString(got.out) {
		t.Errorf("got exit %d, output %q, stderr %q", got.exit, got.out, got.err)
	}
}

// The home of the user may be such a mount. Every script ends by itself and says so, and what waits
// is one process, however often it is asked.
func TestHungHomeN01(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.bad", "nas:/models")
	b.Hang()
	n := newNode(t)
	n.home = b.Path
	n.run("check/sudo", nil).fails(t, "the home of this user is hung: no answer within 5 s")
	for _, name := range []string{"check/sudo", "check/claim"} {
		got := n.run(name, map[string]string{"WATCHDOG_GROUP": "llm", "WATCHDOG_CONTAINER": "vllm", "WATCHDOG_HEAD_ID": "a", "WATCHDOG_STATE_DIR": "/s"})
		got.fails(t, "the home of this user is hung: an earlier look still waits")
		got.oneLine(t)
	}
	if got := b.Waiting(); got != 1 {
		t.Errorf("%d processes wait for the home, want 1", got)
	}
}
