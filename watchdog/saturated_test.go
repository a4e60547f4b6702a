package watchdog

import (
	"hash/fnv"
	"strconv"
	"testing"
)

// saturated is an engine that works all the time and seldom has room for our canary. What it does in
// a look hangs on the look alone, so a run can be repeated.
type saturated struct {
	name   string
	engine Engine
	health int // what /health says while it is busy
	stall  int // for how many looks its counters may stand still
}

// draw returns a number below n for one question of one look.
func (e saturated) draw(look int, question string, n int) int {
	h := fnv.New64a()
	h.Write(strconv.AppendInt([]byte(e.name+question), int64(look), 10))
	return int(h.Sum64()>>33) % n
}

// stalled says whether its counters stand still in this look, as while one long prompt is swallowed
// whole or a kernel is compiled.
func (e saturated) stalled(look int) bool {
	const block = 12
	return e.draw(look/block, "stalls", 3) == 0 && look%block < 1+e.draw(look/block, "stall", e.stall)
}

// canaryOf is what comes of the canary: nothing, refusals, rarely a late completion.
func (e saturated) canaryOf(look int) string {
	all := []string{"unanswered", "unanswered", "unanswered", "unanswered", "429", "503", "500", "connect"}
	if !e.stalled(look) && e.draw(look, "served", 40) == 0 {
		return "served"
	}
	return all[e.draw(look, "canary", len(all))]
}

// observe is one look at it.
func (e saturated) observe(w *world, look int) Observation {
	w.canary = e.canaryOf(look)
	if w.canary == "connect" { // its accept queue is full
		w.canary = "unanswered"
	}
	w.nodes[2].silent = e.draw(look, "silent", 50) == 0
	o := w.observe(false)
	if e.canaryOf(look) == "connect" {
		o.Canary.Outcome = ConnectTimeout
	}
	o.Health.Status = e.health
	o.Before.Engine, o.After.Engine = e.engine, e.engine
	if e.draw(look, "prefill", 4) == 0 { // nothing but steps of a long prefill
		for _, c := range []*Counters{&o.Before, &o.After} {
			c.Engines[0].Generation, c.Engines[0].Prompt = -1, -1
		}
	}
	if e.health == 200 && e.draw(look, "metrics", 200) == 0 {
		o.Before, o.After = Counters{HTTP: HTTP{Outcome: Unanswered}}, Counters{HTTP: HTTP{Outcome: Unanswered}}
	}
	return o
}

// TestSaturatedIsNotRestarted: 10,000 hours of an engine that is too busy for us, and not one restart.
func TestSaturatedIsNotRestarted(t *testing.T) {
	engines := []saturated{
		{"a vLLM", VLLM, 200, 5},
		{"a vLLM behind a proxy that sheds load", VLLM, 503, 1},
		{"an SGLang that has no batch for /health", SGLang, 503, 5},
		{"an SGLang", SGLang, 200, 5},
	}
	hours := 10_000 / len(engines)
	if underRace {
		hours /= 25
	}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(3)
			inService(w)
			busy := 0
			for look := range hours * 60 {
				stalled := e.stalled(look)
				w.moving = "moving"
				if stalled {
					w.moving = "flat"
				}
				w.pass(m)
				d := Decide(w.policy, w.state, e.observe(w, look))
				if d.Action != ActNone || d.Next.Phase != Serving {
					t.Fatalf("look %d: %s", look, d.Sentence())
				}
				if d.Reason == ReasonBusy {
					busy++
				}
				d.Next.Attempts, d.Next.Arm = w.state.Attempts, w.state.Arm
				w.state = d.Next
			}
			if busy < hours*60/2 {
				t.Errorf("only %d of %d looks were busy: this shows little", busy, hours*60)
			}
		})
	}
}
