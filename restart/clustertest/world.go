package clustertest

import (
	"slices"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// world is the group as its head sees it, worked out from the starts and ends of containers.
type world struct {
	Head   fakenode.Start // the head's start; zero when its container does not run
	Formed time.Time      // when the last of its ranks joined; zero: some never came
	Broken time.Time      // when the first of its ranks died; zero: all live
}

// Ready says whether the head has finished its boot: only a world whose ranks all lived through
// it gets there.
func (w world) Ready(boot time.Duration, now time.Time) bool {
	ready := w.Formed.Add(boot)
	return !w.Head.Started.IsZero() && !w.Formed.IsZero() && !now.Before(ready) && (w.Broken.IsZero() || w.Broken.After(ready))
}

// Whole says whether every rank of it lives.
func (w world) Whole() bool { return w.Broken.IsZero() }

// change is one start or end of one rank.
type change struct {
	at    time.Time
	rank  int
	start *fakenode.Start // nil: an end
}

// judge works out the world of the head that runs now. A world forms when every rank runs that
// has not been in one yet: a head that is restarted alone waits for ever for workers that still
// hold on to the dead group.
func judge(starts [][]fakenode.Start) world {
	var w world
	running := make([]*fakenode.Start, len(starts))
	joined := map[*fakenode.Start]bool{}
	member := map[int]bool{} // the ranks that are still in the world as it formed
	for _, c := range inOrder(starts) {
		if c.start == nil {
			running[c.rank] = nil
			if member[c.rank] && w.Broken.IsZero() {
				w.Broken = c.at
			}
			delete(member, c.rank)
			if c.rank == 0 {
				w = world{}
				clear(member)
			}
			continue
		}
		running[c.rank] = c.start
		if c.rank == 0 {
			w = world{Head: *c.start}
		}
		if slices.Contains(running, nil) || slices.ContainsFunc(running, func(s *fakenode.Start) bool { return joined[s] }) {
			continue
		}
		w.Formed = c.at
		for rank, s := range running {
			joined[s], member[rank] = true, true
		}
	}
	return w
}

func inOrder(starts [][]fakenode.Start) []change {
	var all []change
	for rank := range starts {
		for i := range starts[rank] {
			s := &starts[rank][i]
			if s.Name != Container {
				continue
			}
			all = append(all, change{at: s.Started, rank: rank, start: s})
			if !s.Finished.IsZero() {
				all = append(all, change{at: s.Finished, rank: rank})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b change) int { return a.at.Compare(b.at) })
	return all
}
