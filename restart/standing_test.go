package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cluster-watchdog/watchdog"
)

// A run that the switch ends says which ranks run and whose memory is held, at each place.
func TestSwitchSaysWhatStands(t *testing.T) {
	const closes = "; `cluster-watchdog arm` closes this attempt, taking the flag away lets it go on"
	for _, row := range []struct{ after, words string }{
		{"check/identity", `the switch was thrown before step "claim head": nothing was touched`},
		{"claim/claim", `the switch was thrown before step "claim workers": nothing was touched`},
		{"destroy/remove", `the switch was thrown before step "names gone": no rank runs, the group is down` + closes},
		{"settle/memory", `the switch was thrown before step "free ports": no rank runs, the group is down` + closes},
		{"settle/orphans", `the switch was thrown before step "launch": no rank runs, the group is down` + closes},
		{"launch/launch", `the switch was thrown before step "launch head": rank 1 (n2), rank 2 (n3) run, and their memory is held; ` +
			"not known to have been started: rank 0 (n1); `cluster-watchdog stop --reason` frees what is held, `restart --reason` begins anew"},
	} {
		m := newMemory(t, 3)
		m.flag = func(m *memory) watchdog.Flag { return watchdog.Flag{Present: m.called(row.after + " n")} }
		a := run(t, m, watchdog.Attempt{})
		if a.Outcome != watchdog.OutcomeSwitch || a.Error != row.words {
			t.Errorf("after %s: %s\n%s", row.after, a.Outcome, a.Error)
		}
		heard := slices.ContainsFunc(m.notices, func(n string) bool { return strings.HasPrefix(n, "trouble: a restart ended early: the switch") })
		if heard == a.Committed.IsZero() {
			t.Errorf("after %s: notices %q", row.after, m.notices)
		}
	}
}

func TestSwitchBeforeTheFirstRemoval(t *testing.T) {
	m := newMemory(t, 2)
	m.flag = func(m *memory) watchdog.Flag { return watchdog.Flag{Present: !m.disk.Committed.IsZero()} }
	a := run(t, m, watchdog.Attempt{})
	if want := "nothing was removed yet: rank 0 (n1), rank 1 (n2) are as they were, and their memory is held"; !strings.Contains(a.Error, want) || len(m.removed) > 0 {
		t.Errorf("says %q, removed %v", a.Error, m.removed)
	}
}

// An interrupt of a person's run waits for the destructive or launching step, and says how it goes on.
func TestInterruptWaitsForWhatItCannotTell(t *testing.T) {
	for _, row := range []struct {
		during, step, words string
		finish              bool
	}{
		{"destroy/remove", "remove containers", "no rank runs, the group is down; the next tick goes on where it is armed", true},
		{"destroy/remove", "remove containers", "the group is half down: rank ", false},
		{"launch/launch", "launch workers", "rank 1 (n2) runs, and its memory is held; not known to have been started: rank 0 (n1)", true},
		{"settle/memory", "free memory", "no rank runs, the group is down", true},
	} {
		m := newMemory(t, 2)
		ctx, cancel := context.WithCancel(context.Background())
		m.fault = func(script string, _ int) error {
			if script == row.during {
				cancel()
			}
			return ctxErrUnless(row.finish, ctx)
		}
		w := m.world()
		w.Finish = row.finish
		p, _ := NewPlan(m.settings(), Steps())
		a, err := NewRunner(p, m, w).Run(ctx, m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "x"}))
		if err != nil || a.Outcome != watchdog.OutcomeInterrupted || a.Step != row.step || !strings.HasPrefix(a.Error, fmt.Sprintf("interrupted in step %q: ", row.step)) || !strings.Contains(a.Error, row.words) {
			t.Errorf("%s, finish %v: %s in %q: %s", row.during, row.finish, a.Outcome, a.Step, a.Error)
		}
	}
}

// A step that failed by itself while an interrupt waited for it is told as failed.
func TestAFailureDuringAnInterruptIsTold(t *testing.T) {
	for script, want := range map[string]watchdog.AttemptOutcome{"destroy/remove": watchdog.OutcomeBroken, "launch/launch": watchdog.OutcomeLaunchFailed} {
		m := newMemory(t, 2)
		ctx, cancel := context.WithCancel(context.Background())
		m.fault = func(s string, rank int) error {
			if s != script || rank != 1 {
				return nil
			}
			cancel()
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Stderr: "no", Err: errors.New("exit 1")}
		}
		w := m.world()
		w.Finish = true
		p, _ := NewPlan(m.settings(), Steps())
		a, err := NewRunner(p, m, w).Run(ctx, m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "x"}))
		if err != nil || a.Outcome != want {
			t.Errorf("%s: %s: %s, %v", script, a.Outcome, a.Error, err)
		}
	}
}

// ctxErrUnless is what a connection says whose context ended while a script ran.
func ctxErrUnless(finish bool, ctx context.Context) error {
	if finish || ctx.Err() == nil {
		return nil
	}
	return &NodeError{Node: "n", Reach: watchdog.ReachTimeout, Unknown: true, Err: ctx.Err()}
}

// Who watches hears of each stage in its order, and of each node in it.
func TestProgress(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if script == "launch/launch" && rank == 0 {
			return &NodeError{Node: "n1", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("no such image")}
		}
		return nil
	}
	var mu sync.Mutex
	var begun []string
	nodes := map[string]string{}
	w := m.world()
	w.Progress = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case p.Node == "":
			begun = append(begun, p.Step)
		case p.Err != nil:
			nodes[p.Step] += " failed"
		default:
			nodes[p.Step] += " ok"
		}
	}
	p, _ := NewPlan(m.settings(), Steps())
	if _, err := NewRunner(p, m, w).Run(context.Background(), m.order(watchdog.Attempt{})); err != nil {
		t.Fatal(err)
	}
	if stages := p.Stages(false); !slices.Equal(begun, stages[:len(stages)-1]) { // verify is not reached
		t.Errorf("begun %q of %q", begun, stages)
	}
	for _, step := range []string{"preserve logs", "checks", "remove containers", "free memory"} {
		if nodes[step] != " ok ok" {
			t.Errorf("%s: %q", step, nodes[step])
		}
	}
	if nodes["launch head"] != " failed" || nodes["commit"] != "" {
		t.Errorf("nodes %q", nodes)
	}
	if got := p.Stages(true); !slices.Equal(got, []string{"preserve logs", "checks", "commit", "remove containers", "names gone"}) {
		t.Errorf("a stop goes through %q", got)
	}
}
