package disktest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socketFile is the descriptor of the socket to the disk, in the process that is played.
const socketFile = 3

// calls are the system calls by which Go changes a file system.
var calls = map[uint32]string{
	unix.SYS_OPENAT: "open", unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "write", unix.SYS_FSYNC: "sync", unix.SYS_FDATASYNC: "sync",
	unix.SYS_FTRUNCATE: "truncate", unix.SYS_TRUNCATE: "truncate", unix.SYS_FALLOCATE: "allocate", unix.SYS_FCHMOD: "chmod", unix.SYS_FCHMODAT: "chmod",
	unix.SYS_RENAMEAT: "rename", unix.SYS_LINKAT: "link", unix.SYS_UNLINKAT: "unlink", unix.SYS_MKDIRAT: "mkdir",
}

// Submit lets the disk that started this process judge every write from now on. It cannot be undone.
func Submit() error {
	file := os.NewFile(socketFile, "disk")
	c, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("cannot reach the disk that should have started this process: %w", err)
	}
	defer c.Close()
	listener, err := install()
	if err != nil {
		return err
	}
	socket := c.(*net.UnixConn)
	if _, _, err := socket.WriteMsgUnix([]byte{0}, unix.UnixRights(listener), nil); err != nil {
		return err
	}
	_, err = socket.Read(make([]byte, 1)) // it listens now
	return errors.Join(err, unix.Close(listener))
}

// install gives all threads of this process the filter, and returns what its questions come out of.
func install() (int, error) {
	filter := program()
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
		unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV // else a signal of the Go runtime would ask a second time
	fd, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return -1, fmt.Errorf("seccomp: %w", errno)
	}
	return int(fd), nil
}

// program asks about the calls above and lets all others pass. The number of a call is the first
// word of what the kernel shows.
func program() []unix.SockFilter {
	var numbers []uint32
	for n := range calls {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	code := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}}
	for i, n := range numbers {
		code = append(code, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(len(numbers) - i), K: n})
	}
	return append(code,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
}
