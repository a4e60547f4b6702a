package restart

import (
	"context"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// A head that finds another's claim on any node touches nothing, and says whose it is.
func TestForeignClaimRefusesARestart(t *testing.T) {
	m := newMemory(t, 3)
	m.claims[2] = "id-other"
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeRefused || a.Step != "foreign claim" || a.Counted() || len(m.removed) > 0 || m.called("claim/") {
		t.Fatalf("attempt = %+v, calls %v", a, m.calls)
	}
	if !strings.Contains(a.Error, "foreign claim on n3") || !strings.Contains(a.Error, "claimed by id-other") {
		t.Errorf("error = %s", a.Error)
	}
	m.claims[2] = "" // the other one has gone
	if a = run(t, m, a); a.Outcome != watchdog.OutcomeLaunched || m.claims[2] != "id-spark" {
		t.Errorf("without it: attempt = %+v, claims %v", a, m.claims)
	}
}

// Somebody took the group over while it is down: the open attempt of the old head stops.
func TestTakenOverInTheMiddle(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if script == "settle/memory" {
			return m.refuseErr(rank, "memory is not back")
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Committed.IsZero() {
		t.Fatalf("attempt = %+v", a)
	}
	m.fault = nil
	m.claims[0], m.claims[1] = "id-other", "id-other"
	if a = run(t, m, a); a.Outcome != watchdog.OutcomeRefused || a.Step != "foreign claim" || m.called("launch") {
		t.Errorf("attempt = %+v, calls %v", a, m.calls)
	}
}

// Of two heads that saw no claim the slower one finds the faster one's before its commit.
func TestClaimedByAnotherBetweenChecksAndCommit(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if script == "check/identity" && rank == 1 {
			m.claims[1] = "id-other"
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeRefused || a.Step != "claim workers" || !a.Committed.IsZero() || len(m.removed) > 0 {
		t.Errorf("attempt = %+v, removed %v", a, m.removed)
	}
}

// Two heads that claim at the same moment never get a part each: who does not get the first node asks
// for no other.
func TestClaimIsAllOrNothing(t *testing.T) {
	m := newMemory(t, 3)
	m.fault = func(script string, rank int) error {
		if script == "check/identity" && rank == 0 {
			m.claims[0] = "id-other"
		}
		return nil
	}
	a := run(t, m, watchdog.Attempt{})
	if a.Outcome != watchdog.OutcomeRefused || a.Step != "claim head" || m.claims[1] != "" || m.claims[2] != "" {
		t.Errorf("attempt = %+v, claims %v", a, m.claims)
	}
}

func TestTakeOverTellsWhomItReplaces(t *testing.T) {
	m := newMemory(t, 3)
	m.claims = []string{"id-other", "", "id-other"}
	o := Order{Claimant: Claimant{Who: "anna"}}
	replaced, failures := m.runner().Claim(context.Background(), o)
	if len(replaced) > 0 || len(failures) != 1 || failures[0].Node != "n1" || m.claims[1] != "" {
		t.Errorf("without leave: replaced %q, failures %v", replaced, failures)
	}
	o.TakeOver = true
	if _, failures := m.runner().Check(context.Background(), o); len(failures) > 0 && failures[0].Step == "foreign claim" {
		t.Errorf("failures = %v", failures)
	}
	replaced, failures = m.runner().Claim(context.Background(), o)
	if want := "n1: group llm is claimed by id-other|n3: group llm is claimed by id-other"; strings.Join(replaced, "|") != want || len(failures) > 0 {
		t.Errorf("replaced %q, failures %v", replaced, failures)
	}
}

// What a claim says is one line for each fact, whatever a person is called.
func TestClaimText(t *testing.T) {
	s := Settings{Group: "llm", Container: "vllm", Owner: Owner{ID: "id", Name: "spark", Address: "10.0.0.1", StateDir: "/var/lib/w"}}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	want := "group=llm\ncontainer=vllm\nhead=id\nstate_dir=/var/lib/w\nwho=the head spark (10.0.0.1), armed by anna head=x at 2026-03-01T12:00:00Z"
	if got := s.claim(Claimant{"anna\nhead=x", at}); got != want {
		t.Errorf("claim = %q", got)
	}
	if got := s.claim(Claimant{}); !strings.HasSuffix(got, "\nwho=the head spark (10.0.0.1)") {
		t.Errorf("claim = %q", got)
	}
}
