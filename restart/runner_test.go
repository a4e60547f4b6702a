package restart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cluster-watchdog/watchdog"
)

func run(t *testing.T, m *memory, a watchdog.Attempt) watchdog.Attempt {
	t.Helper()
	got, err := m.runner().Run(context.Background(), m.order(a))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	for _, w := range m.wrong {
		t.Error(w)
	}
	return got
}

func TestRestartLaunchesAllRanks(t *testing.T) {
	m := newMemory(t, 4)
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeLaunched || len(a.Launched) != 4 || !a.Counted() {
		t.Fatalf("attempt = %+v", a)
	}
	for rank, n := range m.launches {
		if n != 1 || !m.flushers[rank] || a.MemFree[rank] != 1000 {
			t.Errorf("rank %d: %d launches, flusher %v, memory %d", rank, n, m.flushers[rank], a.MemFree[rank])
		}
	}
	head := slices.Index(m.calls, "launch/launch n1")
	for _, worker := range []string{"n2", "n3", "n4"} {
		if slices.Index(m.calls, "launch/launch "+worker) > head {
			t.Errorf("the head was launched before %s", worker)
		}
	}
	if len(m.notices) != 2 {
		t.Errorf("notices = %q", m.notices)
	}
}

// MISSION's fault "order": the first hand-written watchdog removed the head, then found that it
// could not reach the workers. Here a failed check leaves everything as it is.
func TestChecksComeBeforeDestruction(t *testing.T) {
	checks := []string{"check/shell", "check/docker", "check/mount", "check/image", "check/sudo", "check/disk", "check/dirs", "check/claim", "check/identity", "claim/claim"}
	for _, check := range checks {
		for rank := range 4 {
			t.Run(fmt.Sprintf("%s on n%d", check, rank+1), func(t *testing.T) {
				m := newMemory(t, 4)
				m.fault = func(script string, on int) error {
					if script == check && on == rank {
						return &NodeError{Node: m.node(on), Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("not fit")}
					}
					return nil
				}
				a := run(t, m, watchdog.Attempt{})
				if a.Outcome != watchdog.OutcomeRefused || !a.Committed.IsZero() || a.Counted() {
					t.Errorf("attempt = %+v", a)
				}
				if len(m.removed) > 0 || m.called("destroy") || m.called("settle") || m.called("launch") {
					t.Errorf("touched: removed %v, calls %v", m.removed, m.calls)
				}
			})
		}
	}
}

func TestAllFailuresOfAllNodesAreTold(t *testing.T) {
	m := newMemory(t, 3)
	m.fault = func(script string, rank int) error {
		if rank == 1 && (script == "check/mount" || script == "check/sudo") {
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("bad " + script)}
		}
		if rank == 2 {
			return &NodeError{Node: "n3", Reach: watchdog.ReachRefused, Err: errors.New("cannot reach n3 by SSH")}
		}
		return nil
	}
	_, failures := m.runner().Check(context.Background(), m.order(watchdog.Attempt{}))
	var got []string
	for _, f := range failures {
		got = append(got, f.Step+" "+f.Node)
	}
	want := []string{"mount /models n2", "sudo n2", "shell n3"}
	if !slices.Equal(got, want) {
		t.Errorf("failures = %q, want %q", got, want)
	}
}

// While a check refuses, only it runs, and the attempt is updated, not repeated.
func TestRefusedCheckRunsFirstAndAlone(t *testing.T) {
	m := newMemory(t, 2)
	bad := true
	m.fault = func(script string, rank int) error {
		if bad && script == "check/mount" && rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("not mounted")}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	m.calls = nil
	again := run(t, m, a)
	if want := []string{"check/mount n1", "check/mount n2"}; !slices.Equal(sorted(m.calls), want) {
		t.Errorf("second try called %q, want %q", m.calls, want)
	}
	if again.ID != a.ID || again.Tries != 2 {
		t.Errorf("second try = %+v", again)
	}
	bad = false
	if last := run(t, m, again); last.Outcome != watchdog.OutcomeLaunched || last.Tries != 3 {
		t.Errorf("third try = %+v", last)
	}
}

func sorted(s []string) []string { s = slices.Clone(s); slices.Sort(s); return s }

func TestFailedRemovalStops(t *testing.T) {
	m := newMemory(t, 3)
	m.fault = func(script string, rank int) error {
		if script == "destroy/remove" && rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("did not receive an exit event")}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeBroken || a.DestroyFailed != 1 || a.Counted() || m.called("launch") || m.called("settle") {
		t.Errorf("attempt = %+v, calls %v", a, m.calls)
	}
}

// A group of one node has no workers to launch: a disk that fails before its head is launched leaves no
// launch on record.
func TestOneNodeIsLaunchedOnce(t *testing.T) {
	m := newMemory(t, 1)
	m.saveFault = func(_ int, a watchdog.Attempt) error {
		if a.Step == "launch head" {
			return errors.New("disk full")
		}
		return nil
	}
	if _, err := m.runner().Run(context.Background(), m.order(watchdog.Attempt{})); err == nil || !m.disk.Launching.IsZero() || m.launches[0] != 0 {
		t.Errorf("%v, on disk %+v, launches %v", err, m.disk, m.launches)
	}
}

func TestFailedLaunchStopsLaterOnes(t *testing.T) {
	m := newMemory(t, 3)
	m.fault = func(script string, rank int) error {
		if script == "launch/launch" && rank == 2 {
			return &NodeError{Node: "n3", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("no such image")}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeLaunchFailed || !a.Counted() || m.launches[0] != 0 {
		t.Errorf("attempt = %+v, launches %v", a, m.launches)
	}
	if !strings.Contains(a.Error, "started: rank 1 (n2)") {
		t.Errorf("error does not say what runs where: %s", a.Error)
	}
}

func TestSettleRefusesAndTheAttemptGoesOn(t *testing.T) {
	m := newMemory(t, 2)
	full := true
	m.fault = func(script string, rank int) error {
		if full && script == "settle/memory" && rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("memory is not back")}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeRefused || a.Committed.IsZero() || !a.Launching.IsZero() || a.Counted() {
		t.Fatalf("attempt = %+v", a)
	}
	full = false
	if b := run(t, m, a); b.Outcome != watchdog.OutcomeLaunched || !b.Committed.Equal(a.Committed) || b.Destroy[1] == "" {
		t.Errorf("attempt = %+v", b)
	}
}

// The switch is read again before every destructive and launching step.
func TestSwitchStopsBeforeTheNextStepW01(t *testing.T) {
	for _, after := range []string{"check/identity", "claim/claim", "destroy/remove", "destroy/gone", "settle/flusher", "settle/memory", "settle/orphans"} {
		t.Run(after, func(t *testing.T) {
			m := newMemory(t, 3)
			m.flag = func(m *memory) watchdog.Flag {
				return watchdog.Flag{Present: m.called(after + " n"), Who: "somebody"}
			}
			a := run(t, m, watchdog.Attempt{})
			if a.Outcome != watchdog.OutcomeSwitch || a.Counted() || m.called("launch") {
				t.Errorf("attempt = %+v, calls %v", a, m.calls)
			}
			if (after == "check/identity" || after == "claim/claim") && len(m.removed) > 0 {
				t.Errorf("removed %v", m.removed)
			}
		})
	}
}

// A disarm that comes between the look and the runner's first step counts like any other.
func TestSwitchThrownBeforeTheRunnerBeganW01(t *testing.T) {
	m := newMemory(t, 2)
	m.flag = func(*memory) watchdog.Flag { return watchdog.Flag{Present: true} }
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeSwitch || !a.Committed.IsZero() || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, removed %v", a, m.removed)
	}
}

func TestSwitchBetweenWorkersAndHead(t *testing.T) {
	m := newMemory(t, 3)
	m.flag = func(m *memory) watchdog.Flag { return watchdog.Flag{Present: m.called("launch/launch")} }
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeSwitch || a.Counted() || m.launches[0] != 0 || m.launches[1] != 1 {
		t.Errorf("attempt = %+v, launches %v", a, m.launches)
	}
}

// If saving fails, nothing is touched: tried for each save of a whole restart.
func TestNothingIsTouchedUnlessSaved(t *testing.T) {
	clean := newMemory(t, 2)
	run(t, clean, watchdog.Attempt{})
	for n := 1; n <= clean.saves; n++ {
		m := newMemory(t, 2)
		m.saveFault = func(save int, _ watchdog.Attempt) error {
			if save >= n {
				return errors.New("no space left on device")
			}
			return nil
		}
		m.runner().Run(context.Background(), m.order(watchdog.Attempt{}))
		for _, w := range m.wrong {
			t.Errorf("save %d failed: %s", n, w)
		}
	}
}

// Any effect may be the last one: whatever instant a SIGKILL hits, the next tries finish the
// restart, nothing is destroyed or launched that is not on disk, and no name has two containers.
func TestKilledAnywhere(t *testing.T) {
	clean := newMemory(t, 3)
	run(t, clean, watchdog.Attempt{})
	for n := 1; n <= clean.effects; n++ {
		m := newMemory(t, 3)
		m.killAt = n
		m.runner().Run(context.Background(), m.order(watchdog.Attempt{}))
		m.killAt, m.dead = 0, false
		a := m.disk
		switch {
		case a.ID == 0 || a.Committed.IsZero():
			if len(m.removed) > 0 {
				t.Errorf("killed at %d: removed %v without a commit", n, m.removed)
			}
		case a.Launching.IsZero():
			if m.called("launch/launch") && slices.Max(m.launches) > 0 {
				t.Errorf("killed at %d: launched without a record", n)
			}
		default:
			continue // a boot of ours, judged by the next look
		}
		if got := run(t, m, a); got.Outcome != watchdog.OutcomeLaunched {
			t.Errorf("killed at %d: the next try ends %s: %s", n, got.Outcome, got.Error)
		}
		for rank, launches := range m.launches {
			if launches != 1 {
				t.Errorf("killed at %d: rank %d was launched %d times", n, rank, launches)
			}
		}
	}
}

func TestLastCanaryEndsItUntouched(t *testing.T) {
	m := newMemory(t, 2)
	o := m.order(watchdog.Attempt{})
	o.Canary = func(context.Context) bool { return true }
	a, err := m.runner().Run(context.Background(), o)
	if err != nil || a.Outcome != watchdog.OutcomeRecovered || len(m.removed) > 0 || a.Counted() {
		t.Errorf("attempt = %+v, %v, removed %v", a, err, m.removed)
	}
}

func TestAnotherContainerThanSeenIsAPerson(t *testing.T) {
	m := newMemory(t, 2)
	o := m.order(watchdog.Attempt{})
	m.containers[1] = fmt.Sprintf("%064x", 0xdead)
	a, _ := m.runner().Run(context.Background(), o)
	if a.Outcome != watchdog.OutcomeRefused || a.Step != "identity" || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, removed %v", a, m.removed)
	}
}

func TestPreservedOnceAndRedacted(t *testing.T) {
	m := newMemory(t, 2)
	r := m.runner()
	r.Preserve(context.Background(), 1, m.containers)
	files, _ := filepath.Glob(filepath.Join(r.plan.settings.Evidence, "incident-1", "*.gz"))
	if len(files) != 4 {
		t.Fatalf("files = %q", files)
	}
	for _, f := range files {
		if text := gunzip(t, f); strings.Contains(text, "verysecret") || !strings.Contains(text, "engine started") {
			t.Errorf("%s holds %q", f, text)
		}
	}
	m.calls = nil
	r.Preserve(context.Background(), 1, m.containers)
	if len(m.calls) > 0 {
		t.Errorf("preserved again: %q", m.calls)
	}
}

func TestPreserveIsBestEffort(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if strings.HasPrefix(script, "preserve/") && rank == 1 {
			return errors.New("gone")
		}
		return nil
	}
	if a := run(t, m, watchdog.Attempt{}); a.Outcome != watchdog.OutcomeLaunched {
		t.Errorf("attempt = %+v", a)
	}
	if err := os.Chmod(m.t.TempDir(), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptedIsRecorded(t *testing.T) {
	m := newMemory(t, 2)
	ctx, cancel := context.WithCancel(context.Background())
	m.fault = func(script string, _ int) error {
		if script == "settle/memory" {
			cancel()
		}
		return nil
	}
	a, err := m.runner().Run(ctx, m.order(watchdog.Attempt{}))
	if err != nil || a.Outcome != watchdog.OutcomeInterrupted || m.disk.Outcome != watchdog.OutcomeInterrupted || a.Counted() {
		t.Errorf("attempt = %+v, %v", a, err)
	}
}
