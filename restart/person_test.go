package restart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// A container that came under the name after the commit is not among those that were to be
// destroyed: somebody made it while the attempt waited.
func TestResumeDestroysNothingNew(t *testing.T) {
	m := newMemory(t, 2)
	waiting := true
	m.fault = func(script string, rank int) error {
		if waiting && script == "settle/memory" {
			return &NodeError{Node: m.node(rank), Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("memory is not back")}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	waiting = false
	m.removed = nil
	theirs := fmt.Sprintf("%064x", 0xdead)
	m.containers[1] = theirs // and this tick's look saw it, say as created
	a = run(t, m, a)
	if a.Outcome != watchdog.OutcomeRefused || len(m.removed) > 0 || a.Destroy[1] == theirs || m.called("launch") {
		t.Fatalf("attempt = %+v, removed %v", a, m.removed)
	}
	if !strings.Contains(a.Error, "n2") || !strings.Contains(a.Error, "a person is at work") {
		t.Errorf("error = %s", a.Error)
	}
	m.containers[1] = ""
	if a = run(t, m, a); a.Outcome != watchdog.OutcomeLaunched {
		t.Errorf("without it: attempt = %+v", a)
	}
}

// The identity check is told which start of the container was seen.
func TestChecksAreOfTheStartThatWasSeen(t *testing.T) {
	m := newMemory(t, 2)
	r := m.runner()
	o := m.order(watchdog.Attempt{})
	o.Started = []string{"2026-03-01T11:00:00Z", ""}
	for rank, want := range o.Started {
		if got := r.env(Step{Script: "check/identity"}, rank, o)["WATCHDOG_STARTED"]; got != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
	if got, set := r.env(Step{Script: "check/identity"}, 1, Order{})["WATCHDOG_STARTED"]; got != "" || !set {
		t.Errorf("nothing seen: %q, set %v", got, set)
	}
}

// Evidence never takes the room that the state needs: without it there would be no restart at all.
func TestNothingIsPreservedOnAFullVolume(t *testing.T) {
	m := newMemory(t, 2)
	r := m.runner()
	r.world.Local = map[string]func() error{"state volume": func() error { return errors.New("512 MiB free, 1 GiB needed") }}
	r.Preserve(context.Background(), 1, m.containers)
	if m.called("preserve") {
		t.Errorf("calls = %q", m.calls)
	}
	if _, failures := r.Check(context.Background(), m.order(watchdog.Attempt{})); len(failures) != 1 || failures[0].Step != "state volume" {
		t.Errorf("failures = %v", failures)
	}
}

// A node that is gone for good must not be asked for ever: the flusher has long ended itself.
func TestEndFlusherIsNotTriedForEver(t *testing.T) {
	m := newMemory(t, 2)
	a := run(t, m, watchdog.Attempt{})
	m.fault = func(script string, rank int) error {
		if script == "settle/endflusher" && rank == 1 {
			return &NodeError{Node: "n2", Reach: watchdog.ReachTimeout, Err: errors.New("no answer")}
		}
		return nil
	}
	life := m.settings().FlusherFor
	for _, passed := range []time.Duration{0, life + time.Minute} {
		m.now = m.now.Add(passed)
		if err := m.runner().EndFlusher(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		if got, want := m.disk.FlusherEnded, passed > life; got != want {
			t.Errorf("after %s: ended %v, want %v", passed, got, want)
		}
	}
}

// What a launch command prints is the user's own, with its secrets: none of it reaches the state,
// the journal or a notice.
func TestNoSecretOfALaunchIsKept(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if script == "launch/launch" {
			return &NodeError{Node: m.node(rank), Script: script, Reach: watchdog.ReachOK, Exit: 1,
				Stderr: strings.Repeat("x", 150) + " + docker run -e HF_TOKEN=hush-value vllm serve --api-key hush-value --port 8000\n"}
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeLaunchFailed || strings.Contains(a.Error, "hush") || strings.Contains(strings.Join(m.notices, "\n"), "hush") {
		t.Errorf("error = %s\nnotices = %q", a.Error, m.notices)
	}
}

// Which container was launched goes back into a script: what does not look like an id is none.
func TestALaunchWithoutAnIDFails(t *testing.T) {
	m := newMemory(t, 2)
	for _, said := range []string{"", "id=\n", "id=vllm\n", "id=" + strings.Repeat("A", 64) + "\n"} {
		if got := launchedID(Result{Stdout: said}); got != "" {
			t.Errorf("%q: id %q", said, got)
		}
	}
	id := m.containers[0]
	if got := launchedID(Result{Stdout: "id=" + id + "\n"}); got != id {
		t.Errorf("id %q", got)
	}
}
