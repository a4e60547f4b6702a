//go:build lab

package accept

import (
	"strings"
	"testing"
	"time"
)

// untouched says that the group which the last test left serves as if nothing had been: then the next
// one begins with it. A test that leaves a person's traces behind, or fails, clears it.
var untouched bool

// tidy takes every fault off a node.
const tidy = `echo ok >/run/faultfs.mode; rm -f /var/lib/lab/fault /var/lib/lab/server-args /var/lib/lab/docker-args; `

// fresh brings all nodes back to nothing: no container, no fault, no state, timer stopped.
func fresh(t *testing.T) {
	t.Helper()
	untouched = false
	for node := range nodes {
		_, _ = outer("unpause", container(node))
		if out, _ := outer("inspect", "-f", "{{.State.Running}}", container(node)); out != "true" {
			mustOuter(t, "start", container(node))
		}
	}
	for node := range nodes {
		ready(t, node)
	}
	on(t, head, "systemctl stop cluster-watchdog.timer; systemctl kill -s KILL cluster-watchdog.service 2>/dev/null; systemctl reset-failed; umount -l /var/lib/cluster-watchdog 2>/dev/null; rm -rf /var/lib/cluster-watchdog; true")
	everywhere(t, tidy+`
		pkill -CONT dockerd; pkill -CONT -x sshd; systemctl start docker.socket docker ssh
		pkill -f "[c]luster-watchdog-flusher"; docker ps -aq | xargs -r docker rm -f >/dev/null; true`)
	storyIfFailed(t)
}

// storyIfFailed keeps what the watchdog said for a test that failed.
func storyIfFailed(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			untouched = false
			t.Log(story())
		}
	})
}

// serving hands over a group that serves, armed, with its whole budget: the one that the test before
// left, or a new one, launched by arm --launch and the timer.
func serving(t *testing.T) {
	t.Helper()
	servingWith(t, "true")
}

// servingWith is serving, where a new one is launched after that command on every node.
func servingWith(t *testing.T, command string) {
	t.Helper()
	if untouched && stillServes(t) {
		storyIfFailed(t)
		return
	}
	fresh(t)
	everywhere(t, command)
	on(t, head, "cluster-watchdog arm --launch")
	on(t, head, "systemctl start cluster-watchdog.timer")
	phase(t, "SERVING", bootWithin)
	said(t, "phase=SERVING served a completion", twoTicks)
	untouched = true
}

// stillServes takes the faults off and sees whether two looks find nothing wrong.
func stillServes(t *testing.T) bool {
	t.Helper()
	everywhere(t, tidy)
	on(t, head, "cluster-watchdog reset --reason 'next test'")
	from := mark(t)
	for deadline := time.Now().Add(twoTicks); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		said := sinceMark(from)
		if strings.Contains(said, "cannot be asked") { // it may be left alone after a refused key
			return false
		}
		if strings.Count(said, "phase=SERVING served a completion") >= 2 {
			return statusNow(t).Armed
		}
	}
	return false
}

// leavesTraces says that what this test does outlives it: a person's grace, or a node that rebooted.
func leavesTraces() { untouched = false }

// ready waits until a node has booted and its Docker answers.
func ready(t *testing.T, node int) {
	t.Helper()
	eventually(t, time.Minute, "node is up", func() bool {
		out, _ := try(node, "systemctl is-system-running; docker info >/dev/null 2>&1 && echo docker")
		return strings.Contains(out, "docker") && (strings.Contains(out, "running") || strings.Contains(out, "degraded"))
	})
}
