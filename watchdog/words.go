package watchdog

import (
	"fmt"
	"strings"
	"time"
)

func (p Phase) String() string {
	switch p {
	case None:
		return "NONE"
	case Booting:
		return "BOOTING"
	case Serving:
		return "SERVING"
	case GivenUp:
		return "GIVEN_UP"
	}
	return fmt.Sprintf("internal error: phase %d", int(p))
}

func (a Action) String() string {
	switch a {
	case ActNone:
		return "none"
	case ActLookAgain:
		return "look again"
	case ActRestart:
		return "restart"
	case ActLaunch:
		return "launch"
	case ActResume:
		return "resume"
	}
	return fmt.Sprintf("internal error: action %d", int(a))
}

func (r Reading) String() string {
	switch r {
	case Unknown:
		return "unknown"
	case Healthy:
		return "healthy"
	case Busy:
		return "busy"
	case Failing:
		return "failing"
	}
	return fmt.Sprintf("internal error: reading %d", int(r))
}

func (o AttemptOutcome) String() string {
	switch o {
	case OutcomeNone:
		return "unfinished"
	case OutcomeLaunched:
		return "launched"
	case OutcomeRefused:
		return "refused"
	case OutcomeBroken:
		return "broken"
	case OutcomeLaunchFailed:
		return "launch failed"
	case OutcomeSwitch:
		return "ended by the switch"
	case OutcomeInterrupted:
		return "interrupted"
	case OutcomeRecovered:
		return "served meanwhile"
	}
	return fmt.Sprintf("internal error: outcome %d", int(o))
}

func (r Reach) String() string {
	words := [...]string{"not asked", "ok", "connection refused", "timeout", "connects, but no SSH banner",
		"closed during the handshake", "host key", "authentication", "connection dropped", "denied", "error"}
	if int(r) < len(words) && r >= 0 {
		return words[r]
	}
	return fmt.Sprintf("internal error: reach %d", int(r))
}

func (k NoticeKind) String() string {
	words := [...]string{"", "restart", "launched", "serving", "refused", "gave-up", "set-aside", "person", "trouble"}
	if int(k) < len(words) && k > 0 {
		return words[k]
	}
	return fmt.Sprintf("internal error: notice %d", int(k))
}

// Sentence says what a tick concluded: phase, action, reason.
func (d Decision) Sentence() string {
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

func joinWords(a, b string) string {
	if b == "" {
		return a
	}
	return a + ": " + b
}

// brief prints a duration as people say it: seconds below two minutes, minutes below two hours.
func brief(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Round(time.Second)/time.Second))
	case d < 2*time.Hour:
		return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
	default:
		return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "0m")
	}
}

func flagWords(f Flag) string {
	s := "by " + f.Who
	if f.Who == "" {
		s = "by the flag file"
	}
	if f.Reason != "" {
		s += ": " + f.Reason
	}
	if !f.Until.IsZero() {
		s += ", until " + f.Until.Format("2006-01-02 15:04")
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
		if a.Counted() && now.Since(a.Launching) < p.BudgetWindow && (s.Reset.IsZero() || a.Launching.After(s.Reset)) {
			free := now.Wall.Add(p.BudgetWindow - now.Since(a.Launching))
			return words + " until " + free.Format("15:04") + "; `watchdog reset --reason` refills"
		}
	}
	return words
}

// strikeWords lists the streaks as fractions.
func (l *look) strikeWords() string {
	var all []string
	for _, s := range l.next.Strikes {
		r := l.rule(s)
		w := fmt.Sprintf("%s (failing %d/%d", s.What, s.Looks, r.Looks)
		if r.Over > 0 {
			w += fmt.Sprintf(" over %s/%s", brief(s.Last.Since(s.First)), brief(r.Over))
		}
		all = append(all, w+")")
	}
	return strings.Join(all, "; ")
}

// suffix adds the streaks to a sentence where there are any.
func (l *look) suffix() string {
	if len(l.next.Strikes) == 0 {
		return ""
	}
	return ", " + l.strikeWords()
}

// doubts says what could not be told.
func (l *look) doubts() string {
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
