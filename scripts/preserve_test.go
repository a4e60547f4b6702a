package scripts

import (
	"strings"
	"testing"
)

func logs(n *node, most string) answer {
	return n.run("preserve/logs", map[string]string{"WATCHDOG_ID": ours, "WATCHDOG_MAX_BYTES": most})
}

func TestLogsHoldBothStreams(t *testing.T) {
	n := newNode(t)
	n.container(ours, "vllm", "exited")
	n.put("containers/"+ours+"/out", "loading\r 50 %\r100 %\n\xff\xfe\n")
	n.put("containers/"+ours+"/err", "Traceback\n")
	logs(n, "1000").passes(t, "loading\r 50 %\r100 %\n\xff\xfe\nTraceback\n")
	if !strings.Contains(n.got("calls"), "logs --timestamps --tail 50000 "+ours) {
		t.Errorf("calls: %s", n.got("calls"))
	}
	logs(n, "7").passes(t, "loading")
}

func TestLogsD07(t *testing.T) {
	n := newNode(t)
	n.play("docker-logs", "while :; do echo 'a line of an endless log'; done")
	if got := logs(n, "100000"); got.exit != 0 || len(got.out) != 100000 {
		t.Errorf("endless: exit %d, %d bytes, stderr %q", got.exit, len(got.out), got.err)
	}

	n = newNode(t) // docker logs --tail hung on an empty log
	n.hurry()
	n.play("docker-logs", "echo first; "+hangs)
	got := logs(n, "1000")
	got.fails(t, "did not end within 12 s")
	got.oneLine(t)
	if got.out != "first\n" {
		t.Errorf("what came before is lost: %q", got.out)
	}

	n = newNode(t)
	n.play("docker-logs", "echo 'Error: No such container' >&2; exit 1")
	logs(n, "1000").fails(t, "exit code 1")
	n.play("docker-logs", "exit 127")
	logs(n, "1000").fails(t, "command not found")
}

func TestInspect(t *testing.T) {
	n := newNode(t)
	n.container(ours, "vllm", "exited")
	inspect := func() answer { return n.run("preserve/inspect", map[string]string{"WATCHDOG_ID": ours}) }
	inspect().passes(t, "[{\"Id\":\""+ours+"\"}]\n")
	n.play("docker-inspect", "echo 'error: no such object: x' >&2; exit 1")
	inspect().fails(t, "is gone: nothing to preserve")
}
