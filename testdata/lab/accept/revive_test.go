//go:build lab

package accept

import (
	"strings"
	"testing"
)

// Each way of dying: found for the right reason, and the whole group launched again.
func TestDeaths(t *testing.T) {
	rows := []struct {
		name string
		node int
		word string
		want string // the decision in the journal
	}{
		{"a worker dies", 2, "die", `container not running \(phase=SERVING\) → restart: .*rank 2 \(node3\) exited 1`},
		{"the head dies, and a worker stays as a shell", 0, "die", `container not running \(phase=SERVING\) → restart: .*rank 0 \(node1\) exited 1`},
		{"wedged with work", 0, "wedge", `no progress \(phase=SERVING\) → restart: .*counters stand still`},
		{"wedged with work waiting", 0, "wedge-waiting", `no progress \(phase=SERVING\) → restart: .*counters stand still`},
		{"engine says so", 0, "health-503", `engine calls itself dead \(phase=SERVING\) → restart: /health says 503`},
		{"every completion fails", 0, "500", `no progress \(phase=SERVING\) → restart: .*answered 500`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			serving(t)
			before, from := ids(t), mark(t)
			if r.word == "die" {
				fault(t, 3, "shell")
				die(t, r.node)
			} else {
				fault(t, r.node, r.word)
			}
			saidSince(t, from, r.want, wedgeWithin)
			saidSince(t, from, `RESTART checks passed on 4/4 nodes, commit`, deadWithin) // before it, a last canary would be served
			fault(t, r.node, "")
			saidSince(t, from, `RESTART launched all ranks`, deadWithin)
			saidSince(t, from, `health OK → SERVING`, bootWithin)
			for rank, id := range ids(t) {
				if id == before[rank] || id == "" {
					t.Errorf("rank %d was not launched anew: %.12s", rank, id)
				}
			}
			invariant(t)
		})
	}
}

// No memory at start: the launch counts and fails, its evidence is kept, and after the pause the next
// one is made by itself.
func TestNoMemoryAtStart(t *testing.T) {
	leavesTraces() // a pause, and a launch that counts
	serving(t)
	from := mark(t)
	fault(t, 2, "no-memory")
	on(t, 2, "kill -KILL $(docker inspect -f '{{.State.Pid}}' vllm)")
	saidSince(t, from, `RESTART launch`, deadWithin)
	saidSince(t, from, `rank 2 \(node3\) exited 1`, deadWithin)
	fault(t, 2, "")
	saidSince(t, from, `RESTART begin \(restart 1/2 in (36m|6h)\): .*rank 2 \(node3\)`, wedgeWithin)
	saidSince(t, from, `health OK → SERVING`, wedgeWithin)
	if out := on(t, head, "zcat /var/lib/cluster-watchdog/cases/*/rank2-*.logs.gz"); !strings.Contains(out, "Free memory") {
		t.Errorf("evidence of rank 2: %q", out)
	}
}

// A group that comes back at the last moment is not touched: a last canary is asked beside the checks.
func TestComesBackAtTheLastMoment(t *testing.T) {
	serving(t)
	before, from := ids(t), mark(t)
	fault(t, head, "wedge-waiting")
	saidSince(t, from, `no progress \(phase=SERVING\) → restart`, wedgeWithin)
	fault(t, head, "")
	saidSince(t, from, `RESTART (not needed: the last canary was served; nothing was touched|checks passed on 4/4 nodes, commit)`, deadWithin)
	if late := sinceMark(from); strings.Contains(late, "commit") {
		t.Skip("skipped: the restart was faster than this test")
	}
	if now := ids(t); strings.Join(now, " ") != strings.Join(before, " ") {
		t.Errorf("touched: containers changed from %v to %v", before, now)
	}
	saidSince(t, from, `serving again after`, bootWithin)
}

// What only looks like death is left alone.
func TestLeftAlone(t *testing.T) {
	rows := []struct {
		name, word, want string
	}{
		{"busy: moving counters, no completion", "busy", `phase=SERVING (busy|works for others)`},
		{"a slow but living canary", "slow:4s", `phase=SERVING (busy|cannot tell|failing)`},
		{"401", "401", `phase=SERVING probe misconfigured: .*401`},
		{"404", "404", `phase=SERVING probe misconfigured: .*404`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			serving(t)
			before, from := ids(t), mark(t)
			fault(t, head, r.word)
			saidSince(t, from, r.want, twoTicks+twoTicks)
			quiet(t, wedgeQuiet)
			never(t, from, `RESTART`)
			if now := ids(t); strings.Join(now, " ") != strings.Join(before, " ") {
				t.Errorf("containers changed from %v to %v", before, now)
			}
		})
	}
}
