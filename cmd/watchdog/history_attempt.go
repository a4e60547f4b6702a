package main

import (
	"fmt"
	"path/filepath"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// historyOf shows all that is known of one attempt.
func (s *session) historyOf(id int, asJSON bool) error {
	entries, err := s.entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Attempt == nil || e.Attempt.ID != id {
			continue
		}
		if asJSON {
			return s.printJSON(e)
		}
		s.printAttempt(*e.Attempt)
		return nil
	}
	return fmt.Errorf("cannot show attempt %d: it is not known, or was forgotten: see `cluster-watchdog history`", id)
}

func (s *session) printAttempt(a watchdog.Attempt) {
	p := func(name, format string, args ...any) {
		fmt.Fprintf(s.out, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	at := func(name string, c watchdog.Clock) {
		if !c.IsZero() {
			p(name, "%s, %s after the start", dateWords(c.Wall), tookWords(c.Since(a.Started)))
		}
	}
	p("attempt", "%s", attemptLine(a))
	if a.By != "" {
		p("by", "%s, not counted", plain(a.By))
	} else {
		p("by", "the watchdog, %s", map[bool]string{true: "counted", false: "not counted"}[a.Counted()])
	}
	p("why", "%s", plain(a.Why))
	p("started", "%s", dateWords(a.Started.Wall))
	at("committed", a.Committed)
	at("launching", a.Launching)
	at("ended", a.Ended)
	p("outcome", "%s, last step %q, try %d", a.Outcome, a.Step, a.Tries)
	if a.Error != "" {
		p("error", "%s", plain(a.Error))
	}
	for rank, id := range a.Destroy {
		if id != "" {
			p("removes", "rank %d (%s): container %.12s", rank, s.nodeName(rank), id)
		}
	}
	for _, l := range a.Launched {
		p("launched", "rank %d (%s): container %.12s, started %s", l.Rank, s.nodeName(l.Rank), l.ID, plain(l.StartedAt))
	}
	for rank, free := range a.MemFree {
		if free > 0 {
			p("memory", "rank %d (%s): %s free before the launch", rank, s.nodeName(rank), Size(free))
		}
	}
	if logs, _ := filepath.Glob(filepath.Join(s.caseOf(a), "*.gz")); len(logs) > 0 {
		p("logs", "%s", s.caseOf(a))
	}
}

func (s *session) caseOf(a watchdog.Attempt) string {
	return filepath.Join(s.config.CasesDir(), restart.CaseName(a.Incident))
}

// nodeName is the node of a rank by today's config.
func (s *session) nodeName(rank int) string {
	if rank < len(s.config.Nodes) {
		return s.config.Nodes[rank].Name
	}
	return "?"
}
