package scripts

import (
	"strings"
	"testing"
)

// Ids of containers, as Docker makes them.
var (
	ours   = strings.Repeat("0a", 32)
	theirs = strings.Repeat("0b", 32)
)

const hangs = `trap '' TERM; exec /bin/sleep 300`

// dockerFaults are the ways in which Docker does not answer, and the words for each.
var dockerFaults = []struct{ what, script, words string }{
	{"D09 hangs", hangs, "docker does not answer within 10 s"},
	{"D13 refuses", `echo 'permission denied while trying to connect to unix:///var/run/docker.sock: connect: permission denied' >&2; exit 1`, "add it to the group docker"},
	{"D13 not on PATH", `exit 127`, "docker: command not found"},
	{"is down", `echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?' >&2; exit 1`, "systemctl start docker"},
	{"something else", `echo 'WARNING: noise' >&2; echo 'Error response from daemon: out of cheese' >&2; exit 1`, "out of cheese"},
}

// With a Docker that does not answer no script may conclude anything.
func TestDockerThatDoesNotAnswer(t *testing.T) {
	env := map[string]string{
		"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_ID": ours, "WATCHDOG_STOP_SECONDS": "7", "WATCHDOG_WAIT": "3", "WATCHDOG_IMAGE": "vllm:1",
		"WATCHDOG_COMMAND": `: >"$FAKE/launched"`, "WATCHDOG_RANK": "0", "WATCHDOG_NODE": "n0", "WATCHDOG_ROLE": "head", "WATCHDOG_HEAD_ADDR": "10.0.0.1", "WATCHDOG_TIMEOUT": "5",
	}
	scripts := map[string]string{
		"check/docker": "version", "check/identity": "inspect", "check/image": "image", "destroy/remove": "inspect", "destroy/gone": "inspect",
		"preserve/inspect": "inspect", "settle/orphans": "ps", "launch/launch": "inspect", "launch/verify": "inspect",
	}
	for name, command := range scripts {
		for _, fault := range dockerFaults {
			t.Run(name+" "+fault.what, func(t *testing.T) {
				t.Parallel()
				n := newNode(t)
				if fault.script == hangs {
					n.hurry()
				}
				n.play("docker-"+command, fault.script)
				got := n.run(name, env)
				got.fails(t, fault.words)
				got.oneLine(t)
				if got.out != "" || n.got("launched") != "" {
					t.Errorf("it went on: %q", got.out)
				}
			})
		}
	}
}

func TestCheckDocker(t *testing.T) {
	newNode(t).run("check/docker", nil).passes(t, "server=28.2.2\n")

	n := newNode(t)
	n.hurry()
	n.play("docker-ps", hangs)
	n.run("check/docker", nil).fails(t, "docker does not answer") // D09: one stuck container blocks the list only
}

func TestCheckImage(t *testing.T) {
	n := newNode(t)
	n.put("image", "vllm:1\n")
	n.run("check/image", map[string]string{"WATCHDOG_IMAGE": "vllm:1"}).passes(t, "image=sha256:1234\n")
	n.run("check/image", map[string]string{"WATCHDOG_IMAGE": "vllm:2"}).fails(t, "image vllm:2 is not on this node", "docker pull")
}

func TestCheckIdentity(t *testing.T) {
	for _, c := range []struct{ what, held, id, words string }{
		{"ours", ours, ours, ""},
		{"free as expected", "", "", ""},
		{"another's", theirs, ours, "held by container " + theirs},
		{"new", theirs, "", "held by container " + theirs},
		{"gone", "", ours, "has gone since this tick looked"},
	} {
		n := newNode(t)
		if c.held != "" {
			n.container(c.held, "vllm", "running")
		}
		n.container(strings.Repeat("f", 64), "vllm-old", "exited") // a name that merely contains ours
		got := n.run("check/identity", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_ID": c.id})
		t.Log(c.what)
		if c.words == "" {
			got.passes(t, "")
			continue
		}
		got.fails(t, c.words, "a person is at work")
	}
}

// A person who starts the dead container again has a group under way, though the id is the same.
// Docker's own restarts are none of his: those of a crash loop never end.
func TestCheckIdentityOfAnotherStart(t *testing.T) {
	for _, c := range []struct{ seen, count, words string }{
		{"2026-11-29T11:59:39Z", "0", ""},
		{"2026-11-29T11:00:00Z", "0", "was started again since this tick looked: a person is at work"},
		{"2026-11-29T11:00:00Z", "7", ""},
		{"", "0", ""},
	} {
		n := newNode(t)
		n.container(ours, "vllm", "running")
		n.put("containers/"+ours+"/restart_count", c.count)
		got := n.run("check/identity", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_ID": ours, "WATCHDOG_STARTED": c.seen})
		if c.words == "" {
			got.passes(t, "")
			continue
		}
		got.fails(t, c.words)
	}
}

// Docker takes the beginning of an id for a name.
func TestNameThatLooksLikeAnID(t *testing.T) {
	n := newNode(t)
	n.container(ours, "vllm", "running")
	n.run("check/identity", map[string]string{"WATCHDOG_CONTAINER": "0a0a", "WATCHDOG_ID": ""}).passes(t, "")
}
