package main

import (
	"testing"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/watchdog"
)

// stories are short days that chance meets too rarely. The rules of every simulation hold in them.
var stories = []struct {
	name   string
	policy string
	tell   func(s *simulation, ticks func(int))
}{
	{"a person stops what was launched a moment ago", "", func(s *simulation, ticks func(int)) {
		s.cluster.Crash(1, 1)
		ticks(1)
		s.stoppedByHand(s.cluster.PersonStop(1))
		ticks(30)
	}},
	{"Docker starts the head while a person is at work", "on-failure", func(s *simulation, ticks func(int)) {
		s.cluster.Crash(0, 1)
		s.stoppedByHand(s.cluster.PersonRemove(1))
		ticks(30)
	}},
	{"a Docker does not answer while the group loads", "", func(s *simulation, ticks func(int)) {
		s.startAll()
		id, err := s.cluster.Faults.Set(clustertest.Fault{Kind: clustertest.DockerHangs, Node: 1, Step: "observe/look"})
		s.must(err == nil, "faults can be set", "%v", err)
		ticks(2)
		s.cluster.Faults.Unset(id)
		ticks(1)
		id, _ = s.cluster.Faults.Set(clustertest.Fault{Kind: clustertest.DockerHangs, Node: 1, Step: "observe/look"})
		ticks(2)
		s.cluster.Faults.Unset(id)
		ticks(30)
	}},
}

func TestSimulationStories(t *testing.T) {
	t.Parallel()
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) { storyOf(t, story.policy, story.tell) })
	}
}

// A node that is off for a week, in virtual time: a worker, and the head.
func TestNodeOffForAWeek(t *testing.T) {
	t.Parallel()
	for rank, name := range []string{"the head", "a worker"} {
		t.Run(name, func(t *testing.T) {
			storyOf(t, "", func(s *simulation, ticks func(int)) { s.offForAWeek(rank, ticks) })
		})
	}
}

// storyOf tells it to a group that serves under an armed head, and sees that the group comes back.
func storyOf(t *testing.T, policy string, tell func(*simulation, func(int))) {
	play(t, simOptions{seed: 6, nodes: 3, heads: 1, policy: policy}, func(s *simulation) {
		h := s.heads[0]
		ticks := func(n int) {
			for range n {
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 5*time.Second)))
				h.tick(0)
			}
		}
		s.startAll()
		h.arm(false)
		for !s.cluster.Serving() {
			ticks(1)
		}
		ticks(2)
		tell(s, ticks)
		const patience = 200
		for n := 0; n < patience && !s.cluster.Serving(); n++ {
			ticks(1)
			if h.phaseOf().Phase == watchdog.GivenUp {
				h.reset()
			}
		}
		s.must(s.cluster.Serving(), "a dead group comes back", "it is %s", h.phaseOf().Phase)
	})
}

// offForAWeek switches a node off. A week without it uses nothing up: when it is back the group is
// restarted once, by itself.
func (s *simulation) offForAWeek(rank int, ticks func(int)) {
	const week = 7 * 24 * time.Hour
	h := s.heads[0]
	s.networkChanged()
	s.hide(week)
	switch rank {
	case 0:
		h.reboot(week, false)
		time.Sleep(week)
	default:
		s.cluster.Reboot(rank, week)
		ticks(int(week/time.Minute) - 10)
		for _, a := range h.phaseOf().Attempts {
			s.must(a.Committed.IsZero(), "nothing is destroyed for a node that is off", "attempt %d has committed", a.ID)
		}
	}
	ticks(60)
	st := h.phaseOf()
	s.must(st.Phase == watchdog.Serving && s.cluster.Serving(), "a group comes back with its node", "phase %s", st.Phase)
	s.must(len(st.Attempts) == 1 && !st.Attempts[0].Launching.IsZero(), "one attempt is enough", "%d attempts: %+v", len(st.Attempts), st.Attempts)
}
