package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/watchdog"
)

// happening is one line of history: something that changed, something that a person did, or an attempt.
type happening struct {
	At      time.Time         `json:"at"`
	Kind    string            `json:"kind"`
	Who     string            `json:"who,omitempty"` // empty: the watchdog
	Text    string            `json:"text,omitempty"`
	Attempt *watchdog.Attempt `json:"attempt,omitempty"`

	clock watchdog.Clock
}

// The kinds of attempts.
const (
	kindRestart = "restart"
	kindStop    = "stop"
)

// historyLines is how much is shown unless asked for.
const historyLines = 50

func historyCommand(a *app) *cobra.Command {
	var asJSON bool
	var lines int
	c := &cobra.Command{
		Use:   "history [ID] [--lines N] [--json]",
		Short: "Phases, attempts, and who did what, newest last; with an ID all of that attempt",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id := 0
			if len(args) > 0 {
				var err error
				if id, err = strconv.Atoi(args[0]); err != nil || id < 1 {
					return usageError{fmt.Errorf("cannot show attempt %q: an ID is a number, as `cluster-watchdog history` shows them", plain(args[0]))}
				}
			}
			if lines < 1 {
				return usageError{fmt.Errorf("cannot show %d lines: give a number above 0", lines)}
			}
			s, err := a.openMemory()
			if err != nil {
				return err
			}
			if id > 0 {
				return s.historyOf(id, asJSON)
			}
			return s.history(lines, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	c.Flags().IntVarP(&lines, "lines", "n", historyLines, "the newest `N`")
	return c
}

func (s *session) history(lines int, asJSON bool) error {
	entries, err := s.entries()
	if err != nil {
		return err
	}
	entries = entries[max(0, len(entries)-lines):]
	if asJSON {
		return s.printJSON(entries)
	}
	if len(entries) == 0 {
		fmt.Fprintln(s.out, "nothing has happened yet")
	}
	for i, e := range entries {
		if i > 0 {
			if line := clockLine(entries[i-1].clock, e.clock); line != "" {
				fmt.Fprintln(s.out, line)
			}
		}
		fmt.Fprintln(s.out, entryLine(e))
	}
	return nil
}

func (s *session) printJSON(value any) error {
	e := json.NewEncoder(s.out)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// entries are the deeds and the attempts as they happened, newest last. It is read without the lock.
func (s *session) entries() ([]happening, error) {
	st, damage, err := s.load()
	switch {
	case err != nil:
		return nil, err
	case damage != nil:
		return nil, damage
	}
	deeds, err := s.past.Deeds()
	if err != nil {
		return nil, err
	}
	done, tried := []happening{}, []happening{}
	for _, d := range deeds {
		done = append(done, happening{At: d.At.Wall, Kind: d.Kind, Who: d.Who, Text: d.Text, clock: d.At})
	}
	for i := range st.Attempts {
		tried = append(tried, attemptEntry(&st.Attempts[i]))
	}
	return inOrder(done, tried), nil
}

func attemptEntry(a *watchdog.Attempt) happening {
	kind := kindRestart
	if a.Stop {
		kind = kindStop
	}
	return happening{At: a.Started.Wall, Kind: kind, Who: a.By, Attempt: a, clock: a.Started}
}

// entryLine is one line for people; times are local.
func entryLine(e happening) string {
	line := fmt.Sprintf("%s  %-9s ", dateWords(e.At), e.Kind)
	if e.Attempt != nil {
		return line + attemptLine(*e.Attempt)
	}
	text := plain(e.Text)
	if e.Who == "" {
		return line + text
	}
	if text == "" {
		return line + "by " + plain(e.Who)
	}
	return line + "by " + plain(e.Who) + ": " + text
}

// attemptLine says of one attempt what there is to say in a line.
func attemptLine(a watchdog.Attempt) string {
	text := fmt.Sprintf("%d: ", a.ID)
	if a.By != "" {
		text += "by " + plain(a.By) + ": "
	}
	text += plain(a.Why) + " → " + a.Outcome.String()
	switch a.Outcome {
	case watchdog.OutcomeLaunched, watchdog.OutcomeStopped, watchdog.OutcomeRecovered:
		text += " in " + tookWords(a.Ended.Since(a.Started))
	default:
		if a.Step != "" {
			text += fmt.Sprintf(" in step %q", a.Step)
		}
	}
	if a.Tries > 1 {
		text += fmt.Sprintf(", try %d", a.Tries)
	}
	if a.Counted() {
		text += ", counted"
	}
	if a.Error != "" {
		text += ": " + plain(a.Error)
	}
	return text
}
