package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

const name = "vllm"

var (
	idA = strings.Repeat("a", 64)
	idB = strings.Repeat("b", 64)
)

// nodeVariables are all that look.sh gets.
var nodeVariables = []string{"WATCHDOG_CONTAINER", "WATCHDOG_SINCE", "WATCHDOG_PROCESS", "WATCHDOG_CLOSELY", "WATCHDOG_SECONDS"}

// fakeNodes answers by rank, and fails on what it does not know.
type fakeNodes func(ctx context.Context, rank int, env map[string]string) (string, error)

func (f fakeNodes) Ask(ctx context.Context, rank int, s scripts.Script, env map[string]string) (string, error) {
	if s.Name() != "observe/look" {
		return "", fmt.Errorf("unknown script %s", s.Name())
	}
	for _, variable := range nodeVariables {
		if _, set := env[variable]; !set {
			return "", fmt.Errorf("%s is not set", variable)
		}
	}
	if len(env) != len(nodeVariables) {
		return "", fmt.Errorf("unknown variables in %v", env)
	}
	return f(ctx, rank, env)
}

type nodeError struct{ reach watchdog.Reach }

func (e nodeError) Error() string           { return "cannot ask node n0: it did not answer" }
func (e nodeError) ReachOf() watchdog.Reach { return e.reach }

func captured(t testing.TB, file string) string {
	b, err := os.ReadFile(filepath.Join("testdata", "said", file+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lookedAt is the node's clock in the captured outputs.
var lookedAt = time.Unix(1767225700, 500_000_000).UTC()

func knownAs(id string) watchdog.Known {
	return watchdog.Known{Clock: lookedAt.Add(-time.Minute), Container: &watchdog.Container{ID: id}}
}

func TestReadRank(t *testing.T) {
	running := &watchdog.Container{
		ID: idA, Status: "running", StartedAt: "2026-01-01T00:00:00.123456789Z", RestartPolicy: "no",
		ImageID: "sha256:" + idB, Age: 100376543211,
	}
	kill := watchdog.Event{At: time.Unix(1767225600, 123456789).UTC(), ID: idA, Action: "kill", Signal: "TERM"}
	ok := func(c *watchdog.Container, seen int, events ...watchdog.Event) watchdog.Rank {
		return watchdog.Rank{Docker: watchdog.ReachOK, Container: c, Clock: lookedAt, EventsSeen: seen, Events: events}
	}
	fails := func(reach watchdog.Reach, err string) watchdog.Rank {
		return watchdog.Rank{Docker: reach, Err: err, Clock: lookedAt}
	}
	edit := func(file string, pairs ...string) string {
		return strings.NewReplacer(pairs...).Replace(captured(t, file))
	}
	for _, row := range []struct {
		name  string
		out   string
		known watchdog.Known
		want  watchdog.Rank
	}{
		{"running", captured(t, "running"), knownAs(idA), ok(running, 3, kill)},
		{"running under a new id", captured(t, "running"), knownAs(idB), ok(running, 3, kill)},
		{"gone", captured(t, "absent"), knownAs(idA), ok(nil, 3, kill)},
		{"gone, another id known", captured(t, "absent"), knownAs(idB), ok(nil, 3)},
		{"gone, known by the start that ran", captured(t, "absent"), watchdog.Known{Clock: lookedAt, Ran: idA + "@x"}, ok(nil, 3, kill)},
		{"the first look has no events", captured(t, "running"), watchdog.Known{}, ok(running, 0)},
		{"no daemon", captured(t, "no-daemon"), knownAs(idA), fails(watchdog.ReachRefused, "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")},
		{"D13 permission denied", edit("denied", ": Get", "§", "§", ""), knownAs(idA), watchdog.Rank{Docker: watchdog.ReachDenied}},
		{"D09 hang", captured(t, "hanging"), knownAs(idA), fails(watchdog.ReachTimeout, "docker does not answer; look at dockerd on the node")},
		{"D09 hang that had to be killed", edit("hanging", "inspect=124", "inspect=137"), knownAs(idA), fails(watchdog.ReachTimeout, "docker does not answer; look at dockerd on the node")},
		{"D13 no docker command", "inspect=127\ninspect_said=timeout: failed to run command 'docker': No such file or directory\nclock=1767225700.5\n", knownAs(idA), fails(watchdog.ReachDenied, "no docker command for this user: timeout: failed to run command 'docker': No such file or directory")},
		{"absent with another exit", edit("absent", "inspect=1\n", "inspect=124\n"), knownAs(idA), fails(watchdog.ReachTimeout, "docker does not answer; look at dockerd on the node")},
		{"an error that is no absence", "inspect=1\ninspect_said=Error response from daemon: layer does not exist\nclock=1767225700.5\n", knownAs(idA), fails(watchdog.ReachError, "docker: Error response from daemon: layer does not exist")},
		{"found by the letters of an id", edit("running", `"/vllm"`, `"/other"`), watchdog.Known{}, ok(nil, 0)},
		{"half a line", "container={\"id\":\"aa\ninspect=0\nclock=1767225700.5\n", knownAs(idA), watchdog.Rank{Docker: watchdog.ReachError}},
		{"no container line", "inspect=0\nclock=1767225700.5\n", knownAs(idA), fails(watchdog.ReachError, "docker inspect said nothing that can be read")},
		{"an id that is none", edit("running", idA, "aaaa;reboot"), knownAs(idA), fails(watchdog.ReachError, "docker inspect gave no id or no status")},
		{"no clock", "inspect=0\n", knownAs(idA), watchdog.Rank{Docker: watchdog.ReachError, Err: "the script on the node did not print its clock"}},
		{"no exit", "clock=1767225700.5\n", knownAs(idA), fails(watchdog.ReachError, "the script on the node did not say how docker inspect ended")},
		{"nothing", "", knownAs(idA), watchdog.Rank{Docker: watchdog.ReachError, Err: "the script on the node did not print its clock"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got watchdog.Rank
			readRank(&got, row.out, name, row.known)
			if row.want.Err == "" && row.want.Docker != watchdog.ReachOK { // the words are not ours
				if got.Err == "" {
					t.Error("no error")
				}
				got.Err, got.Clock = "", time.Time{}
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadContainer(t *testing.T) {
	const line = `{"id":"ID","name":"/vllm","image":"sha256:x","status":"STATUS","started_at":"START","exit_code":137,"error":"ERR","oom_killed":true,"restart_count":35,"restart_policy":"unless-stopped","auto_remove":true}`
	read := func(status, start, problem string) *watchdog.Container {
		text := strings.NewReplacer("ID", idA, "STATUS", status, "START", start, "ERR", problem).Replace(line)
		c, err := parseContainer([]string{text}, name, lookedAt)
		if err != "" {
			t.Fatal(err)
		}
		return c
	}
	c := read("restarting", "2026-01-01T00:01:00Z", `no \u001b\nspace`)
	want := watchdog.Container{ID: idA, Status: "restarting", StartedAt: "2026-01-01T00:01:00Z", Age: 40500 * time.Millisecond,
		ExitCode: 137, Error: "no space", OOMKilled: true, RestartCount: 35, RestartPolicy: "unless-stopped", AutoRemove: true, ImageID: "sha256:x"}
	if diff := cmp.Diff(want, *c); diff != "" {
		t.Error("D04", diff)
	}
	if c := read("created", "0001-01-01T00:00:00Z", ""); c.Age != 0 || c.StartedAt != "0001-01-01T00:00:00Z" {
		t.Errorf("D12 never started: %+v", c)
	}
	if c := read("running", "2026-01-02T00:00:00Z", ""); c.Age != 0 {
		t.Errorf("a clock that was set back gives age %s", c.Age)
	}
}

func TestEvents(t *testing.T) {
	head := "inspect=1\nabsent\nclock=1767225700.5\n"
	event := func(kind, action, id, signal string) string {
		return fmt.Sprintf("event={\"type\":%q,\"action\":%q,\"id\":%q,\"nano\":1767225600000000001,\"signal\":%q}\n", kind, action, id, signal)
	}
	for _, row := range []struct {
		name, out string
		want      string // action and signal of each
		seen      int
		err       string
	}{
		{"a stop", event("container", "kill", idA, "15") + event("container", "die", idA, "") + event("container", "stop", idA, "") + "events=0\n", "kill TERM,die ,stop ", 3, ""},
		{"other ids and kinds are counted", event("container", "die", idB, "") + event("network", "connect", idA, "") + event("image", "pull", "x", "") + "events=0\n", "", 3, ""},
		{"commands and health checks are noise", event("container", "exec_create: /bin/sh -c 'export TOKEN=1'", idA, "") + event("container", "exec_die", idA, "") + event("container", "health_status: healthy", idA, "") + event("container", "oom", idA, "") + "events=0\n", "oom ", 4, ""},
		{"the daemon's clock is behind", "events=1\nevents_said=Error response from daemon: `since` time (9) cannot be after `until` time (8)\n", "", 0, "docker events: Error response from daemon: `since` time (9) cannot be after `until` time (8)"},
		{"a hang after some", event("container", "die", idA, "") + "event={\"type\":\"cont\nevents=124\n", "die ", 2, "docker events gave no answer in time"},
		{"an event that cannot be read", "event={]\nevents=0\n", "", 1, "cannot read an event: invalid character ']' looking for beginning of object key string"},
		{"the script did not ask", "", "", 0, "the script on the node did not say how docker events ended"},
		{"none", "events=0\n", "", 0, ""},
	} {
		var r watchdog.Rank
		readRank(&r, head+row.out, name, knownAs(idA))
		var got []string
		for _, e := range r.Events {
			got = append(got, e.Action+" "+e.Signal)
			if e.ID != idA || e.At.UnixNano() != 1767225600000000001 {
				t.Errorf("%s: got %+v", row.name, e)
			}
		}
		if strings.Join(got, ",") != row.want || r.EventsSeen != row.seen || r.EventsErr != row.err || r.Docker != watchdog.ReachOK {
			t.Errorf("%s: got %q, %d seen, error %q, docker %d", row.name, got, r.EventsSeen, r.EventsErr, r.Docker)
		}
	}
}

func TestSignalName(t *testing.T) {
	for in, want := range map[string]string{"15": "TERM", "SIGTERM": "TERM", "TERM": "TERM", "sigkill": "KILL", "9": "KILL", "2": "INT", "3": "QUIT", "1": "HUP", "10": "USR1", "37": "37", "SIGRTMIN+3": "RTMIN+3", "": ""} {
		if got := signalName(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRankThatCannotBeAsked(t *testing.T) {
	for _, row := range []struct {
		name   string
		err    error
		ssh    watchdog.Reach
		docker watchdog.Reach
	}{
		{"as the transport says", fmt.Errorf("ask: %w", nodeError{watchdog.ReachHostKey}), watchdog.ReachHostKey, watchdog.ReachNotAsked},
		{"dropped", nodeError{watchdog.ReachDropped}, watchdog.ReachDropped, watchdog.ReachNotAsked},
		{"the script failed", nodeError{watchdog.ReachOK}, watchdog.ReachOK, watchdog.ReachError},
		{"the transport does not know", nodeError{watchdog.ReachNotAsked}, watchdog.ReachError, watchdog.ReachNotAsked},
		{"out of time", context.DeadlineExceeded, watchdog.ReachTimeout, watchdog.ReachNotAsked},
		{"anything else", errors.New("boom\x1b[2J" + strings.Repeat("!", 2*maxWords)), watchdog.ReachError, watchdog.ReachNotAsked},
	} {
		p := New(Config{Nodes: []string{"n0"}, Container: name}, fakeNodes(func(context.Context, int, map[string]string) (string, error) {
			return captured(t, "running"), row.err
		}))
		r := p.ranks(t.Context(), Questions{})[0]
		if r.SSH != row.ssh || r.Docker != row.docker || r.Err == "" || r.Container != nil {
			t.Errorf("%s: got %+v", row.name, r)
		}
		checkClean(t, r.Err)
	}
}

func TestRanksEndByTheirDeadline(t *testing.T) {
	hang := fakeNodes(func(ctx context.Context, _ int, _ map[string]string) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	p := New(Config{Nodes: []string{"n0"}, Container: name, Ranks: short}, hang)
	if r := p.ranks(t.Context(), Questions{})[0]; r.SSH != watchdog.ReachTimeout {
		t.Errorf("our deadline: got %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := p.ranks(ctx, Questions{})[0]; r.SSH != watchdog.ReachNotAsked || r.Err == "" {
		t.Errorf("cut short: got %+v", r)
	}
}

func TestWhatANodeIsAsked(t *testing.T) {
	envs := make([]map[string]string, 2)
	n := fakeNodes(func(_ context.Context, rank int, env map[string]string) (string, error) {
		envs[rank] = env
		return captured(t, "running"), nil
	})
	p := New(Config{Nodes: []string{"n0", "n1"}, Containers: []string{"vllm", "vllm-1"}, Processes: []string{"", "vllm 'serve'"}}, n)
	p.LookAtRanks(t.Context(), Questions{Known: []watchdog.Known{{Clock: time.Unix(1767225600, 5)}}, Closely: true})
	want := []map[string]string{
		{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_SINCE": "1767225600.000000005", "WATCHDOG_PROCESS": "", "WATCHDOG_CLOSELY": "yes", "WATCHDOG_SECONDS": "14"},
		{"WATCHDOG_CONTAINER": "vllm-1", "WATCHDOG_SINCE": "", "WATCHDOG_PROCESS": "vllm 'serve'", "WATCHDOG_CLOSELY": "yes", "WATCHDOG_SECONDS": "14"},
	}
	if diff := cmp.Diff(want, envs); diff != "" {
		t.Error(diff)
	}
}

func FuzzRank(f *testing.F) {
	for _, file := range []string{"running", "absent", "no-daemon", "denied", "hanging"} {
		f.Add(captured(f, file))
	}
	f.Add("absent\ninspect=1\nclock=1767225700\nevent={\"type\":\"container\"}\nevents=0\n")
	f.Add("clock=1.\nclock=2\n")
	running := captured(f, "running")
	for _, work := range []string{
		"processes=1/4\ntop=0\ncpu=90500000\nlog=oading safetensors checkpoint shards:  56% Completed | 5/9 [\nlog=apturing batches (bs=8):  4%|▍   | 3/67 [\ngpu=22.10, 96\n",
		"processes=0/4\ntop=0\ngpu=[N/A], [N/A]\ngpu_said=an earlier nvidia-smi hangs\n",
		"top=1\ntop_said=Error response from daemon: no\ncpu=-1\nlog=\ngpu=NaN, 1e9\n",
	} {
		f.Add(running + work)
	}
	f.Fuzz(func(t *testing.T, out string) {
		var r watchdog.Rank
		readRank(&r, out, name, knownAs(idB))
		checkClean(t, r.Err)
		checkClean(t, r.EventsErr)
		if r.Docker == watchdog.ReachNotAsked || (r.Docker == watchdog.ReachOK) != (r.Err == "") {
			t.Errorf("got %+v", r)
		}
		if c := r.Container; c != nil && (r.Docker != watchdog.ReachOK || !watchdog.IsContainerID(c.ID) || c.Age < 0) {
			t.Errorf("got %+v", c)
		}
		// Absence is never guessed: Docker said so, or said that the name is another's.
		if r.Docker == watchdog.ReachOK && r.Container == nil && !strings.Contains(out, "absent") && !strings.Contains(out, "\"name\"") && !strings.Contains(strings.ToLower(out), "name") {
			t.Errorf("absent from %q", out)
		}
		if (r.Process != watchdog.PresenceUnknown && r.ProcessErr != "") || (r.Process == watchdog.Absent && !strings.Contains(out, "processes=0/")) {
			t.Errorf("got %v, %q", r.Process, r.ProcessErr)
		}
		if l := r.Load; l.Shards < 0 || l.Shards > l.ShardsOf || l.Graphs < 0 || l.Graphs > l.GraphsOf {
			t.Errorf("got %+v", l)
		}
		for _, g := range r.GPUs {
			if !(g.Watts >= -1 && g.Watts <= 1e5 && g.Percent >= -1 && g.Percent <= 100) {
				t.Errorf("got %+v", g)
			}
		}
		checkClean(t, r.ProcessErr)
		checkClean(t, r.GPUErr)
		for _, e := range r.Events {
			if !watchdog.IsContainerID(e.ID) {
				t.Errorf("got %+v", e)
			}
			checkClean(t, e.Action)
			checkClean(t, e.Signal)
		}
	})
}
