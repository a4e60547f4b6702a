package main

import (
	"slices"
	"testing"

	"cluster-watchdog/watchdog"
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
