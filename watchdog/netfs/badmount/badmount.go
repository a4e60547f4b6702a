// Package badmount is for tests: file systems that hang, go stale or fail, as the real kernel sees them.
package badmount

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// Mount is a real mount whose file system daemon, this test, does what a broken one does: the
// kernel's own waiting and the kernel's own words, without a server or a network.
type Mount struct {
	Path string
	dev  int

	mu      sync.Mutex
	hangs   bool
	late    time.Duration // before each answer
	says    syscall.Errno // to every question; 0: it is an empty folder
	waiting int           // questions that got no answer
}

// Requests of the FUSE protocol, as in linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseInit, fuseInterrupt, fuseBatchForget = 1, 2, 3, 26, 36, 42

	fuseInLen = 40
)

// Elsewhere runs the calling test once more in a process of its own, which sees mounts that nobody
// else sees, and returns true: the test is over then. In that process it returns false.
func Elsewhere(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	again.WaitDelay = time.Second
	said, err := again.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skipf("skipped: no mounts of our own here: %v", err)
	case err != nil:
		t.Fatalf("%v: %s", err, said)
	case bytes.Contains(said, []byte("--- SKIP")):
		t.Skipf("skipped: %s", said)
	}
	return true
}

const (
	inside   = "BADMOUNT_TEST_PROCESS"
	patience = 2 * time.Minute // the questions of a script that is told to hurry
)

// New mounts one of that type and source, in a process made by Elsewhere. It ends with the test.
func New(t *testing.T, fstype, source string) *Mount {
	t.Helper()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("skipped: cannot keep mounts to ourselves: %v", err)
	}
	dev, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("skipped: no FUSE here: %v", err)
	}
	b := &Mount{Path: t.TempDir(), dev: dev}
	options := "fd=" + strconv.Itoa(dev) + ",rootmode=40755,user_id=0,group_id=0,allow_other"
	if err := syscall.Mount(source, b.Path, fstype, 0, options); err != nil {
		syscall.Close(dev)
		t.Skipf("skipped: cannot mount FUSE here: %v", err)
	}
	done := make(chan struct{})
	go func() { defer close(done); b.serve() }()
	t.Cleanup(func() { <-done; syscall.Close(dev) })
	t.Cleanup(b.end)
	time.AfterFunc(patience/2, b.Kill) // what waits for it would outlive even a killed test
	return b
}

// Hang lets it answer nothing from now on, not even to a signal, as a hard mount does.
func (b *Mount) Hang() { b.set(func() { b.hangs = true }) }

// Late lets it answer each question that late.
func (b *Mount) Late(by time.Duration) { b.set(func() { b.late = by }) }

// Say lets it answer every question with that error.
func (b *Mount) Say(e syscall.Errno) { b.set(func() { b.says = e }) }

// Waiting returns how many questions got no answer.
func (b *Mount) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

// Kill is what a daemon's death is to the kernel: every waiting question is over. A mount that is
// busy stays.
func (b *Mount) Kill() { _ = syscall.Unmount(b.Path, syscall.MNT_FORCE) }

func (b *Mount) end() {
	b.Kill()
	_ = syscall.Unmount(b.Path, syscall.MNT_DETACH)
}

func (b *Mount) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *Mount) serve() {
	buf := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(b.dev, buf)
		if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EAGAIN) {
			continue
		}
		if err != nil || n < fuseInLen {
			return // the mount is gone
		}
		b.answer(binary.NativeEndian.Uint32(buf[4:]), binary.NativeEndian.Uint64(buf[8:]))
	}
}

func (b *Mount) answer(opcode uint32, unique uint64) {
	b.mu.Lock()
	hangs, late, says := b.hangs, b.late, b.says
	if hangs && opcode == fuseInterrupt || opcode == fuseForget || opcode == fuseBatchForget {
		b.mu.Unlock()
		return
	}
	if hangs && opcode != fuseInit {
		b.waiting++
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
		b.reply(unique, syscall.ENOENT, nil)
	default:
		b.reply(unique, syscall.ENOSYS, nil) // the kernel does without
	}
}

func (b *Mount) reply(unique uint64, says syscall.Errno, body []byte) {
	head := make([]byte, 16, 16+len(body))
	binary.NativeEndian.PutUint32(head, uint32(16+len(body)))
	no := -int32(says)
	binary.NativeEndian.PutUint32(head[4:], *(*uint32)(unsafe.Pointer(&no)))
	binary.NativeEndian.PutUint64(head[8:], unique)
	_, _ = syscall.Write(b.dev, append(head, body...))
}
