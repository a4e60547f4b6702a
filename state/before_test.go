package state

import (
	"fmt"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// What was known before a kept observation is what the look was judged by, also after attempts,
// arming and resets since.
func TestBeforeIsWhatWasKnownThen(t *testing.T) {
	s := open(t)
	clock := func(m int) watchdog.Clock {
		return watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, m, 0, 0, time.UTC), Boot: time.Duration(m) * time.Minute, BootID: "b"}
	}
	check(t, s.SaveArm(&watchdog.Arm{Who: "anna", Identity: "id"}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1, Why: "first", Started: clock(0), Outcome: watchdog.OutcomeLaunched}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 2, Why: "second", Started: clock(1)}))
	check(t, s.SaveLook(watchdog.State{Phase: watchdog.Booting, Config: "c1"}, Row{At: clock(2)}, nil))
	then := load(t, s)
	check(t, s.SaveLook(watchdog.State{Phase: watchdog.Serving, Config: "c2", Identity: "id"}, Row{At: clock(3)}, &watchdog.Observation{At: clock(3)}))

	check(t, s.SaveArm(&watchdog.Arm{Who: "bert", Identity: "id"}))
	check(t, s.SaveReset(clock(4)))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 2, Why: "second", Started: clock(1), Outcome: watchdog.OutcomeBroken}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 3, Why: "third", Started: clock(4)}))

	numbers, err := s.Kept()
	check(t, err)
	same(t, "kept", []uint64{2}, numbers)
	got, err := s.Before(2)
	check(t, err)
	same(t, "before", &Before{State: then, Config: "c2", Identity: "id"}, got)
	none, err := s.Before(1)
	check(t, err)
	same(t, "a look that was not kept", (*Before)(nil), none)
}

// It is forgotten with its observation, here of looks two days apart.
func TestBeforeIsForgottenWithItsObservation(t *testing.T) {
	s := open(t)
	const looks = changesLeast + 20
	for n := range looks {
		at := watchdog.Clock{Boot: time.Duration(n) * 2 * day, BootID: "b"}
		check(t, s.SaveLook(watchdog.State{}, Row{At: at}, &watchdog.Observation{}))
	}
	for number, want := range map[uint64]bool{1: false, 20: false, 21: true, looks: true} {
		got, err := s.Before(number)
		check(t, err)
		if (got != nil) != want {
			t.Errorf("before of row %d is there: %v", number, got != nil)
		}
	}
}

func TestDeeds(t *testing.T) {
	s := open(t)
	none, err := s.Deeds()
	check(t, err)
	same(t, "none yet", []Deed(nil), none)
	check(t, s.Record(Deed{Kind: "armed", Who: "anna"}))
	check(t, s.SaveLook(watchdog.State{}, Row{Deeds: []Deed{{Kind: "phase", Text: "NONE → BOOTING"}}}, nil))
	check(t, s.Record(Deed{Kind: "reset", Who: "bert", Text: "bad cable"}))
	got, err := s.Deeds()
	check(t, err)
	same(t, "deeds", []Deed{{Kind: "armed", Who: "anna"}, {Kind: "phase", Text: "NONE → BOOTING"}, {Kind: "reset", Who: "bert", Text: "bad cable"}}, got)
}

func TestDeedsAreBounded(t *testing.T) {
	s := open(t)
	var many []Deed
	for i := range deedsKept {
		many = append(many, Deed{Kind: "phase", Text: fmt.Sprint(i)})
	}
	check(t, s.SaveLook(watchdog.State{}, Row{Deeds: many}, nil))
	check(t, s.Record(Deed{Kind: "last"}))
	got, err := s.Deeds()
	check(t, err)
	if len(got) != deedsKept || got[0].Text != "1" || got[deedsKept-1].Kind != "last" {
		t.Errorf("%d deeds, %v to %v", len(got), got[0], got[len(got)-1])
	}
}
