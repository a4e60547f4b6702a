package restart

import (
	"errors"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// While the machine is suspended every deadline stands still; the time since boot does not. Wherever that
// falls before the first removal, nothing is destroyed on what was known before.
func TestSuspendedBeforeTheFirstRemoval(t *testing.T) {
	const night = 8 * time.Hour
	at := func(m *memory, script string) { // the suspension comes while that script runs on n2
		m.fault = func(name string, rank int) error {
			if name == script && rank == 1 {
				m.now, m.fault = m.now.Add(night), nil
			}
			return nil
		}
	}
	for _, row := range []struct {
		name      string
		suspend   func(*memory)
		says      string
		committed bool
	}{
		{"in the copying of logs", func(m *memory) { at(m, "preserve/logs") }, "cannot go by a look that is older than 5m", false},
		{"in a check", func(m *memory) { at(m, "check/mount") }, "they took 8h0m0s: this machine was suspended meanwhile", false},
		{"in a claim, after the checks", func(m *memory) { at(m, "claim/claim") }, "it is older than 1m0s: this machine was suspended", false},
		{"in the save of the commit", func(m *memory) {
			m.saveFault = func(_ int, a watchdog.Attempt) error {
				if a.Step == stageCommit {
					m.now, m.saveFault = m.now.Add(night), nil
				}
				return nil
			}
		}, "it is older than 1m0s: this machine was suspended", true},
		{"in the save before the first removal", func(m *memory) {
			m.saveFault = func(_ int, a watchdog.Attempt) error {
				if a.Step == "remove containers" {
					m.now, m.saveFault = m.now.Add(night), nil
				}
				return nil
			}
		}, "it is older than 1m0s: this machine was suspended", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := newMemory(t, 3)
			row.suspend(m)
			order := m.order(watchdog.Attempt{})
			order.Looked = m.now
			a, err := m.runner().Run(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			if a.Outcome != watchdog.OutcomeRefused || !strings.Contains(a.Error, row.says) || a.Counted() || a.DestroyFailed > 0 || a.Committed.IsZero() == row.committed {
				t.Errorf("attempt = %+v", a)
			}
			if len(m.removed) > 0 || m.called("destroy") || m.called("launch") {
				t.Errorf("removed %v, calls %v", m.removed, m.calls)
			}
			order.Attempt, order.Looked = a, m.now // the next tick, awake
			if a, err = m.runner().Run(t.Context(), order); err != nil || a.Outcome != watchdog.OutcomeLaunched {
				t.Errorf("the next try: %+v, %v", a, err)
			}
			for _, w := range m.wrong {
				t.Error(w)
			}
		})
	}
}

// Once the first container is gone, going on is what is left to do: a connection that has broken meanwhile
// is told as that, the attempt stays open, and the next try checks anew.
func TestSuspendedInARemoval(t *testing.T) {
	m := newMemory(t, 3)
	m.fault = func(script string, rank int) error {
		if script != "destroy/remove" || rank != 1 {
			return nil
		}
		m.now, m.fault = m.now.Add(8*time.Hour), nil
		return &NodeError{Node: "n2", Script: script, Reach: watchdog.ReachDropped, Unknown: true, Err: errors.New("the connection broke")}
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeBroken || !strings.Contains(a.Error, "the connection broke") || m.called("launch") {
		t.Fatalf("attempt = %+v", a)
	}
	if a = run(t, m, a); a.Outcome != watchdog.OutcomeLaunched || a.Tries != 2 {
		t.Errorf("the next try: %+v", a)
	}
}

// What settled before a night is found out anew before anything is launched; the group is down until then.
func TestSuspendedBeforeTheLaunch(t *testing.T) {
	for _, step := range []string{"orphan engines", "launch workers"} { // in the save before that step
		t.Run(step, func(t *testing.T) { suspendedBeforeTheLaunch(t, step) })
	}
}

func suspendedBeforeTheLaunch(t *testing.T, step string) {
	m := newMemory(t, 3)
	m.saveFault = func(_ int, a watchdog.Attempt) error {
		if a.Step == step {
			m.now, m.saveFault = m.now.Add(8*time.Hour), nil
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeRefused || !strings.Contains(a.Error, "were found fit more than 1h") || !a.Launching.IsZero() || m.called("launch") {
		t.Fatalf("attempt = %+v", a)
	}
	m.calls = nil
	if a = run(t, m, a); a.Outcome != watchdog.OutcomeLaunched || !m.called("settle/memory") {
		t.Errorf("the next try: %+v", a)
	}
}

// A stop asks fewer checks, and is no less careful.
func TestSuspendedInAStop(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, _ int) error {
		if script == "check/identity" {
			m.now, m.fault = m.now.Add(8*time.Hour), nil
		}
		return nil
	}
	a, failures, err := m.runner().Stop(t.Context(), m.order(watchdog.Attempt{By: "anna"}))
	if err != nil || a.Outcome != watchdog.OutcomeRefused || len(failures) != 1 || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, failures %v, %v, removed %v", a, failures, err, m.removed)
	}
}

// A wall clock that jumps, in either direction and by any length, changes nothing in a restart.
func TestTheWallClockJumpsInARestart(t *testing.T) {
	for _, jump := range []time.Duration{-56 * 365 * 24 * time.Hour, -time.Hour, 3 * time.Minute, 72 * 365 * 24 * time.Hour} {
		m := newMemory(t, 3)
		m.fault = func(script string, rank int) error {
			if rank == 0 && (script == "check/disk" || script == "claim/claim" || script == "settle/memory") {
				m.now.Wall = m.now.Wall.Add(jump)
			}
			return nil
		}
		if a := run(t, m, watchdog.Attempt{}); a.Outcome != watchdog.OutcomeLaunched || a.Ended.Since(a.Started) > time.Minute {
			t.Errorf("by %s: %+v", jump, a)
		}
	}
}
