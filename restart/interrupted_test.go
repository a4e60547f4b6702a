package restart

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// SIGTERM in each step: the run ends there, what is on disk names the step as steps.go does and says
// what stands, and the next try makes one launch of it, whether the step was cut off or got through.
func TestInterruptedInEachStep(t *testing.T) {
	seen := map[string]bool{}
	for _, sequential := range []bool{false, true} {
		for _, headFirst := range []bool{false, true} {
			order := func(m *memory) Settings {
				set := m.settings()
				set.Sequential, set.HeadFirst = sequential, headFirst
				return set
			}
			plan, err := NewPlan(order(newMemory(t, 3)), Steps())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range plan.Steps() {
				for _, cut := range []bool{true, false} {
					seen[s.Script] = true
					name := fmt.Sprintf("Y02 %s/sequential=%v/head-first=%v/cut=%v", s.Name, sequential, headFirst, cut)
					t.Run(name, func(t *testing.T) { interruptedIn(t, order, s, cut) })
				}
			}
		}
	}
	for _, s := range Steps() {
		if !seen[s.Script] {
			t.Errorf("step %q was not interrupted", s.Name)
		}
	}
}

func interruptedIn(t *testing.T, order func(*memory) Settings, s Step, cut bool) {
	m := newMemory(t, 3)
	if s.Class() == scripts.Check {
		m = newMemory(t, 1) // each node is at a check of its own
	}
	set := order(m)
	plan, err := NewPlan(set, Steps())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	met, through, ranks := false, 0, len(set.ranksOf(s))
	m.fault = func(script string, rank int) error {
		if script != s.Script || !s.Runs(set, rank) {
			return nil
		}
		if through++; !cut && through < ranks {
			return nil // the last one of all gets through too, and then it is over
		}
		met = true
		cancel()
		if cut { // as a connection says it
			return &NodeError{Node: m.node(rank), Reach: watchdog.ReachOK, Script: script, Unknown: true, Err: fmt.Errorf("interrupted: %w", context.Canceled)}
		}
		return nil
	}
	a, err := NewRunner(plan, m, m.world()).Run(ctx, m.order(watchdog.Attempt{}))
	if err != nil || !met {
		t.Fatalf("%v, met %v", err, met)
	}
	if s.Script == "launch/verify" && !cut { // nothing was left to interrupt
		if a.Outcome != watchdog.OutcomeLaunched {
			t.Errorf("attempt = %+v", a)
		}
		return
	}
	want := s.Name
	if strings.HasPrefix(s.Script, "preserve/") {
		want = stagePreserve // its two scripts are one stage
	}
	if !m.disk.Ended.Equal(a.Ended) || m.disk.Outcome != watchdog.OutcomeInterrupted || !strings.HasPrefix(m.disk.Error, fmt.Sprintf("interrupted in step %q: ", m.disk.Step)) {
		t.Fatalf("on disk: %+v", m.disk)
	}
	if step := m.disk.Step; step != want && !(s.Class() == scripts.Check && !cut) { // the next one says that it was cut off
		t.Errorf("interrupted in %q, want %q", step, want)
	}
	for _, w := range m.wrong {
		t.Error(w)
	}
	m.fault = nil
	if !a.Launching.IsZero() {
		if !a.Counted() || !strings.Contains(a.Error, "cluster-watchdog stop --reason") {
			t.Errorf("a launch that was cut off: %+v", a)
		}
		return // a boot, judged by the next look
	}
	if len(m.removed) > 0 != (!a.Committed.IsZero() && !(s.Script == "destroy/remove" && cut)) {
		t.Errorf("removed %v, %+v", m.removed, a)
	}
	if b := runAgain(t, m, plan, a); b.Outcome != watchdog.OutcomeLaunched || b.Tries != 2 || m.launches[0] != 1 {
		t.Errorf("the next try: %+v, launches %v", b, m.launches)
	}
}

func runAgain(t *testing.T, m *memory, p *Plan, a watchdog.Attempt) watchdog.Attempt {
	t.Helper()
	b, err := NewRunner(p, m, m.world()).Run(context.Background(), m.order(a))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range m.wrong {
		t.Error(w)
	}
	return b
}
