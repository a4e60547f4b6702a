package state

import (
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// A wall clock in 1970 or 2098, within a boot or across boots, takes nothing that was kept, and today is the
// day of the last look, whatever dates there are.
func TestAJumpOfTheClockForgetsNothing(t *testing.T) {
	s := open(t)
	now := watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: time.Hour, BootID: "a"}
	look := func(doubt bool) {
		t.Helper()
		check(t, s.SaveLook(watchdog.State{Last: now, ClockDoubt: doubt}, Row{At: now, Phase: "SERVING"}, &watchdog.Observation{At: now}))
	}
	const each = 150 // more than are kept however old they are
	for range each {
		look(false)
		now = now.Add(10 * time.Minute)
	}
	today := func(want string) {
		t.Helper()
		d, err := s.LastDay()
		check(t, err)
		if d == nil || d.Date != want {
			t.Errorf("today is %+v, want %s", d, want)
		}
	}
	today("2026-03-02")
	right := now.Wall
	for _, year := range []int{2098, 1970, 2098} {
		now.Wall = time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
		for range 40 { // as many as would be deleted one by one
			now = now.Add(time.Minute)
			look(false)
		}
	}
	today("2098-06-01")
	now.Wall = right
	look(false)
	today("2026-03-02")
	now = watchdog.Clock{Wall: time.Date(2098, 6, 2, 0, 0, 0, 0, time.UTC), Boot: time.Minute, BootID: "b"}
	look(true)
	today("2026-03-02")
	rows, err := s.Rows(1 << 20)
	check(t, err)
	kept, err := s.Kept()
	check(t, err)
	if all := each + 3*40 + 2; len(rows) != all || len(kept) != all {
		t.Errorf("%d rows and %d observations are left of %d", len(rows), len(kept), all)
	}
	days, err := s.Days(daysKept)
	check(t, err)
	if len(days) != 4 {
		t.Errorf("days %+v", days)
	}
}
