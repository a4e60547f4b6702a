package watchdog

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// deaths are the kinds of death as they happen in the simulated world: how it was before, and what
// happens at one instant. They stand in the order of Detections.
var deaths = []struct {
	before, then func(w *world)
}{
	{inService, func(w *world) { w.exit(2, 1); w.canary, w.moving = "unanswered", "flat" }},
	{inService, func(w *world) { w.health, w.canary, w.moving = 500, "429", "flat" }},
	{inService, func(w *world) { w.canary, w.moving = "unanswered", "flat" }},
	{inService, func(w *world) { w.health, w.canary, w.moving = 0, "refused", "absent" }},
	{func(w *world) { inService(w); w.state.Live = "" }, func(w *world) { w.canary, w.moving = "unanswered", "flat" }},
	{inService, func(w *world) { // a person starts a new head only
		w.remove(0)
		w.start(0, "")
		w.health, w.canary, w.moving = 0, "refused", "absent"
	}},
	{emptyNodes, func(w *world) { w.start(0, ""); w.start(1, "") }},
	{emptyNodes, func(w *world) {
		for i := range w.nodes {
			w.start(i, "")
		}
	}},
}

func emptyNodes(w *world) {
	w.decide(false)
	w.arm(false)
	w.pass(time.Second)
	w.decide(false)
}

func inService(w *world) {
	for i := range w.nodes {
		w.start(i, "")
	}
	w.health, w.canary, w.moving = 200, "served", "moving"
	emptyNodes(w)
}

// decided returns the time from a death, so long after a look began, to the end of the look that
// decides to restart; 0 where none does. All looks take their longest, as do the second ones.
func decided(w *world, period, offset time.Duration, then func(w *world)) time.Duration {
	began, passed := w.now, time.Duration(0)
	until := func(at time.Duration) {
		if passed < offset && offset <= at {
			w.pass(offset - passed)
			passed = offset
			then(w)
		}
		w.pass(at - passed)
		passed = w.now.Since(began)
	}
	tick := LookLimit
	for range 500 {
		tick = (tick/period + 1) * period
		until(tick)
		d := w.decide(false)
		tick += LookLimit
		if d.Action == ActLookAgain {
			until(w.now.Since(began) + max(w.policy.Dead.Apart, LookLimit))
			d = w.decide(true)
			tick = passed + LookAgainLimit
		}
		if d.Action == ActRestart {
			return tick - offset
		}
	}
	return 0
}

// worstOf is the longest over all places of a death between two looks.
func worstOf(p Policy, period time.Duration, kind int) (worst time.Duration) {
	for offset := time.Duration(1); offset <= period; offset += 4 * time.Second {
		w := newWorld(3)
		w.policy = p
		deaths[kind].before(w)
		worst = max(worst, decided(w, period, offset, deaths[kind].then))
	}
	return worst
}

// TestDetections lets every kind of death come at every time between two looks and compares the
// worst of it with what is told to people.
func TestDetections(t *testing.T) {
	with := func(change func(p *Policy)) Policy { p := rowPolicy(); change(&p); return p }
	for _, row := range []struct {
		name   string
		p      Policy
		period time.Duration
	}{
		{"defaults", rowPolicy(), m},
		{"twice a minute", rowPolicy(), 30 * s},
		{"every two minutes", rowPolicy(), 2 * m},
		{"longer apart", with(func(p *Policy) {
			p.Dead.Apart, p.EngineDead.Apart, p.NoProgress.Apart, p.Baseline = 55*s, 90*s, 90*s, 70*s
		}), m},
		{"more looks", with(func(p *Policy) {
			p.Dead.Looks, p.EngineDead.Looks, p.NoProgress.Looks, p.NoProgressBlind.Looks, p.BootOver.Looks = 4, 6, 9, 17, 3
		}), m},
		{"over a time", with(func(p *Policy) { p.Dead.Over, p.EngineDead.Over, p.BootOver.Over = 130*s, 250*s, 90*s }), m},
		{"never", with(func(p *Policy) { p.EngineDead.Apart, p.StrikeVoid = 110*s, 115*s }), m},
	} {
		for kind, d := range row.p.Detections(row.period) {
			got := worstOf(row.p, row.period, kind)
			if got > d.Worst || d.Worst-got > time.Microsecond {
				t.Errorf("%s: %s: the worst was %s, told is %s", row.name, d.Death, got, d.Worst)
			}
		}
	}
}

// TestDetectionsOfDefaults has what is promised of the defaults.
func TestDetectionsOfDefaults(t *testing.T) {
	promised := []time.Duration{2 * m, 4 * m, 9 * m}
	for i, d := range DefaultPolicy().Detections(m)[:len(promised)] {
		if d.Worst == 0 || d.Worst > promised[i] {
			t.Errorf("%s: worst case %s, promised %s", d.Death, d.Worst, promised[i])
		}
	}
}

// TestReadmeTellsDetections keeps README's table equal to what follows from the defaults.
func TestReadmeTellsDetections(t *testing.T) {
	var want strings.Builder
	fmt.Fprint(&want, "\n| what died | at most | counted from |\n|---|---|---|\n")
	for _, d := range DefaultPolicy().Detections(m) {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", d.Death, brief(d.Worst), d.From)
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want.String()+"\n") {
		t.Errorf("README lacks this table:\n%s", want.String())
	}
}
