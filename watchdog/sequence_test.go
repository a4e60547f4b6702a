package watchdog

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Random days: machines fail, people put their hands in, restarts end in every way there is.

var endings = []string{"launched", "launched", "refused at check/shell on n2", "served meanwhile", "broken at destroy/remove on n3",
	"killed at check/docker on n1", "killed at destroy/remove on n3", "waiting at settle/memory on n2", "killed at settle/memory on n2", "interrupted at settle/memory on n2",
	"switched at settle/memory on n1", "launch fails on n3", "killed at launch/launch on n2", "killed at launch/launch on n1", "interrupted at launch/launch on n3", "switched at launch/launch on n1"}

// machines are what happens by itself; people what is done by hand.
var (
	machines = []string{"n1 exits 0", "n2 exits 139", "n3 exits 137", "n2 is removed", "n1 is silent", "n2 is silent", "n1 answers", "n2 answers", "n3 docker-hangs", "n3 answers", "n2 docker-restarts", "n1 docker-restarts",
		"server serves", "server serves", "server hangs", "server is-busy", "server refuses", "server calls-itself-dead", "server answers 401", "n2 is paused", "the clock jumps -3h", "the clock jumps 5h"}
	people = []string{"anna starts n1 n2 n3", "anna starts n2", "anna stops n1 n2 n3", "anna removes n3", "anna arms", "anna disarms 30m work", "anna takes the flag away"}
)

func do(t *rapid.T, w *world, command string) {
	if (command == "n2 is paused") && w.nodes[1].box == nil {
		return
	}
	if err := (&script{w}).command(command); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// possible makes the server what its ranks allow: it serves only where all of them run.
func possible(w *world) {
	head, all := false, true
	for i, n := range w.nodes {
		runs := n.box != nil && n.box.Running()
		all = all && runs
		head = head || (i == 0 && runs)
	}
	switch {
	case !head:
		w.canary, w.health, w.moving = "refused", 0, "absent"
	case !all && (w.canary == "served" || w.moving == "moving"):
		w.canary, w.health, w.moving = "unanswered", 200, "flat"
	}
}

// day runs a random sequence of looks; each is checked by the given function.
func day(t *rapid.T, commands []string, each func(w *world, before State, d Decision)) *world {
	w := newWorld(3)
	for i := range w.nodes {
		w.start(i, "")
	}
	w.arm(false)
	do(t, w, "server serves")
	for range rapid.IntRange(5, 60).Draw(t, "looks") {
		w.pass(time.Duration(rapid.IntRange(1, 12).Draw(t, "quarters")) * 15 * time.Second)
		if rapid.IntRange(0, 2).Draw(t, "something") == 0 {
			do(t, w, rapid.SampledFrom(commands).Draw(t, "what"))
		}
		possible(w)
		w.always = rapid.SampledFrom(endings).Draw(t, "ending")
		before := w.state
		d := w.tick()
		if each != nil {
			each(w, before, d)
		}
	}
	return w
}

// However restarts end, no more than the budget's attempts are counted in any six hours.
func TestBudgetHoldsOverDays(t *testing.T) {
	holds(t, 2000, func(t *rapid.T) {
		w := day(t, append(slices.Clone(machines), people...), nil)
		var launches []Clock
		for _, a := range w.state.Attempts {
			if a.Counted() {
				launches = append(launches, a.Launching)
			}
		}
		for i := 2; i < len(launches); i++ {
			if d := launches[i].Since(launches[i-2]); d < 6*time.Hour {
				t.Fatalf("3 counted attempts within %v", d)
			}
		}
	})
}

// Each action of a random day was allowed when it was taken.
func TestActionsOfADayAreAllowed(t *testing.T) {
	holds(t, 2000, func(t *rapid.T) {
		day(t, append(slices.Clone(machines), people...), func(w *world, before State, d Decision) {
			if d.Action != ActRestart && d.Action != ActResume && d.Action != ActLaunch {
				return
			}
			if before.Arm == nil || (w.flag.Present && w.acted[len(w.acted)-1].at.Wall.Before(w.flag.Until) && w.flag.Ends.After(w.acted[len(w.acted)-1].at)) {
				t.Fatalf("acted while disarmed: %s", d.Sentence())
			}
			if d.Action == ActRestart && d.Next.Grace != nil && w.acted[len(w.acted)-1].at.Since(d.Next.Grace.From) < 10*time.Minute {
				t.Fatalf("restart in a person's time: %s", d.Sentence())
			}
		})
	})
}

// A group whose ranks run and whose counters move is never restarted, whatever else goes on.
func TestAWorkingGroupIsLeftAlone(t *testing.T) {
	calm := []string{"n1 is silent", "n2 is silent", "n1 answers", "n2 answers", "n3 docker-hangs", "n3 answers", "server serves", "server is-busy", "server answers 401", "server answers 429",
		"anna arms", "anna disarms 30m work", "anna takes the flag away", "the clock jumps -3h", "the clock jumps 5h", "anna starts n1 n2 n3", "anna starts n2"}
	holds(t, 2000, func(t *rapid.T) {
		w := day(t, calm, func(w *world, _ State, _ Decision) {
		})
		if len(w.acted) > 0 {
			t.Fatalf("a working group was restarted: %s", w.acted[0].d.Sentence())
		}
	})
}

// Nothing that machines do to a group ends in a state it never leaves: when all nodes answer again
// and restarts work, a dead group is restarted, or a person was called.
func TestADeadGroupIsNotForgotten(t *testing.T) {
	holds(t, 1000, func(t *rapid.T) {
		w := day(t, append(slices.Clone(machines), people...), nil)
		if w.state.Phase == None {
			return
		}
		w.pass(time.Second)
		for _, c := range []string{"n1 answers", "n2 answers", "n3 answers", "server refuses", "anna takes the flag away", "anna arms", "anna resets"} {
			do(t, w, c)
		}
		w.always = "launched"
		for i := range w.nodes {
			w.exit(i, 1)
			if b := w.nodes[i].box; b != nil {
				b.Status = "exited"
			}
		}
		acted := len(w.acted)
		var said []string
		for range 110 {
			w.pass(time.Minute)
			said = append(said, fmt.Sprintf("%s %s", w.now.Wall.Format("15:04:05"), w.tick().Sentence()))
			if len(w.acted) > acted {
				return
			}
		}
		t.Fatalf("nothing was done for 110 min; the last looks:\n%s\n%s\n%+v", said[0], said[len(said)-1], w.state)
	})
}

// When it serves again it is SERVING at the next look, wherever it came from.
func TestACompletionAlwaysHelps(t *testing.T) {
	holds(t, 1000, func(t *rapid.T) {
		w := day(t, append(slices.Clone(machines), people...), nil)
		for i := range w.nodes {
			w.remove(i)
			w.start(i, "")
		}
		do(t, w, "server serves")
		w.pass(time.Minute)
		if d := w.tick(); d.Next.Phase != Serving || len(d.Next.Strikes) > 0 || d.Action != ActNone {
			t.Fatalf("phase %v: %s", d.Next.Phase, d.Sentence())
		}
	})
}
