package scripts

import (
	"strings"
	"testing"
)

func remove(n *node, id string) answer {
	return n.run("destroy/remove", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_ID": id, "WATCHDOG_STOP_SECONDS": "7"})
}

func TestRemoveStopsThenRemovesByID(t *testing.T) {
	n := newNode(t)
	n.container(ours, "vllm", "running")
	n.container(theirs, "other", "running")
	remove(n, ours).passes(t, "")
	if n.has(ours) || !n.has(theirs) {
		t.Error("removed the wrong one")
	}
	want := "stop -t 7 " + ours + "\nrm -f " + ours + "\n"
	if !strings.HasSuffix(n.got("calls"), want) {
		t.Errorf("calls %q do not end in %q", n.got("calls"), want)
	}
}

func TestRemoveRefusesWhereAPersonIsAtWork(t *testing.T) {
	for _, c := range []struct{ what, holder, ourName, id string }{
		{"the name is another's", theirs, "", ours},
		{"the name is another's, ours is renamed", theirs, "vllm-old", ours},
		{"ours is renamed", "", "vllm-old", ours},
		{"none was seen", theirs, "", ""},
	} {
		n := newNode(t)
		if c.holder != "" {
			n.container(c.holder, "vllm", "running")
		}
		if c.ourName != "" {
			n.container(ours, c.ourName, "exited")
		}
		remove(n, c.id).fails(t, "a person is at work")
		if strings.Contains(n.got("calls"), "stop -t") || strings.Contains(n.got("calls"), "rm -f") {
			t.Errorf("%s: touched something: %s", c.what, n.got("calls"))
		}
	}
}

func TestRemoveWithNothingThere(t *testing.T) {
	remove(newNode(t), "").passes(t, "")
	remove(newNode(t), ours).passes(t, "")
}

func TestRemoveOutcomes(t *testing.T) {
	say := func(text string) string { return "echo '" + text + "' >&2; exit 1" }
	for _, c := range []struct{ what, rm, words string }{
		{"D02 gone", say("Error response from daemon: No such container: x"), ""},
		{"D02 gone, new spelling", say("error: no such container: x"), ""},
		{"D02 in progress", say("Error response from daemon: removal of container x is already in progress"), ""},
		{"D01 new", say("Error response from daemon: cannot remove container \"x\": could not kill container: tried to kill container, but did not receive an exit event"), "may need a reboot"},
		{"D01 old", say("Could not kill running container x, cannot remove - tried to kill container, but did not receive an exit event"), "may need a reboot"},
		{"D01 hangs", hangs, "may need a reboot"},
		{"anything else", say("Error response from daemon: driver failed to remove root filesystem"), "driver failed"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.container(ours, "vllm", "running")
			if c.rm == hangs {
				n.hurry()
			}
			n.play("docker-rm", c.rm)
			n.play("docker-stop", "echo 'cannot stop' >&2; exit 1") // has no last word
			got := remove(n, ours)
			if c.words == "" {
				got.passes(t, "")
				return
			}
			got.fails(t, "container vllm cannot be", c.words)
			got.oneLine(t)
		})
	}
}

func TestGone(t *testing.T) {
	gone := func(n *node) answer {
		return n.run("destroy/gone", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_WAIT": "5"})
	}
	n := newNode(t)
	n.container(theirs, "vllm-old", "running")
	gone(n).passes(t, "")

	n.container(ours, "vllm", "removing") // D02: removal goes on for a while
	n.play("on-sleep", `echo x >>"$FAKE/slept"; [ "$(wc -l <"$FAKE/slept")" -lt 3 ] || rm -rf "$FAKE/containers/`+ours+`"`)
	gone(n).passes(t, "")

	n = newNode(t)
	n.container(ours, "vllm", "removing")
	gone(n).fails(t, "container vllm is still removing after 5 s")
}
