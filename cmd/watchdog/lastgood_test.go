package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cluster-watchdog/watchdog"
)

// A boot of ours that has just served is remembered; a group that a person started is not.
func TestLastGood(t *testing.T) {
	at := func(d time.Duration) watchdog.Clock {
		return watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(d), Boot: time.Hour + d, BootID: "boot"}
	}
	p := watchdog.Policy{Identity: "me"}
	o := watchdog.Observation{At: at(15 * time.Minute), Ranks: []watchdog.Rank{
		{Container: &watchdog.Container{ImageID: "sha256:a"}}, {Container: nil},
	}}
	launched := []watchdog.Attempt{{Launching: at(0), MemFree: []int64{100, 90}}}
	serves := watchdog.State{Phase: watchdog.Serving, Since: o.At, Served: o.At}
	want := &watchdog.LastGood{At: o.At, Identity: "me", Images: []string{"sha256:a", ""}, MemFree: []int64{100, 90}, Boot: 15 * time.Minute}
	if got := lastGood(p, watchdog.State{Attempts: launched}, serves, o); !cmp.Equal(got, want) {
		t.Errorf("diff: %s", cmp.Diff(want, got))
	}
	rows := []struct {
		name         string
		before, next watchdog.State
	}{
		{"no attempt: a person's start", watchdog.State{}, serves},
		{"never launched", watchdog.State{Attempts: []watchdog.Attempt{{Committed: at(0)}}}, serves},
		{"has served before", watchdog.State{Attempts: launched}, watchdog.State{Phase: watchdog.Serving, Since: at(time.Minute), Served: o.At}},
		{"that launch has served before", watchdog.State{Attempts: launched, Served: at(time.Minute)}, serves},
		{"a person's start since", watchdog.State{Attempts: launched}, watchdog.State{Phase: watchdog.Serving, Since: o.At, Served: o.At, PersonStart: at(time.Minute)}},
		{"SERVING by a reset", watchdog.State{Attempts: launched}, watchdog.State{Phase: watchdog.Serving, Since: o.At, Served: at(-time.Hour)}},
		{"still loading", watchdog.State{Attempts: launched}, watchdog.State{Phase: watchdog.Booting, Since: at(0)}},
	}
	for _, r := range rows {
		if got := lastGood(p, r.before, r.next, o); got != nil {
			t.Errorf("%s: %+v", r.name, got)
		}
	}
}

// The floor is the config's, else nine tenths of what the last good launch of this config had.
func TestMemoryFloor(t *testing.T) {
	s := &session{policy: watchdog.Policy{Identity: "me"}}
	s.config.Nodes = make([]NodeConfig, 2)
	good := &watchdog.LastGood{Identity: "me", MemFree: []int64{100, 50}}
	check := func(name string, st watchdog.State, want ...int64) {
		t.Helper()
		if got := s.memoryFloor(st); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	check("nothing known", watchdog.State{}, 0, 0)
	check("last good", watchdog.State{LastGood: good}, 90, 45)
	check("last good of another config", watchdog.State{LastGood: &watchdog.LastGood{Identity: "other", MemFree: []int64{100, 50}}}, 0, 0)
	s.config.Settle.MemoryFloor = 70
	check("configured", watchdog.State{LastGood: good}, 70, 70)
}
