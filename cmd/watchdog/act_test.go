package main

import (
	"slices"
	"strings"
	"testing"

	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// A restart, and one that goes on, asks once more before anything is destroyed: a group that
// serves after all is left alone. Where a rank is dead nothing can be served.
func TestLastCanaryIsAsked(t *testing.T) {
	dead := watchdog.Readings{Ranks: []watchdog.Verdict{{Reading: watchdog.Healthy}, {Reading: watchdog.Failing}}}
	alive := watchdog.Readings{Ranks: []watchdog.Verdict{{Reading: watchdog.Healthy}, {Reading: watchdog.Unknown}}}
	for _, row := range []struct {
		action   watchdog.Action
		readings watchdog.Readings
		want     bool
	}{
		{watchdog.ActRestart, alive, true},
		{watchdog.ActRestart, dead, false},
		{watchdog.ActResume, alive, true},
		{watchdog.ActResume, dead, false},
		{watchdog.ActLaunch, alive, false},
	} {
		o := (&session{}).order(watchdog.State{}, watchdog.Decision{Action: row.action, Readings: row.readings}, watchdog.Observation{}, watchdog.Attempt{})
		if got := o.Canary != nil; got != row.want {
			t.Errorf("%s: asked %v, want %v", row.action, got, row.want)
		}
	}
}

// The runner is told which container was seen on each rank, and which start of it.
func TestOrderNamesWhatWasSeen(t *testing.T) {
	look := watchdog.Observation{Ranks: []watchdog.Rank{{Container: &watchdog.Container{ID: "a", StartedAt: "s"}}, {}}}
	o := (&session{}).order(watchdog.State{}, watchdog.Decision{}, look, watchdog.Attempt{})
	if !slices.Equal(o.Seen, []string{"a", ""}) || !slices.Equal(o.Started, []string{"s", ""}) {
		t.Errorf("order = %+v", o)
	}
}

// A stop that was refused is no attempt to launch by: it would tell people that it stops.
func TestARefusedStopIsNotLaunchedBy(t *testing.T) {
	stop := watchdog.Attempt{ID: 1, By: "anna", Stop: true, Outcome: watchdog.OutcomeRefused}
	s := &session{store: &memoryStore{}}
	if err := s.store.SaveAttempt(stop); err != nil {
		t.Fatal(err)
	}
	st := watchdog.State{Arm: &watchdog.Arm{Who: "anna"}, Attempts: []watchdog.Attempt{stop}}
	a, err := s.attempt(st, watchdog.Decision{Action: watchdog.ActLaunch})
	if err != nil || a.ID != 2 || a.Stop {
		t.Errorf("attempt %+v, %v", a, err)
	}
}

// What was given up is over: a person's restart is an attempt of its own, which a tick may go on with.
func TestAPersonsRestartAfterGivingUpIsANewOne(t *testing.T) {
	open := watchdog.Attempt{ID: 1, Why: "rank 2 exited", Committed: watchdog.Clock{Boot: 1, BootID: "b"}, DestroyFailed: 3}
	s := &session{store: &memoryStore{}}
	if err := s.store.SaveAttempt(open); err != nil {
		t.Fatal(err)
	}
	for phase, want := range map[watchdog.Phase]int{watchdog.None: 1, watchdog.GivenUp: 2} {
		st := watchdog.State{Phase: phase, Attempts: []watchdog.Attempt{open}}
		a, err := s.personsAttempt(st, watchdog.Decision{Why: watchdog.ReasonDestroyFailed}, "cable mended")
		if err != nil || a.ID != want || a.By == "" {
			t.Errorf("%s: attempt %+v, %v", phase, a, err)
		}
	}
}

// A lock for acting that cannot be had at all is told: the group would stay down in silence.
func TestActingWithoutItsLockIsTold(t *testing.T) {
	s := &session{config: Config{ActingLock: "/dev/null/acting.lock", Group: "llm"}, now: probe.Now}
	var told []string
	err := s.acting(t.Context(), watchdog.Serving, func(_ watchdog.NoticeKind, key, text string) { told = append(told, key+": "+text) },
		func() error { t.Error("acted"); return nil })
	if err == nil || len(told) != 1 || !strings.HasPrefix(told[0], "acting lock: a restart is needed and cannot begin: cannot lock /dev/null/acting.lock") {
		t.Errorf("%v, told %q", err, told)
	}
}
