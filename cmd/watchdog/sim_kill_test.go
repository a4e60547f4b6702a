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

// crashed plays one restart: a rank of a group that serves dies, with that fault from then on for a
// quarter of an hour. The tick that restarts is killed after that effect; with power, the head goes
// down too and its last save is lost. Then ticks go on, and the group has to come back.
func crashed(t *testing.T, f *clustertest.Fault, killAt int, power bool) (effects int) {
	t.Helper()
	var went []string
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
				if last = h.tick(kill); last.dead || last.effects > 10 {
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
		if p.dead && power {
			h.reboot(3*time.Minute, true)
		}
		ticks(14, 0)
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
			s.must(false, "whatever instant a kill hits, the next ticks find their way", "it is %s, the last attempt %s in step %s: %s",
				st.Phase, st.Attempts[len(st.Attempts)-1].Outcome, st.Attempts[len(st.Attempts)-1].Step, st.Attempts[len(st.Attempts)-1].Error)
		}
	})
	went = s.broken
	if len(went) > 0 {
		t.Logf("killed after effect %d, power lost: %v, fault %+v", killAt, power, f)
	}
	return effects
}

// TestKilledAtEveryInstant ends a restart after each of its effects: every save, and every script that
// was run on a node; once by SIGKILL, once by a power cut that takes back the last save.
func TestKilledAtEveryInstant(t *testing.T) {
	t.Parallel()
	all := crashed(t, nil, 0, false)
	const least = 30
	if all < least {
		t.Fatalf("a restart has %d effects", all)
	}
	for _, power := range []bool{false, true} {
		for n := 1; n <= all && !t.Failed(); n++ {
			crashed(t, nil, n, power)
		}
	}
	t.Logf("%d instants", 2*all)
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
				all := crashed(t, f, 0, false)
				for _, power := range []bool{false, true} {
					for n := 1; n <= all && !t.Failed(); n++ {
						crashed(t, f, n, power)
					}
				}
			})
		}
	}
}
