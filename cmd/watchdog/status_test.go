package main

import (
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// status is true between two looks: what an attempt has done since the last one counts.
func TestStatusKnowsThatTheGroupIsDown(t *testing.T) {
	at := func(minute int) watchdog.Clock {
		return watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC), Boot: time.Duration(minute) * time.Minute, BootID: "b"}
	}
	committed := watchdog.Attempt{Committed: at(10)}
	launched := watchdog.Attempt{Committed: at(10), Launching: at(11)}
	for _, row := range []struct {
		name string
		st   watchdog.State
		want bool
	}{
		{"nothing tried", watchdog.State{}, false},
		{"refused by a check", watchdog.State{Attempts: []watchdog.Attempt{{}}}, false},
		{"committed", watchdog.State{Served: at(9), Attempts: []watchdog.Attempt{committed}}, true},
		{"launched", watchdog.State{Served: at(9), Attempts: []watchdog.Attempt{launched}}, false},
		{"served since", watchdog.State{Served: at(12), Attempts: []watchdog.Attempt{committed}}, false},
		{"started by a person since", watchdog.State{PersonStart: at(12), Attempts: []watchdog.Attempt{committed}}, false},
		{"armed since", watchdog.State{Arm: &watchdog.Arm{At: at(12)}, Attempts: []watchdog.Attempt{committed}}, false},
		{"armed before", watchdog.State{Arm: &watchdog.Arm{At: at(8)}, Attempts: []watchdog.Attempt{committed}}, true},
		{"reset since", watchdog.State{Reset: at(12), Attempts: []watchdog.Attempt{committed}}, false},
	} {
		if got := isDown(row.st, at(20)); got != row.want {
			t.Errorf("%s: got %v", row.name, got)
		}
	}
}

func TestPhaseWords(t *testing.T) {
	for _, row := range []struct {
		st   status
		want string
	}{
		{status{Phase: "NONE"}, "NONE, nothing known to be launched"},
		{status{Phase: "SERVING"}, "SERVING"},
		{status{Phase: "SERVING", Down: true}, "SERVING; the group is down, the next tick goes on with its restart"},
		{status{Phase: "SERVING", Down: true, Working: "pid 1"}, "SERVING, being restarted now"},
		{status{Phase: "GIVEN_UP", Down: true}, "GIVEN_UP: find out why, see the preserved logs, then `cluster-watchdog reset --reason`"},
	} {
		if got := phaseWords(row.st); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

// A rank's words tell all that was looked at and is not as usual.
func TestKnownWords(t *testing.T) {
	id := strings.Repeat("ab", 32)
	running := watchdog.Container{ID: id, Status: "running", ImageID: "sha256:" + strings.Repeat("cd", 32)}
	with := func(change func(c *watchdog.Container)) *watchdog.Container { c := running; change(&c); return &c }
	for _, row := range []struct {
		k    watchdog.Known
		want string
	}{
		{watchdog.Known{}, "spark1 never answered"},
		{watchdog.Known{Answered: true}, "spark1 has no container"},
		{watchdog.Known{Answered: true, Container: &running}, "spark1 running, container abababababab, image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: with(func(c *watchdog.Container) {
			c.Status, c.ExitCode, c.Error, c.OOMKilled = "exited", 137, "no space", true
		})},
			"spark1 exited, container abababababab, exit code 137, no space, Docker notes an OOM kill in it, image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: with(func(c *watchdog.Container) { c.StartedAt = "2026-03-01T10:00:03.4Z" })},
			"spark1 running, container abababababab, started " + timeWords(time.Date(2026, 3, 1, 10, 0, 3, 0, time.UTC)) + ", image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: with(func(c *watchdog.Container) { c.Status, c.StartedAt = "created", "0001-01-01T00:00:00Z" })},
			"spark1 created, container abababababab, exit code 0, image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: with(func(c *watchdog.Container) { c.RestartPolicy, c.RestartCount, c.AutoRemove = "always", 35, true })},
			"spark1 running, container abababababab, restarted 35 times by Docker, restart policy \"always\": Docker acts beside us, set it to no, removes itself when it ends, image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: with(func(c *watchdog.Container) { c.CPU = 90 * time.Second }), Load: watchdog.Load{Shards: 3, ShardsOf: 61}, GPUs: []watchdog.GPU{{Watts: 22.1, Percent: 96}, {Watts: 4.5, Percent: -1}}},
			"spark1 running, container abababababab, 3/61 shards, 1m30s of CPU time, GPU 22 W 96% busy + 4 W, image cdcdcdcdcdcd"},
		{watchdog.Known{Answered: true, Container: &running, Load: watchdog.Load{Shards: 3, ShardsOf: 61}, ServedUnder: "x", Process: watchdog.Absent, GPUErr: "an earlier nvidia-smi hangs"},
			"spark1 running, container abababababab, no process of its engine, GPU an earlier nvidia-smi hangs, image cdcdcdcdcdcd"},
	} {
		if got := knownWords("spark1", row.k); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

// Today's times are short; others have their date.
func TestTimeWords(t *testing.T) {
	now := time.Now()
	if got, want := timeWords(now.UTC()), now.Format(time.TimeOnly); got != want {
		t.Errorf("today: got %q, want %q", got, want)
	}
	old := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	if got := timeWords(old.UTC()); got != "2026-03-01 12:00:00" {
		t.Errorf("another day: got %q", got)
	}
}
