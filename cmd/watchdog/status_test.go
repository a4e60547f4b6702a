package main

import (
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
		if got := isDown(row.st); got != row.want {
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
