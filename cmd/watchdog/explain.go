package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/watchdog"
)

func explainCommand(a *app) *cobra.Command {
	var at, file string
	c := &cobra.Command{
		Use:   "explain [--at TIME] [--with FILE]",
		Short: "Why a look was judged as it was: what was known, what was seen, and each rule's answer",
		Long: `Why a look was judged as it was: what was known, what was seen, and each rule's answer.
It replays a look that was kept; those are kept whose phase or reason differs from the look before.
With --with it is judged by the windows and the budget of another config too. Nothing is changed.`,
		Example: `TIME is one of:
  15:04, 15:04:05            today, or yesterday where that is yet to come
  2006-01-02 15:04[:05]      that day, by the local clock
  2006-01-02T15:04:05Z       RFC 3339
  -2h, -90m                  so long ago`,
		RunE: func(*cobra.Command, []string) error {
			when, err := parseAt(at, time.Now())
			if err != nil {
				return usageError{err}
			}
			s, err := a.openMemory()
			if err != nil {
				return err
			}
			var other *Config
			if file != "" {
				c, err := loadConfig(file)
				if err != nil {
					return err
				}
				other = &c
			}
			return s.explain(when, file, other)
		},
	}
	c.Flags().StringVar(&at, "at", "", "the look at this `TIME` (default: the newest)")
	c.Flags().StringVar(&file, "with", "", "judge it by the config in this `FILE` too")
	return c
}

// explain replays the look that was kept last at that time; the newest where none is given.
func (s *session) explain(when time.Time, file string, other *Config) error {
	l, err := s.keptAt(when)
	if err != nil {
		return err
	}
	s.printKept(l)
	d := s.printJudged(l, s.policy)
	if said := d.Sentence(); l.row != nil && said != l.row.Sentence {
		fmt.Fprintf(s.out, "note: that look said otherwise: %s\n  the config or this program has changed since, or a record it was judged by was forgotten\n", plain(l.row.Sentence))
	}
	if other == nil {
		return nil
	}
	fmt.Fprintf(s.out, "\nwith %s:\n", plain(file))
	if e := s.printJudged(l, other.Policy(buildTime())); e.Action == d.Action && e.Reason == d.Reason {
		fmt.Fprintln(s.out, "the same as with the present config")
	}
	return nil
}

// printJudged judges a kept look once more and prints each rule's answer.
func (s *session) printJudged(l keptLook, p watchdog.Policy) watchdog.Decision {
	d, rulings := watchdog.Explain(l.policy(p), l.before.State, l.o)
	part := ""
	for _, r := range rulings {
		if r.Part != part {
			part = r.Part
			fmt.Fprintln(s.out, partTitle(part))
		}
		fmt.Fprintln(s.out, rulingLine(r, d))
	}
	if part != "gate" {
		fmt.Fprintln(s.out, "gate: nothing to forbid")
	}
	fmt.Fprintln(s.out, "→ "+plain(d.Sentence()))
	return d
}

func partTitle(part string) string {
	switch part {
	case "advance":
		return "advance, what is known now (all that apply):"
	case "judge":
		return "judge, what should be done (the first that fits):"
	default:
		return "gate, what may be done (the first that forbids):"
	}
}

// rulingLine marks the rules that applied; of the others it says why not.
func rulingLine(r watchdog.Ruling, d watchdog.Decision) string {
	mark := " "
	switch {
	case r.Applied && r.Part == "judge":
		mark, r.Words = ">", joinWords(d.Wanted.String(), r.Words)
	case r.Applied && r.Part == "gate":
		mark, r.Words = "x", joinWords("no", r.Words)
	case r.Applied:
		mark = "*"
	case r.Part == "advance":
		r.Words = "-"
	case r.Part == "gate":
		r.Words = joinWords("passes", r.Words)
	default:
		r.Words = joinWords("no", r.Words)
	}
	return fmt.Sprintf("  %s %-26s %s", mark, r.Rule, plain(r.Words))
}

func joinWords(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}
