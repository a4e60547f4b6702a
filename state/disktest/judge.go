package disktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// question is struct seccomp_notif.
type question struct {
	id      uint64
	pid     uint32
	flags   uint32
	number  int32
	arch    uint32
	pointer uint64
	args    [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// judge answers each question until the process is gone.
func (d *Disk) judge() {
	defer unix.Close(d.listener)
	for {
		ready := []unix.PollFd{{Fd: int32(d.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return
		}
		var q question
		if !ioctl(d.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)) {
			continue // its thread has ended meanwhile
		}
		a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := d.ask(&q); errno != 0 {
			a.errno, a.flags = -int32(errno), 0
		}
		ioctl(d.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
	}
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno == 0
}

// ask names the write and says how it fails; 0: it does not.
func (d *Disk) ask(q *question) syscall.Errno {
	path, call := q.path(), calls[uint32(q.number)]
	inside, err := filepath.Rel(d.root, path)
	if path == "" || err != nil || strings.HasPrefix(inside, "..") {
		return 0
	}
	creates := true
	if call == "open" {
		flags := int(q.args[2])
		if flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) == 0 {
			return 0
		}
		_, err := os.Lstat(path)
		creates = os.IsNotExist(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := fmt.Sprintf("%s %s", plainName(inside), call)
	d.seen[name]++
	name = fmt.Sprintf("%s %d", name, d.seen[name])
	d.writes = append(d.writes, name)
	if name != d.fault.Write && !(d.failed && d.fault.Stays) || !fails(call, creates, d.fault.Errno) {
		return 0
	}
	d.failed = true
	return d.fault.Errno
}

// fails says whether a call can fail so at all: a full disk still opens, syncs and deletes.
func fails(call string, creates bool, errno syscall.Errno) bool {
	if errno != syscall.ENOSPC {
		return true
	}
	switch call {
	case "unlink", "chmod", "truncate":
		return false
	case "open":
		return creates
	default:
		return true
	}
}

var chance = regexp.MustCompile(`[0-9]{4,}[0-9TZ]*`)

// plainName is a path without the folder of the run and without what differs from run to run.
func plainName(inside string) string {
	_, name, found := strings.Cut(inside, "/")
	if !found {
		name = "."
	}
	return chance.ReplaceAllString(name, "*")
}

// path is the file that the call is about.
func (q *question) path() string {
	switch uint32(q.number) {
	case unix.SYS_OPENAT, unix.SYS_FCHMODAT, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT:
		return q.joined(q.args[0], q.args[1])
	case unix.SYS_RENAMEAT, unix.SYS_LINKAT: // the new name
		return q.joined(q.args[2], q.args[3])
	case unix.SYS_TRUNCATE:
		return q.text(q.args[0])
	default:
		return q.file(q.args[0])
	}
}

func (q *question) joined(dir, name uint64) string {
	path := q.text(name)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	if int32(dir) == unix.AT_FDCWD {
		folder, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", q.pid))
		if err != nil {
			return ""
		}
		return filepath.Join(folder, path)
	}
	return filepath.Join(q.file(dir), path)
}

func (q *question) file(fd uint64) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", q.pid, int32(fd)))
	if err != nil {
		return ""
	}
	return path
}

// text reads a string of the process that asks.
func (q *question) text(at uint64) string {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", q.pid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	buffer := make([]byte, 4096)
	n, _ := memory.ReadAt(buffer[:4096-at%4096], int64(at)) // to the end of its page
	if end := bytes.IndexByte(buffer[:n], 0); end >= 0 {
		return string(buffer[:end])
	}
	m, _ := memory.ReadAt(buffer[n:], int64(at)+int64(n))
	text, _, _ := bytes.Cut(buffer[:n+m], []byte{0})
	return string(text)
}
