package fakenode

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// onMount plays a program that reads a file: the machine's own, late on a slow mount, and not at all
// on one that hangs or went stale.
func onMount(w *world) int {
	if code, stuck := w.onBadMount(); stuck {
		return code
	}
	return w.real(w.args...)
}

func (w *world) onBadMount() (code int, bad bool) {
	if !w.has(MountHangs) && !w.has(MountStale) && !w.has(MountSlow) {
		return 0, false
	}
	mounts, err := w.mounts()
	if err != nil {
		return w.broken(err), true
	}
	for _, arg := range w.args {
		m, ok := holding(mounts, arg)
		if !strings.HasPrefix(arg, "/") || !ok || m.Target == "/" {
			continue
		}
		if w.has(MountHangs) {
			return w.hangHard(), true
		}
		if w.has(MountSlow) {
			time.Sleep(slowMount)
			return 0, false
		}
		fmt.Fprintf(w.stderr, "%s: %s: Stale file handle\n", w.name, arg)
		return 1, true
	}
	return 0, false
}

// slowMount is how late each question is answered; a check asks two, and calls 3 s slow.
const slowMount = 2 * time.Second

// hangHard plays a process that waits for a file system that is gone: it does not end when asked
// to, and what holds the session's output outlives even a KILL.
func (w *world) hangHard() int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	holder := exec.Command("/bin/sleep", fmt.Sprint(hanging.Seconds()))
	holder.Env = os.Environ() // the cluster finds it by its node
	holder.Stdout, holder.Stderr = w.stdout, w.stderr
	holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := holder.Start(); err != nil {
		return w.broken(err)
	}
	return hang()
}
