package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// Sentence says what a tick concluded: phase, action, reason; and what is wrong with the head's clock.
func (d Decision) Sentence() string {
	if d.Reason == ReasonClock { // says it already
		return d.concluded()
	}
	return joinDoubt(d.concluded(), d.Clock)
}

func (d Decision) concluded() string {
	why := joinWords(d.Why.String(), d.whyDetail())
	switch {
	case d.Action == ActLookAgain:
		return fmt.Sprintf("%s (phase=%s) → looking again", d.Detail, d.Next.Phase)
	case d.Action != ActNone:
		return fmt.Sprintf("%s (phase=%s) → %s%s", d.Why, d.Next.Phase, d.Action, colon(d.Detail))
	case d.Wanted != ActNone && d.Reason == ReasonBudget:
		return fmt.Sprintf("%s → GIVEN_UP: %s", why, joinWords(d.Reason.String(), d.Detail))
	case d.Wanted != ActNone:
		return fmt.Sprintf("phase=%s would %s (%s): %s", d.Next.Phase, d.Wanted, why, joinWords(d.Reason.String(), d.Detail))
	}
	if d.Reason == ReasonServed && d.Detail != "" { // served, and yet something cannot be told
		return fmt.Sprintf("phase=%s %s; %s", d.Next.Phase, d.Reason, d.Detail)
	}
	return fmt.Sprintf("phase=%s %s", d.Next.Phase, joinWords(d.Reason.String(), d.Detail))
}

// whyDetail returns the facts behind the rule that wanted something.
func (d Decision) whyDetail() string {
	if d.Reason == d.Why {
		return d.Detail
	}
	if s := d.Next.Strikes; len(s) > 0 {
		return s[0].What
	}
	return ""
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// colonAfter puts b behind a; without b there is nothing to say.
func colonAfter(a, b string) string {
	if b == "" {
		return ""
	}
	return a + ": " + b
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func joinWords(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}

// tooLong is longer than anything we know of can have taken: some clock was wrong.
const (
	tooLong  = 10 * 365 * 24 * time.Hour
	manyDays = 30 * 24 * time.Hour
)

// Brief prints a duration as sentences here say it.
func Brief(d time.Duration) string { return brief(d) }

// brief prints a duration as people say it: seconds below two minutes, minutes below two hours.
func brief(d time.Duration) string {
	switch {
	case d >= tooLong:
		return fmt.Sprintf("%.0f years", d.Hours()/24/365.25)
	case d >= manyDays:
		return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Round(time.Second)/time.Second))
	case d < 2*time.Hour:
		return trimZeros(d.Round(time.Second))
	default:
		return trimZeros(d.Round(time.Minute))
	}
}

// trimZeros prints 6h0m0s as 6h and 2m0s as 2m.
func trimZeros(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func flagWords(f Flag) string {
	s := "by " + f.Who
	if f.Who == "" {
		s = "by the flag file"
	}
	if f.Err != "" {
		s += ", which cannot be read: " + f.Err
	}
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	if !f.Until.IsZero() {
		s += ", until " + f.Until.Local().Format("2006-01-02 15:04:05")
	}
	return s
}

// BudgetWords says how much of the budget is used and until when: "restart 2/2 in 6h until 09:02".
func (p Policy) BudgetWords(s State, now Clock) string {
	used := p.Used(s, now)
	words := fmt.Sprintf("restart %d/%d in %s", used, p.BudgetCount, brief(p.BudgetWindow))
	if used < p.BudgetCount {
		return words
	}
	for _, a := range s.Attempts { // the oldest counted one frees the first place
		if p.uses(a, s, now) {
			free := now.Wall.Add(p.BudgetWindow - p.launchedAgo(a, s, now))
			return words + " until " + free.Local().Format("15:04") + "; `cluster-watchdog reset --reason` refills"
		}
	}
	return words
}

// strikeWords lists the streaks as fractions.
func (l *look) strikeWords() string {
	var all []string
	for _, s := range l.next.Strikes {
		all = append(all, l.failingWords(s))
	}
	return strings.Join(all, "; ")
}

// failingWords says how far a streak is: "rank 2 (n3) exited 1 (failing 1/2)".
func (l *look) failingWords(s Strike) string {
	r := l.rule(s)
	w := fmt.Sprintf("%s (failing %d/%d", s.What, min(s.Looks, r.Looks), r.Looks)
	if r.Over > 0 {
		w += fmt.Sprintf(" over %s/%s", brief(s.Last.Since(s.First)), brief(r.Over))
	}
	return w + ")"
}

// suffix adds the streaks to a sentence where there are any.
func (l *look) suffix() string {
	if len(l.next.Strikes) == 0 {
		return ""
	}
	return ", " + l.strikeWords()
}

// excuse says why the completions of this look tell nothing, where a person can mend that.
func (l *look) excuse() string {
	switch l.r.Progress.Cause {
	case CauseMisconfigured, CauseAsleep:
		return "; " + l.r.Progress.What
	default:
		return ""
	}
}

func joinDoubt(s, doubt string) string {
	if doubt == "" {
		return s
	}
	return s + "; " + doubt
}

// doubts says what could not be told.
func (l *look) doubts() string {
	if why := l.o.interrupted(); why != "" {
		return why
	}
	var all []string
	for _, v := range []Verdict{l.r.Rank, l.r.Progress} {
		if v.Reading == Unknown && v.What != "" {
			all = append(all, v.What)
		}
	}
	return strings.Join(all, "; ")
}

func (l *look) resumeWords(a Attempt) string {
	s := fmt.Sprintf("attempt %d goes on after step %s", a.ID, a.Step)
	if a.Error != "" {
		s += ", waiting for: " + a.Error
	}
	return s
}
