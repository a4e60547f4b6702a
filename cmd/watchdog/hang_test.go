package main

import (
	"fmt"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// briefly are the bounds of a tick in a unit that gives it seconds. Each is far above what a tick
// takes that does not hang.
var briefly = bounds{finish: 3 * time.Second, end: 4 * time.Second, stop: time.Second}

// hangingMount makes a folder that really hangs whoever looks into it, in the kernel, where no context
// reaches: a FUSE file system whose server never answers. Letting go of it ends the calls that hang.
func hangingMount(dir string) (letGo func(), err error) {
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse.Fd())
	if err := unix.Mount("hangs", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, fmt.Errorf("%w; %w", err, fuse.Close())
	}
	return func() {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		_ = fuse.Close()
	}, nil
}

// canHang says whether this machine lets us mount one.
func canHang() bool {
	dir, err := os.MkdirTemp("", "watchdog-hangs-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	letGo, err := hangingMount(dir)
	if err != nil {
		return false
	}
	letGo()
	return true
}

// hang DIR: from now on it hangs whoever looks into it, until letgo. What is in it comes back then.
func scriptHang(ts *testscript.TestScript, _ bool, args []string) {
	letGo, err := hangingMount(ts.MkAbs(args[0]))
	check(ts, err)
	h := clusterOf(ts)
	h.letGo = letGo
	ts.Defer(func() { scriptLetGo(ts, false, nil) })
}

func scriptLetGo(ts *testscript.TestScript, _ bool, _ []string) {
	if h := clusterOf(ts); h.letGo != nil {
		h.letGo()
		h.letGo = nil
	}
}
