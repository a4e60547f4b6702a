package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// keptLook is one look that can be judged again.
type keptLook struct {
	number uint64
	o      watchdog.Observation
	before state.Before
	row    *state.Row // nil: forgotten since
	asked  *state.Row // the look that was asked for, where it is a later one that was not kept
}

// policy is p as if it had been the config of that look: only its windows and its budget count, or
// another config would make it a first look.
func (l keptLook) policy(p watchdog.Policy) watchdog.Policy {
	p.Config, p.Identity = l.before.Config, l.before.Identity
	if age := p.Built.Sub(l.o.At.Wall); age > 0 && age < p.ClockFuture { // this program is newer than the look, which is not of 1970
		p.Built = time.Time{}
	}
	return p
}

// rowsLooked is more rows than are ever kept.
const rowsLooked = 1 << 20

// keptAt returns the look that was kept last at that time or before it; at the zero time the newest.
func (s *session) keptAt(when time.Time) (keptLook, error) {
	numbers, err := s.past.Kept()
	if err != nil {
		return keptLook{}, err
	}
	rows, err := s.past.Rows(rowsLooked)
	if err != nil {
		return keptLook{}, err
	}
	changes, err := s.past.ChangesBetween(time.Time{}, endOfTime)
	if err != nil {
		return keptLook{}, err
	}
	asked := rowAt(slices.Concat(changes, rows), when)
	after := sort.Search(len(numbers), func(i int) bool { return numbers[i] > asked })
	if after == 0 {
		return keptLook{}, s.nothingKept(when, numbers)
	}
	return s.kept(numbers[after-1], asked, rows)
}

var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// rowAt returns the number of the look that the head's clock puts last at that time or before it: where it
// was set back, times come twice and the later look is meant. 0: there is none; at the zero time the newest.
func rowAt(rows []state.Row, when time.Time) uint64 {
	var best state.Row
	for _, r := range rows {
		if later := r.At.Wall.Compare(best.At.Wall); when.IsZero() && r.Number > best.Number ||
			!when.IsZero() && !r.At.Wall.After(when) && (best.Number == 0 || later > 0 || later == 0 && r.Number > best.Number) {
			best = r
		}
	}
	return best.Number
}

func (s *session) kept(number, asked uint64, rows []state.Row) (keptLook, error) {
	l := keptLook{number: number}
	o, err := s.past.Observation(number)
	if err != nil {
		return l, err
	}
	before, err := s.past.Before(number)
	switch {
	case err != nil:
		return l, err
	case o == nil || before == nil:
		return l, fmt.Errorf("cannot explain the look of %s: what it was judged by was not kept: choose a later one", dateOfKept(o))
	}
	l.o, l.before = *o, *before
	for i, r := range rows {
		if r.Number == number {
			l.row = &rows[i]
		}
		if r.Number == asked && asked > number {
			l.asked = &rows[i]
		}
	}
	return l, nil
}

func dateOfKept(o *watchdog.Observation) string {
	if o == nil {
		return "then"
	}
	return dateWords(o.At.Wall)
}

// nothingKept says what there is instead.
func (s *session) nothingKept(when time.Time, numbers []uint64) error {
	if len(numbers) == 0 || when.IsZero() {
		return fmt.Errorf("cannot explain anything: no look is kept yet")
	}
	var there []string
	for _, n := range numbers[:min(len(numbers), 5)] {
		if o, err := s.past.Observation(n); err == nil && o != nil {
			there = append(there, dateWords(o.At.Wall))
		}
	}
	return fmt.Errorf("cannot explain %s: no look is kept from then or before; the oldest are of %s; `cluster-watchdog history` shows when something changed",
		dateWords(when), strings.Join(there, ", "))
}

// printKept says which look this is, what was known before it and what it saw.
func (s *session) printKept(l keptLook) {
	fmt.Fprintf(s.out, "the look of %s", dateWords(l.o.At.Wall))
	if l.o.RanksOnly {
		fmt.Fprint(s.out, " (the second of its tick: ranks only)")
	}
	fmt.Fprintln(s.out)
	if r := l.asked; r != nil {
		fmt.Fprintf(s.out, "  asked for was the look of %s, of the same phase and reason: %s\n", dateWords(r.At.Wall), plain(r.Sentence))
	}
	st := l.before.State
	fmt.Fprintf(s.out, "known before: phase %s", st.Phase)
	if !st.Since.IsZero() {
		fmt.Fprintf(s.out, " since %s", dateWords(st.Since.Wall))
	}
	if !st.Last.IsZero() {
		fmt.Fprintf(s.out, ", last look %s before", tookWords(l.o.At.Since(st.Last)))
	}
	if st.Arm != nil {
		fmt.Fprintf(s.out, ", armed by %s", plain(st.Arm.Who))
	}
	fmt.Fprintf(s.out, ", %s\n", s.policy.BudgetWords(st, l.o.At))
	fmt.Fprintln(s.out, "seen:")
	for i, r := range l.o.Ranks {
		fmt.Fprintf(s.out, "  rank %d (%s) %s\n", i, r.Node, plain(rankWords(r)))
	}
	if !l.o.RanksOnly {
		fmt.Fprintf(s.out, "  /health %s, canary %s, counters %s\n", httpWords(l.o.Health), canaryWords(l.o.Canary), httpWords(l.o.After.HTTP))
	}
	if l.o.Flag.Present {
		fmt.Fprintf(s.out, "  disarmed by %s: %s\n", plain(orFlagFile(l.o.Flag.Who)), plain(flagText(l.o.Flag)))
	}
}

func rankWords(r watchdog.Rank) string {
	switch c := r.Container; {
	case !r.DockerAnswered():
		return "cannot be asked: " + r.Err
	case c == nil:
		return "has no container"
	case c.Running():
		return fmt.Sprintf("runs, container %.12s", c.ID)
	default:
		return fmt.Sprintf("%s, exit code %d, container %.12s", c.Status, c.ExitCode, c.ID)
	}
}

// httpWords says how far a request got.
func httpWords(h watchdog.HTTP) string {
	switch h.Outcome {
	case watchdog.NotAsked:
		return "not asked"
	case watchdog.Answered:
		return fmt.Sprintf("answered %d in %s", h.Status, tookWords(h.Took))
	case watchdog.Refused:
		return "refused"
	case watchdog.ConnectTimeout:
		return "found no connection"
	case watchdog.Unanswered:
		return "unanswered after " + tookWords(h.Took)
	case watchdog.Dropped:
		return "dropped"
	default:
		return joinWords("cannot be asked", plain(h.Err))
	}
}

func canaryWords(c watchdog.Canary) string {
	if c.Served() {
		return "served in " + tookWords(c.Took)
	}
	return httpWords(c.HTTP)
}
