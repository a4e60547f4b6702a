package clustertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// endSession kills the processes of one command, also those in groups of their own as `timeout`
// makes them. Helpers that were detached with setsid live on, as under the real sshd.
func endSession(n fakenode.Node, session int) {
	end(n, func(pid int) bool { return sessionOf(pid) == session })
}

// endAll kills everything that still runs on a node.
func endAll(n fakenode.Node) {
	end(n, func(int) bool { return true })
}

// rounds bounds the chase after processes that fork while they are being killed.
const rounds = 50

// end kills processes that were started on the node, and only those: each is known by the node in
// its environment.
func end(n fakenode.Node, which func(pid int) bool) {
	for range rounds {
		left := 0
		for _, pid := range pids() {
			if which(pid) && n.Owns(strconv.Itoa(pid)) {
				syscall.Kill(pid, syscall.SIGKILL) // it may have ended meanwhile
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func pids() []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var all []int
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// sessionOf returns the session of a process, or -1 for one that has ended.
func sessionOf(pid int) int {
	const field = 3 // after the name: state, parent, group, session
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return -1
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= field {
		return -1
	}
	session, err := strconv.Atoi(string(fields[field]))
	if err != nil {
		return -1
	}
	return session
}
