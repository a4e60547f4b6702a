package restart

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"cluster-watchdog/watchdog"
)

// What fails in the same way on several nodes is told once, and a step is not named twice.
func TestRefusalWords(t *testing.T) {
	says := func(step, node, words string) Failure {
		return Failure{Step: step, Node: node, Err: &NodeError{Node: node, Script: "check/x", Reach: watchdog.ReachOK, Exit: 1, Stderr: words}}
	}
	for _, row := range []struct {
		name     string
		failures []Failure
		want     string
	}{
		{"one", []Failure{says("sudo", "n1", "a password is required")}, "sudo on n1: a password is required"},
		{"the same on two nodes", []Failure{says("image", "n1", "no image"), says("image", "n2", "no image")}, "image on n1, n2: no image"},
		{"different reasons", []Failure{says("image", "n1", "no image"), says("image", "n2", "no docker")}, "image on n1: no image; image on n2: no docker"},
		{"words that begin with the step", []Failure{says("mount /m", "n1", "mount /m is hung")}, "mount /m on n1: is hung"},
		{"words that begin with a command", []Failure{says("sudo", "n1", "sudo -n /bin/x is refused")}, "sudo on n1: sudo -n /bin/x is refused"},
	} {
		if got := (&Refusal{Failures: row.failures}).Error(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// A Docker that refuses fails three checks of its node, and is told once.
func TestOneCauseOfANodeIsToldOnce(t *testing.T) {
	m := newMemory(t, 2)
	m.fault = func(script string, rank int) error {
		if rank == 1 && strings.HasPrefix(script, "check/") && script != "check/shell" {
			return &NodeError{Node: "n2", Script: script, Reach: watchdog.ReachOK, Exit: 1, Stderr: "docker: permission denied"}
		}
		return nil
	}
	if _, failures := m.runner().Check(context.Background(), m.order(watchdog.Attempt{})); len(failures) != 1 || failures[0].Step != "docker" {
		t.Errorf("failures = %v", failures)
	}
}

// The journal does not say that logs are preserved where some are not, and frightens nobody after an
// interrupt.
func TestPreservedIsCounted(t *testing.T) {
	for _, row := range []struct {
		name     string
		canceled bool
		lost     int
		want     []string
		not      string
	}{
		{"all", false, 0, []string{"RESTART logs preserved in "}, "warn"},
		{"one node does not answer", false, 1, []string{"RESTART logs of 1/2 ranks preserved in ", "cannot preserve logs of rank 1"}, ""},
		{"interrupted", true, 1, []string{"RESTART logs of 1/2 ranks preserved in "}, "cannot preserve"},
	} {
		m := newMemory(t, 2)
		var journal bytes.Buffer
		r := m.runner()
		r.world.Log = zerolog.New(&journal)
		ctx, cancel := context.WithCancel(context.Background())
		m.fault = func(script string, rank int) error {
			if row.lost == 0 || rank != row.lost {
				return nil
			}
			if row.canceled {
				cancel()
			}
			return errors.New("gone")
		}
		r.Preserve(ctx, 1, m.containers)
		cancel()
		for _, want := range row.want {
			if !strings.Contains(journal.String(), want) {
				t.Errorf("%s: no %q in\n%s", row.name, want, &journal)
			}
		}
		if row.not != "" && strings.Contains(journal.String(), row.not) {
			t.Errorf("%s: %q in\n%s", row.name, row.not, &journal)
		}
	}
}
