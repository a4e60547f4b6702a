package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cluster-watchdog/watchdog"
)

// stopAll asks for a stop of what stands now.
func stopAll(t *testing.T, m *memory) (watchdog.Attempt, []Failure) {
	t.Helper()
	a, failures, err := m.runner().Stop(context.Background(), m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "new model"}))
	if err != nil {
		t.Fatalf("Stop: %v", err)
	}
	for _, w := range m.wrong {
		t.Error(w)
	}
	return a, failures
}

func TestStopRemovesAndLaunchesNothing(t *testing.T) {
	m := newMemory(t, 3)
	a, failures := stopAll(t, m)
	if a.Outcome != watchdog.OutcomeStopped || !a.Stop || !a.Removed || a.Counted() || !a.Launching.IsZero() || len(failures) > 0 {
		t.Errorf("attempt = %+v, %v", a, failures)
	}
	if len(m.removed) != 3 || m.called("launch") || m.called("settle") || !m.called("preserve/logs") {
		t.Errorf("removed %v, calls %q", m.removed, m.calls)
	}
	if m.called("check/mount") || m.called("check/disk") || m.called("check/sudo") {
		t.Errorf("asks what a removal does not need: %q", m.calls)
	}
	if want := []string{"restart: stopping the group, asked for by anna: new model", "person: stopped on 3/3 nodes by anna: new model"}; !slices.Equal(m.notices, want) {
		t.Errorf("notices = %q", m.notices)
	}
}

// A dead node, or one where another person is at work, keeps nobody from stopping the others.
func TestStopGoesOnWithoutANode(t *testing.T) {
	silent := func(script string, rank int) error {
		if rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachTimeout, Err: errors.New("timeout")}
		}
		return nil
	}
	cannot := func(script string, rank int) error {
		if rank == 1 && script == "destroy/remove" {
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Stderr: "cannot be killed", Err: errors.New("exit 1")}
		}
		return nil
	}
	for _, row := range []struct {
		name    string
		fault   func(string, int) error
		other   bool
		outcome watchdog.AttemptOutcome
		says    string
	}{
		{"silent", silent, false, watchdog.OutcomeRefused, "shell on n2: cannot reach n2 by SSH: timeout"},
		{"another container", nil, true, watchdog.OutcomeRefused, "identity on n2: a person is at work"},
		{"cannot be removed", cannot, false, watchdog.OutcomeBroken, "remove containers on n2: cannot be killed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMemory(t, 3)
			m.fault = row.fault
			o := m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "x"})
			if row.other {
				m.containers[1] = fmt.Sprintf("%064x", 0xdead)
			}
			a, failures, err := m.runner().Stop(context.Background(), o)
			if err != nil || a.Outcome != row.outcome || a.Removed || len(failures) != 1 || failures[0].Rank != 1 || a.Committed.IsZero() {
				t.Errorf("attempt = %+v, %v, %v", a, failures, err)
			}
			if m.containers[0] != "" || m.containers[2] != "" || m.containers[1] == "" {
				t.Errorf("containers %q", m.containers)
			}
			if !strings.Contains(a.Error, row.says) || !strings.Contains(m.notices[len(m.notices)-1], "stopped on 2/3 nodes by anna: x; not stopped: ") {
				t.Errorf("says %q, notices %q", a.Error, m.notices)
			}
			for _, w := range m.wrong {
				t.Error(w)
			}
		})
	}
}

func TestStopOfSilentNodesTouchesNothing(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(string, int) error {
		return &NodeError{Node: "n", Reach: watchdog.ReachTimeout, Err: errors.New("timeout")}
	}
	a, failures := stopAll(t, m)
	if a.Outcome != watchdog.OutcomeRefused || !a.Committed.IsZero() || len(failures) != 2 || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, %v, removed %v", a, failures, m.removed)
	}
}

// If saving fails, or the stop is killed, nothing was removed that is not on disk; a second stop ends it.
func TestStopKilledAnywhere(t *testing.T) {
	clean := newMemory(t, 3)
	stopAll(t, clean)
	for n := 1; n <= clean.effects; n++ {
		m := newMemory(t, 3)
		m.killAt = n
		_, _, _ = m.runner().Stop(context.Background(), m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "x"}))
		m.killAt, m.dead = 0, false
		if m.disk.Committed.IsZero() && len(m.removed) > 0 {
			t.Errorf("killed at %d: removed %v without a commit", n, m.removed)
		}
		if a, _ := stopAll(t, m); a.Outcome != watchdog.OutcomeStopped || slices.ContainsFunc(m.containers, func(id string) bool { return id != "" }) {
			t.Errorf("killed at %d: then %s, %q", n, a.Outcome, m.containers)
		}
	}
}

// Who throws the switch once more in the middle of a stop wants that to end, too.
func TestSwitchEndsAStop(t *testing.T) {
	m := newMemory(t, 2)
	m.flag = func(m *memory) watchdog.Flag { return watchdog.Flag{Present: m.called("check/identity")} }
	a, _ := stopAll(t, m)
	if a.Outcome != watchdog.OutcomeSwitch || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, removed %v", a, m.removed)
	}
}

// A stop that is interrupted while a node is silent has launched nothing, and says so.
func TestInterruptedStopWithASilentNode(t *testing.T) {
	m := newMemory(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	m.fault = func(script string, rank int) error {
		if script == "destroy/gone" {
			cancel()
		}
		if rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachTimeout, Err: errors.New("timeout")}
		}
		return nil
	}
	w := m.world()
	w.Finish = true
	p, _ := NewPlan(m.settings(), Steps())
	a, failures, err := NewRunner(p, m, w).Stop(ctx, m.order(watchdog.Attempt{ID: 1, By: "anna", Why: "new model"}))
	if err != nil || a.Outcome != watchdog.OutcomeRefused || a.Error == "" || len(failures) != 1 {
		t.Errorf("%s: %s, %v, %v", a.Outcome, a.Error, failures, err)
	}
}
