package state

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// HeldBy says who holds the lock of a folder, without trying it: a try could turn away a tick that
// comes at the same moment.
func HeldBy(dir string) (Holder, bool) { return heldBy(filepath.Join(dir, lockName)) }

// ActingBy says the same of the lock under which groups of this machine act.
func ActingBy(path string) (Holder, bool) { return heldBy(path) }

func heldBy(path string) (Holder, bool) {
	h := readHolder(path)
	var file syscall.Stat_t
	if h.PID == 0 || syscall.Stat(path, &file) != nil {
		return Holder{}, false
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || !listed(string(locks), h.PID, file.Ino) {
		return Holder{}, false
	}
	return h, true
}

// listed says whether /proc/locks has the lock of this process on this inode. Its device number
// is not compared: on btrfs it is another one than stat's.
func listed(locks string, pid int, inode uint64) bool {
	for l := range strings.Lines(locks) { // 1: FLOCK  ADVISORY  WRITE 123 fe:00:4567 0 EOF
		f := strings.Fields(l)
		if len(f) >= 6 && f[1] == "FLOCK" && f[3] == "WRITE" && f[4] == strconv.Itoa(pid) &&
			strings.HasSuffix(f[5], ":"+strconv.FormatUint(inode, 10)) {
			return true
		}
	}
	return false
}
