package probe

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// aCase is one case of the field, told as looks at two nodes: the head runs, and the worker is what the
// row says. The answer is the reading of the worker, its cause, and some of its words.
type aCase struct {
	id, name string
	looks    []node // the group serves at the first one, if there is more than one
	reading  watchdog.Reading
	cause    watchdog.Cause
	words    string
	told     string // of a notice in the last look; "": no such notice
}

func ran(then ...node) []node { return append([]node{runs}, then...) }

func is(inspect string) node { return node{inspect: inspect, top: "engine-lives-28.2.2"} }

func says(text, exit string) node {
	return node{docker: "echo '" + text + "' >&2; exit " + exit}
}

var cases = []aCase{
	{"S01", "TCP connects, no banner", ran(node{err: nodeError{watchdog.ReachNoBanner}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked: cannot ask node n0: it did not answer", ""},
	{"S08", "22 W and 96 % prove nothing", ran(node{inspect: "running-28.2.2", top: "engine-lives-28.2.2", gpu: "gb10-580.126"}), watchdog.Healthy, watchdog.CauseNone, "", ""},
	{"S13", "Docker restored it after a reset", ran(is("restored-28.2.2")), watchdog.Healthy, watchdog.CauseNone, "", "rank 1 (n1) has restart policy \"unless-stopped\""},
	{"D02", "removal in progress", ran(is("removing-28.2.2")), watchdog.Failing, watchdog.CauseRankDead, "is removing", ""},
	{"D02", "No such object", ran(says("Error: No such object: vllm", "1")), watchdog.Failing, watchdog.CauseRankGone, "is gone", ""},
	{"D02", "no such object", ran(says("error: no such object: vllm", "1")), watchdog.Failing, watchdog.CauseRankGone, "is gone", ""},
	{"D02", "No such container", ran(node{}), watchdog.Failing, watchdog.CauseRankGone, "is gone", ""},
	{"D04", "a foreign loop", ran(is("restarting-20.10.24")), watchdog.Unknown, watchdog.CauseRestarting, "is being restarted by Docker", "launch with --restart no"},
	{"D05", "Up, and its engine dead", ran(node{inspect: "keep-alive-28.2.2", top: "engine-lives-28.2.2"}, node{inspect: "keep-alive-28.2.2", top: "engine-gone-28.2.2", logs: "empty"}), watchdog.Failing, watchdog.CauseProcessGone, "runs, but its engine's process is gone", ""},
	{"D05", "Ray keeps it, no engine yet", []node{{inspect: "keep-alive-28.2.2", top: "ray-20.10.24"}}, watchdog.Unknown, watchdog.CauseNoProcess, "no process in it has matched yet", ""},
	{"D05", "its list cannot be had", ran(node{inspect: "keep-alive-28.2.2"}), watchdog.Unknown, watchdog.CauseDockerSilent, "its processes cannot be asked: docker top: Error response from daemon: container", ""},
	{"D06", "a worker's health check fails for ever", ran(is("unhealthy-28.2.2")), watchdog.Healthy, watchdog.CauseNone, "", ""},
	{"D08", "137 is SIGKILL", ran(is("exited-137-28.2.2")), watchdog.Failing, watchdog.CauseRankDead, "exited 137 (SIGKILL)", ""},
	{"D08", "137 with the flag", ran(is("exited-137-oom-20.10.24")), watchdog.Failing, watchdog.CauseRankDead, "exited 137 (SIGKILL), Docker notes an OOM kill in it", ""},
	{"D08", "the flag on one that runs", ran(is("running-oom-killed-28.2.2")), watchdog.Healthy, watchdog.CauseNone, "", ""},
	{"D09", "docker hangs", ran(node{docker: hangs}), watchdog.Unknown, watchdog.CauseDockerSilent, "docker does not answer", ""},
	{"D12", "created, never started", []node{is("created-127-28.2.2")}, watchdog.Failing, watchdog.CauseRankDead, "could not be started: failed to create task for container", ""},
	{"D13", "permission denied", ran(says("permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: connect: permission denied", "1")), watchdog.Unknown, watchdog.CauseDockerSilent, "docker refuses this user", ""},
	{"D13", "not on the PATH", ran(says("zsh:1: command not found: docker", "127")), watchdog.Unknown, watchdog.CauseDockerSilent, "no docker command for this user", ""},

	{"", "a polite exit is a crash", ran(node{inspect: "exited-0-28.2.2", events: "die-28.2.2"}), watchdog.Failing, watchdog.CauseRankDead, "exited 0", ""},
	{"", "dead, its files busy", ran(is("dead-20.10.24")), watchdog.Failing, watchdog.CauseRankDead, "dead 137 (SIGKILL): driver", ""},
	{"", "paused by a person", ran(is("paused-28.2.2")), watchdog.Unknown, watchdog.CausePaused, "is paused", "nothing is done until `docker unpause`"},
	{"", "an older Docker", ran(is("running-20.10.24")), watchdog.Healthy, watchdog.CauseNone, "", ""},
	{"", "SSH refused", ran(node{err: nodeError{watchdog.ReachRefused}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH timeout", ran(node{err: nodeError{watchdog.ReachTimeout}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH handshake closed", ran(node{err: nodeError{watchdog.ReachHandshake}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH host key", ran(node{err: nodeError{watchdog.ReachHostKey}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH authentication", ran(node{err: nodeError{watchdog.ReachAuth}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH dropped", ran(node{err: nodeError{watchdog.ReachDropped}}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked", ""},
	{"", "SSH, anything else", ran(node{err: errors.New("boom")}), watchdog.Unknown, watchdog.CauseNodeSilent, "cannot be asked: boom", ""},
	{"", "the script fails", ran(node{err: nodeError{watchdog.ReachOK}}), watchdog.Unknown, watchdog.CauseDockerSilent, "cannot be asked", ""},
}

// elsewhere are the cases that are not about looking, with the place that covers them.
var elsewhere = map[string]string{
	"S02": "watchdog/observation.go",            // a look has no place for a kernel line, so none can decide
	"S03": "testdata/lab/accept/giveup_test.go", // the cap, and what a full memory does to the next launch
	"S04": "scripts/flusher_test.go",
	"S05": "scripts/settle_test.go",
	"S09": "watchdog/observation.go", // nor for a guard's line
	"S10": "testdata/incidents/c-guard-killed-its-master.txt",
	"S12": "watchdog/observation.go", // nor for a PCIe error
	"D01": "scripts/destroy_test.go",
	"D07": "scripts/preserve_test.go",
}

// TestCases plays each row through look.sh, the parsing and the judgement.
func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(strings.TrimSpace(c.id+" "+c.name), func(t *testing.T) {
			t.Parallel()
			d, rank := playCase(t, c)
			got := d.Readings.Ranks[1]
			if got.Reading != c.reading || got.Cause != c.cause || !strings.Contains(got.What, c.words) || (c.words == "") != (got.What == "") {
				t.Errorf("got %v, cause %d, %q; want %v, cause %d, %q\nfrom %+v", got.Reading, got.Cause, got.What, c.reading, c.cause, c.words, rank)
			}
			var notices []string
			for _, n := range d.Notices {
				notices = append(notices, n.Text)
			}
			if all := strings.Join(notices, "\n"); !strings.Contains(all, c.told) || (c.told == "" && all != "" && c.reading != watchdog.Failing) {
				t.Errorf("told %q, want %q", all, c.told)
			}
			if d.Action == watchdog.ActRestart {
				t.Errorf("one look restarts: %s", d.Sentence())
			}
		})
	}
}

// playCase looks at the head, which runs, and at the row's worker, and decides after each look.
func playCase(t *testing.T, c aCase) (d watchdog.Decision, worker watchdog.Rank) {
	policy := watchdog.DefaultPolicy()
	st := watchdog.State{}
	for i, n := range c.looks {
		config := Config{Nodes: []string{"n0", "n1"}, Container: name, Processes: []string{enginePattern, enginePattern}}
		if n.docker == hangs {
			config.Script = 3 * time.Second
		}
		p := New(config, playedNodes{t, []node{runs, n}})
		o := p.LookAtRanks(t.Context(), Questions{Known: st.Ranks, Closely: true})
		o.RanksOnly = false
		if i == 0 && len(c.looks) > 1 {
			o.Canary = watchdog.Canary{HTTP: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200}, WellFormed: true, Choices: 1}
		}
		if len(c.looks) == 1 { // a boot, launched by ours long before the captured containers were made
			st.Phase, st.Since, st.Seen, st.Last = watchdog.Booting, o.At.Add(-10*365*24*time.Hour), o.At, o.At
			st.Ranks = make([]watchdog.Known, 2)
		}
		d = watchdog.Decide(policy, st, o)
		st, worker = d.Next, o.Ranks[1]
	}
	return d, worker
}

// TestEveryCaseIsCovered knows all ids of the two groups, so that a lost row is noticed.
func TestEveryCaseIsCovered(t *testing.T) {
	ids := strings.Fields("S01 S02 S03 S04 S05 S08 S09 S10 S12 S13 D01 D02 D04 D05 D06 D07 D08 D09 D12 D13")
	rows := map[string]bool{}
	for _, c := range cases {
		rows[c.id] = true
		if c.id != "" && !slices.Contains(ids, c.id) {
			t.Errorf("%s is no case", c.id)
		}
	}
	for _, id := range ids {
		place, other := elsewhere[id]
		if rows[id] == other {
			t.Errorf("%s: has a row: %v, is listed elsewhere: %v; want one of both", id, rows[id], other)
		}
		if _, err := os.Stat("../../" + place); other && err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	for id := range elsewhere {
		if !slices.Contains(ids, id) {
			t.Errorf("%s is no case", id)
		}
	}
}

// TestCapturedEvents: what Docker's history says of a rank's end, without what tells nothing of its life.
func TestCapturedEvents(t *testing.T) {
	for _, row := range []struct {
		events, want string
		seen         int
	}{
		{"die-28.2.2", "die", 5},
		{"stop-28.2.2", "kill TERM, die, stop", 4},
		{"oom-20.10.24", "oom, die", 2},
	} {
		nodes := playedNodes{t, []node{{inspect: "exited-0-28.2.2", events: row.events}}}
		p := New(Config{Nodes: []string{"n0"}, Container: name}, nodes)
		r := p.LookAtRanks(t.Context(), Questions{Known: []watchdog.Known{{Clock: time.Unix(1772368000, 0)}}}).Ranks[0]
		var got []string
		for _, e := range r.Events {
			got = append(got, strings.TrimSpace(e.Action+" "+e.Signal))
		}
		if strings.Join(got, ", ") != row.want || r.EventsSeen != row.seen || r.EventsErr != "" {
			t.Errorf("%s: got %q, %d seen, error %q", row.events, got, r.EventsSeen, r.EventsErr)
		}
	}
}
