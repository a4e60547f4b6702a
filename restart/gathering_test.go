package restart

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/watchdog"
)

// The ids of a launch are saved together where a save takes its time, and all of them before the
// next step begins.
func TestLaunchedIDsAreSavedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRack(t, rackSettings(t, 64))
		r.write = 20 * time.Millisecond
		r.takes = func(string, int) time.Duration { return time.Second }
		var late []string
		r.fault = func(script string, rank int) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			if want := map[string]int{"launch/verify": 64}[script]; len(r.disk.Launched) < want {
				late = append(late, r.set.Nodes[rank])
			}
			if script == "launch/launch" && rank == 0 && len(r.disk.Launched) != 63 {
				late = append(late, "the head's launch")
			}
			return nil
		}
		r.restart(watchdog.Attempt{})
		if len(late) > 0 {
			t.Errorf("ids were not on disk when these began: %v", late)
		}
		if r.saves > 30 {
			t.Errorf("%d saves", r.saves)
		}
	})
}

// No node counts as done before its id is on disk, also while others are being saved.
func TestEachIDIsOnDiskBeforeItsNodeIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRack(t, rackSettings(t, 64))
		r.write = 20 * time.Millisecond
		one, g := &try{Runner: &Runner{world: World{Save: r.save}}}, newGathering()
		var wait sync.WaitGroup
		for rank := range 64 {
			wait.Go(func() {
				time.Sleep(time.Duration(rank) * 3 * time.Millisecond)
				id := fmt.Sprint(rank)
				if err := one.keep(g, watchdog.Launched{Rank: rank, ID: id}); err != nil {
					t.Error(err)
				}
				r.mu.Lock()
				defer r.mu.Unlock()
				if !slices.ContainsFunc(r.disk.Launched, func(l watchdog.Launched) bool { return l.ID == id }) {
					t.Errorf("rank %d is done and not on disk", rank)
				}
			})
		}
		wait.Wait()
		if r.saves > 15 {
			t.Errorf("%d saves", r.saves)
		}
	})
}
