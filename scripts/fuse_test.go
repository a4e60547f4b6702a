package scripts

import (
	"encoding/binary"
	"errors"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// badMount is a real mount whose file system daemon, this test, does what a broken one does: the
// kernel's own waiting and the kernel's own words, without a server or a network.
type badMount struct {
	path string
	dev  int

	mu      sync.Mutex
	hangs   bool
	late    time.Duration // before each answer
	says    unix.Errno    // to every question; 0: it is an empty folder
	unasked int           // questions that got no answer
}

// Requests of the FUSE protocol, as in linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseInit, fuseInterrupt, fuseBatchForget = 1, 2, 3, 26, 36, 42

	fuseName  = "nas:/models"
	fuseInLen = 40
)

// mountBad mounts one in a mount namespace that only the caller and what it starts can see. It ends
// with the test.
func mountBad(t *testing.T) *badMount {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread and its namespace end with this goroutine
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		t.Skipf("skipped: no mount namespace of our own here: %v", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("skipped: cannot keep mounts to ourselves: %v", err)
	}
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("skipped: no FUSE here: %v", err)
	}
	b := &badMount{path: t.TempDir(), dev: dev}
	options := "fd=" + strconv.Itoa(dev) + ",rootmode=40755,user_id=0,group_id=0,allow_other"
	if err := unix.Mount(fuseName, b.path, "fuse.bad", 0, options); err != nil {
		unix.Close(dev)
		t.Skipf("skipped: cannot mount FUSE here: %v", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); b.serve() }()
	t.Cleanup(func() { <-done; unix.Close(dev) })
	t.Cleanup(b.end)
	return b
}

// end is what a daemon's death is to the kernel: every waiting question is over.
func (b *badMount) end() {
	_ = unix.Unmount(b.path, unix.MNT_FORCE) // it aborts, also where it is busy
	_ = unix.Unmount(b.path, unix.MNT_DETACH)
}

func (b *badMount) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *badMount) outstanding() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unasked
}

func (b *badMount) serve() {
	buf := make([]byte, 1<<17)
	for {
		n, err := unix.Read(b.dev, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil || n < fuseInLen {
			return // the mount is gone
		}
		b.answer(binary.NativeEndian.Uint32(buf[4:]), binary.NativeEndian.Uint64(buf[8:]))
	}
}

func (b *badMount) answer(opcode uint32, unique uint64) {
	b.mu.Lock()
	hangs, late, says := b.hangs, b.late, b.says
	if hangs && opcode == fuseInterrupt || opcode == fuseForget || opcode == fuseBatchForget {
		b.mu.Unlock()
		return
	}
	if hangs && opcode != fuseInit {
		b.unasked++
		b.mu.Unlock()
		return
	}
	b.mu.Unlock()
	switch {
	case opcode == fuseInit:
		out := make([]byte, 64)
		binary.NativeEndian.PutUint32(out, 7)
		binary.NativeEndian.PutUint32(out[4:], 31)
		binary.NativeEndian.PutUint32(out[20:], 4096) // max_write
		b.reply(unique, 0, out)
	case says != 0:
		b.reply(unique, says, nil)
	case opcode == fuseGetattr:
		time.Sleep(late)
		out := make([]byte, 104)
		binary.NativeEndian.PutUint64(out[16:], 1)       // ino
		binary.NativeEndian.PutUint32(out[76:], 0o40755) // mode: a folder
		binary.NativeEndian.PutUint32(out[80:], 2)       // nlink
		b.reply(unique, 0, out)
	case opcode == fuseInterrupt:
	case opcode == fuseLookup:
		b.reply(unique, unix.ENOENT, nil)
	default:
		b.reply(unique, unix.ENOSYS, nil) // the kernel does without
	}
}

func (b *badMount) reply(unique uint64, says unix.Errno, body []byte) {
	head := make([]byte, 16, 16+len(body))
	binary.NativeEndian.PutUint32(head, uint32(16+len(body)))
	no := -int32(says)
	binary.NativeEndian.PutUint32(head[4:], *(*uint32)(unsafe.Pointer(&no)))
	binary.NativeEndian.PutUint64(head[8:], unique)
	_, _ = unix.Write(b.dev, append(head, body...))
}

// realMounts lets the node ask the machine's own findmnt.
func realMounts(n *node) { n.bin("findmnt", `exec /usr/bin/findmnt "$@"`) }

// N01: the kernel keeps the process in D for ever, KILL or not. Nothing holds the session, and the
// next look starts no second process beside it.
func TestRealHungMountN01(t *testing.T) {
	b := mountBad(t)
	b.set(func() { b.hangs = true })
	n := newNode(t)
	realMounts(n)
	checkMount(n, b.path, "", "").fails(t, "mount "+b.path+" is hung: no answer within 8 s")
	for _, group := range []string{"", "other"} { // of any group: the mount is one
		got := n.run("check/mount", map[string]string{"WATCHDOG_GROUP": group, "WATCHDOG_MOUNT": b.path, "WATCHDOG_FSTYPE": "", "WATCHDOG_SENTINEL": ""})
		got.fails(t, "mount "+b.path+" is hung since 2", "an earlier look still waits")
		got.oneLine(t)
	}
	n.run("check/disk", map[string]string{"WATCHDOG_DISK_PATH": b.path, "WATCHDOG_DISK_MIN": "1"}).
		fails(t, "disk "+b.path+" is hung since 2")
	if got := b.outstanding(); got != 1 {
		t.Errorf("%d processes wait for the mount, want 1", got)
	}
	n.run("check/dirs", map[string]string{"WATCHDOG_DIRS": n.fake + "\n" + b.path + "/cache\n/tmp"}).
		fails(t, "folder "+b.path+"/cache is hung: no answer within 8 s")
}

func TestRealMountSaysWhatIsWrong(t *testing.T) {
	for _, r := range []struct {
		says  unix.Errno
		words string
	}{
		{unix.ESTALE, "is stale (Stale file handle)"},
		{unix.EIO, "cannot be read (Input/output error)"},
		{unix.ETIMEDOUT, "does not answer (Connection timed out)"},
		{unix.EACCES, "refuses this user (Permission denied)"},
		{unix.ENOTCONN, "is dead (Transport endpoint is not connected)"},
	} {
		b := mountBad(t)
		b.set(func() { b.says = r.says })
		n := newNode(t)
		realMounts(n)
		got := checkMount(n, b.path, "", "")
		got.fails(t, "mount "+b.path+" "+r.words)
		got.oneLine(t)
	}
}

// A daemon that was killed leaves its mount behind.
func TestRealMountWithoutItsDaemon(t *testing.T) {
	b := mountBad(t)
	f, err := os.Open(b.path) // keeps it busy: it is aborted and stays mounted
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer f.Close()
	_ = unix.Unmount(b.path, unix.MNT_FORCE)
	n := newNode(t)
	realMounts(n)
	checkMount(n, b.path, "", "").fails(t, "mount "+b.path+" is dead")
}

var slowWords = regexp.MustCompile(`^fstype=fuse.bad\nwarning=mount .* is slow: it took [3-9][0-9]? s to answer; `)

// N04: what answers late is told, with the seconds, and is no refusal.
func TestRealSlowMountN04(t *testing.T) {
	b := mountBad(t)
	b.set(func() { b.late = 4 * time.Second })
	n := newNode(t)
	realMounts(n)
	n.bin("sleep", `exec /bin/sleep "$@"`)
	got := checkMount(n, b.path, "fuse.bad", "")
	if got.exit != 0 || got.err != "" || !slowWords.MatchString(got.out) {
		t.Errorf("got exit %d, output %q, stderr %q", got.exit, got.out, got.err)
	}
}

// The home of the user may be such a mount. Every script ends by itself and says so, and what waits
// is one process, however often it is asked.
func TestHungHomeN01(t *testing.T) {
	b := mountBad(t)
	b.set(func() { b.hangs = true })
	n := newNode(t)
	n.home = b.path
	n.run("check/sudo", nil).fails(t, "the home of this user is hung: no answer within 5 s")
	for _, name := range []string{"check/sudo", "check/claim"} {
		got := n.run(name, map[string]string{"WATCHDOG_GROUP": "llm", "WATCHDOG_CONTAINER": "vllm", "WATCHDOG_HEAD_ID": "a", "WATCHDOG_STATE_DIR": "/s"})
		got.fails(t, "the home of this user is hung: an earlier look still waits")
		got.oneLine(t)
	}
	if got := b.outstanding(); got != 1 {
		t.Errorf("%d processes wait for the home, want 1", got)
	}
}
