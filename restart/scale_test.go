package restart

import (
	"fmt"
	"hash/fnv"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/watchdog"
)

// usual is how long each script takes on a node of a usual group: containers that stop within their
// 10 s, memory that is back a quarter of a minute later, a launch that mounts and starts.
var usual = map[string]time.Duration{
	"preserve/logs": 1500 * time.Millisecond, "preserve/inspect": 200 * time.Millisecond,
	"check/shell": 100 * time.Millisecond, "check/docker": 500 * time.Millisecond, "check/mount": 300 * time.Millisecond,
	"check/image": 300 * time.Millisecond, "check/sudo": 300 * time.Millisecond, "check/disk": 100 * time.Millisecond,
	"check/dirs": 100 * time.Millisecond, "check/claim": 100 * time.Millisecond, "check/identity": 300 * time.Millisecond,
	"claim/claim":    100 * time.Millisecond,
	"destroy/remove": 12 * time.Second, "destroy/gone": 500 * time.Millisecond,
	"settle/flusher": 1500 * time.Millisecond, "settle/memory": 15 * time.Second,
	"settle/ports": 100 * time.Millisecond, "settle/orphans": 400 * time.Millisecond,
	"launch/launch": 8 * time.Second, "launch/verify": 400 * time.Millisecond,
}

// nodeTime is how long this script takes on this node: the usual, a fifth more or less by chance, the
// same each time.
func nodeTime(script string, rank int) time.Duration {
	h := fnv.New32a()
	fmt.Fprint(h, script, rank)
	return usual[script] * time.Duration(800+h.Sum32()%401) / 1000
}

// stretch is what lies between two barriers: each node in it runs these scripts one after the other.
type stretch struct {
	on      func(rank int) bool
	scripts []string
}

// stretches are those of a restart with the usual order of launches, written down a second time on
// purpose: what the runner does is measured with it.
func stretches() []stretch {
	all := func(int) bool { return true }
	head := func(rank int) bool { return rank == 0 }
	workers := func(rank int) bool { return rank > 0 }
	return []stretch{
		{all, []string{"preserve/logs", "preserve/inspect"}},
		{all, []string{"check/shell", "check/docker", "check/mount", "check/image", "check/sudo", "check/disk", "check/dirs", "check/claim", "check/identity"}},
		{all, []string{"claim/claim"}},
		{all, []string{"destroy/remove"}},
		{all, []string{"destroy/gone"}},
		{all, []string{"settle/flusher"}},
		{all, []string{"settle/memory"}},
		{head, []string{"settle/ports"}},
		{all, []string{"settle/orphans"}},
		{workers, []string{"launch/launch"}},
		{head, []string{"launch/launch"}},
		{all, []string{"launch/verify"}},
	}
}

// longestChain is the shortest that a restart of so many nodes could take, if this machine cost
// nothing: everything on a node follows each other, a barrier waits for the slowest node, and the
// chain leads from slowest node to slowest node.
func longestChain(nodes int) time.Duration {
	chain := time.Duration(0)
	for _, s := range stretches() {
		slowest := time.Duration(0)
		for rank := range nodes {
			sum := time.Duration(0)
			for _, script := range s.scripts {
				if s.on(rank) {
					sum += nodeTime(script, rank)
				}
			}
			slowest = max(slowest, sum)
		}
		chain += slowest
	}
	return chain
}

// How long a save takes on a slow disk: two waits for it.
const slowSave = 40 * time.Millisecond

// decisionToLaunched runs a restart of so many nodes in simulated time.
func decisionToLaunched(t *testing.T, nodes int) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		set := rackSettings(t, nodes)
		set.Parallel = DefaultParallel
		r := newRack(t, set)
		r.takes, r.write = nodeTime, slowSave
		began := time.Now()
		a := r.restart(watchdog.Attempt{})
		took = time.Since(began)
		if a.Outcome != watchdog.OutcomeLaunched || len(a.Launched) != nodes {
			t.Fatalf("%d nodes: %s: %s", nodes, a.Outcome, a.Error)
		}
		if got := len(preserved(t, set)); got != 2*nodes {
			t.Errorf("%d nodes: %d files of evidence", nodes, got)
		}
	})
	return took
}

// A restart takes as long as its slowest nodes do, however many there are.
func TestScale(t *testing.T) {
	const (
		mostGrowth  = 1.5 // from 4 to 64 nodes
		mostOfChain = 1.3
	)
	took := map[int]time.Duration{}
	for _, nodes := range []int{4, 16, 64, 256} {
		took[nodes] = decisionToLaunched(t, nodes)
		chain := longestChain(nodes)
		ratio := float64(took[nodes]) / float64(chain)
		t.Logf("%3d nodes: %s from decision to launched, %.2f times the longest chain of node times (%s)", nodes, took[nodes], ratio, chain)
		if took[nodes] < chain {
			t.Errorf("%d nodes: faster than its own nodes: the chain is not what the runner waits for", nodes)
		}
		if ratio > mostOfChain {
			t.Errorf("%d nodes: %.2f times the longest chain, at most %.1f", nodes, ratio, mostOfChain)
		}
	}
	if growth := float64(took[64]) / float64(took[4]); growth > mostGrowth {
		t.Errorf("64 nodes take %.2f times as long as 4, at most %.1f", growth, mostGrowth)
	}
}
