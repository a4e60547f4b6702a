package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/journal"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

func TestProgressLines(t *testing.T) {
	for want, p := range map[string]restart.Progress{
		"step 4/12 remove containers ...":                       {Step: "remove containers"},
		"step 4/12 remove containers: spark1 ok 1.2s":           {Step: "remove containers", Node: "spark1", Took: 1200 * time.Millisecond},
		"step 4/12 remove containers: spark2 ok 1m15s":          {Step: "remove containers", Node: "spark2", Took: 75 * time.Second},
		"step 4/12 commit: from here on it is in earnest":       {Step: "commit"},
		"step 4/12 checks: n2 FAILED after 0.0s: \u00a0no [31m": {Step: "checks", Node: "n2", Err: errors.New("\x1b\u00a0no \x1b[31m")},
	} {
		got := progressLine(p, 4, 12)
		if strings.ContainsAny(got, "\x1b\n") || got != strings.ReplaceAll(want, "\u00a0", " ") {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// stoppedTerminal takes no words, as after Ctrl-S.
type stoppedTerminal struct{ never chan struct{} }

func (s stoppedTerminal) Write([]byte) (int, error) { <-s.never; return 0, nil }

// A terminal that takes no more words holds no restart.
func TestAStoppedTerminalHoldsNothing(t *testing.T) {
	plan, err := restart.NewPlan(restart.Settings{Nodes: []string{"n1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{app: &app{out: stoppedTerminal{make(chan struct{})}}, plan: plan}
	a, err := s.watching(false, func(see func(restart.Progress)) (watchdog.Attempt, error) {
		for range 2 * shownLines {
			see(restart.Progress{Step: "checks", Node: "n1"})
		}
		return watchdog.Attempt{ID: 7}, nil
	})
	if a.ID != 7 || err != nil {
		t.Errorf("got %v, %v", a, err)
	}
}

// What is done from a shell is found under the unit it is about.
func TestJournalOfAPersonsCommand(t *testing.T) {
	var got string
	log := journalLogger(func(message string, p journal.Priority, fields map[string]string) error {
		got = fmt.Sprint(message, p, fields["EVENT"], fields["OBJECT_SYSTEMD_UNIT"], fields["SYSLOG_IDENTIFIER"])
		return nil
	})
	log.Warn().Str("event", "restart").Msg("RESTART begin")
	if want := fmt.Sprint("RESTART begin", journal.PriWarning, "restart", "cluster-watchdog.service", "cluster-watchdog"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
