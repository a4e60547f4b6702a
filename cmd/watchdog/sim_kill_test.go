package main

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/watchdog"
)

var simProduct = flag.Bool("product", false, "kill at every instant beside every fault on every node")

// ending is what happens to a restart after one of its effects.
type ending int

const (
	killed    ending = iota
	powerLost        // the head goes down too, and its last save is lost
	suspended        // nothing happens to it, but the head sleeps for eight hours, and wakes with another wall clock
	disarmed         // nothing happens to it, but a person disarms; it is armed a quarter of an hour later
)

func (e ending) String() string {
	return [...]string{"killed", "power lost", "suspended", "disarmed"}[e]
}

// crashed plays one restart: a rank of a group that serves dies, with that fault from then on for a
// quarter of an hour. After that effect of the tick that restarts, it ends in that way. Then ticks go
// on, and the group has to come back.
func crashed(t *testing.T, f *clustertest.Fault, killAt int, how ending) (effects int) {
	t.Helper()
	s := play(t, simOptions{seed: 77, nodes: 3, heads: 1}, func(s *simulation) {
		h := s.heads[0]
		s.startAll()
		h.arm(false)
		ticks := func(n int, kill int) (last *process) {
			for range n {
				time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 5*time.Second)))
				if h.isDown() {
					continue
				}
				var after func()
				if how == disarmed && kill > 0 {
					after = func() { h.disarm(0) }
				}
				if how == suspended && kill > 0 {
					after = func() {
						h.suspend(8 * time.Hour)
						h.setClock(pick(uint64(kill), to2098, 0, to1970))
					}
				}
				if last = h.tickUntil(kill, after); last.dead || last.effects > 10 {
					kill = 0
				}
			}
			return last
		}
		for !s.cluster.Serving() {
			ticks(1, 0)
		}
		ticks(2, 0)
		if f != nil {
			id, err := s.cluster.Faults.Set(*f)
			if err != nil {
				t.Fatal(err)
			}
			defer s.cluster.Faults.Unset(id)
		}
		s.cluster.Crash(2, 1)
		p := ticks(1, killAt)
		effects = p.effects
		if p.dead && how == powerLost {
			h.reboot(3*time.Minute, true)
		}
		ticks(14, 0)
		if how == disarmed {
			h.arm(false)
		}
		if f != nil {
			s.cluster.Faults.Unset(1)
		}
		const patience = 240 // two boots, the limit, the pause, a person's time
		for n := 0; n < patience && !s.cluster.Serving(); n++ {
			if p := ticks(1, 0); p != nil && h.phaseOf().Phase == watchdog.GivenUp {
				h.reset()
			}
		}
		ticks(2, 0)
		if st := h.phaseOf(); !s.cluster.Serving() || st.Phase != watchdog.Serving {
			s.must(false, "whatever instant a kill hits, the next ticks find their way", "it is %s after %d attempts", st.Phase, len(st.Attempts))
		}
	})
	if len(s.broken) > 0 {
		t.Logf("%s after effect %d, fault %+v", how, killAt, f)
	}
	return effects
}

// TestKilledAtEveryInstant ends a restart after each of its effects: every save, and every script that
// was run on a node: by SIGKILL, by a power cut that takes
// back the last save, by a suspension after which the wall clock is another, and by a person who disarms.
func TestKilledAtEveryInstant(t *testing.T) {
	t.Parallel()
	all := crashed(t, nil, 0, killed)
	const least = 30
	if all < least {
		t.Fatalf("a restart has %d effects", all)
	}
	for _, how := range []ending{killed, powerLost, suspended, disarmed} {
		for n := 1; n <= all && !t.Failed(); n++ {
			crashed(t, nil, n, how)
		}
	}
	t.Logf("%d instants", 4*all)
}

// TestKilledByNothing plays every fault on every node.
func TestKilledByNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range clustertest.Kinds() {
		for node := range 3 {
			crashed(t, &clustertest.Fault{Kind: kind, Node: node}, 0, killed)
		}
	}
}

// TestKilledBesideEveryFault is the full product: every instant, every fault, every node.
func TestKilledBesideEveryFault(t *testing.T) {
	if !*simProduct {
		t.Skip("takes minutes: make soak")
	}
	t.Parallel()
	for _, kind := range clustertest.Kinds() {
		for node := range 3 {
			t.Run(fmt.Sprintf("%s on n%d", kind, node+1), func(t *testing.T) {
				f := &clustertest.Fault{Kind: kind, Node: node}
				all := crashed(t, f, 0, killed)
				for _, how := range []ending{killed, powerLost, suspended, disarmed} {
					for n := 1; n <= all && !t.Failed(); n++ {
						crashed(t, f, n, how)
					}
				}
			})
		}
	}
}
