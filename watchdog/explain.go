package watchdog

import "fmt"

// Ruling is what one rule said of a look.
type Ruling struct {
	Part    string `json:"part"` // advance, judge or gate
	Rule    string `json:"rule"`
	Applied bool   `json:"applied"` // in advance: it changed what is known; else: it answered, and those after it were not asked
	Words   string `json:"words"`
}

// The parts of a decision.
const (
	partAdvance = "advance"
	partJudge   = "judge"
	partGate    = "gate"
)

// Explain is Decide, and says what each rule said on the way.
func Explain(p Policy, s State, o Observation) (Decision, []Ruling) {
	l := newLook(p, s, o)
	l.trail = &[]Ruling{}
	d := l.decide()
	return d, *l.trail
}

// passed notes that a rule was asked and did not answer. The words are made only for Explain.
func (l *look) passed(rule string, why func() string) {
	if l.trail == nil {
		return
	}
	*l.trail = append(*l.trail, Ruling{Part: l.asking(), Rule: rule, Words: why()})
}

// answered notes the rule that did.
func (l *look) answered(part string, r Reason, detail string) {
	if l.trail != nil {
		*l.trail = append(*l.trail, Ruling{Part: part, Rule: r.String(), Applied: true, Words: detail})
	}
}

// asking returns the part whose rules are asked now: the gate comes after judge's answer.
func (l *look) asking() string {
	if n := len(*l.trail); n > 0 && ((*l.trail)[n-1].Part == partGate || ((*l.trail)[n-1].Part == partJudge && (*l.trail)[n-1].Applied)) {
		return partGate
	}
	return partJudge
}

// notFailed notes how far the streak of a term is from what its rule needs.
func (l *look) notFailed(t Term) {
	l.passed(t.String(), func() string {
		s, found := l.streak(t)
		now := l.verdict(t)
		words := orElse(now.What, now.Reading.String())
		switch {
		case !found:
			return "no strike: " + words
		case !l.complete(s):
			return l.failingWords(s)
		default:
			return fmt.Sprintf("%s, but now it reads %s", l.failingWords(s), now.Reading)
		}
	})
}

func (l *look) notServed() string {
	return orElse(l.r.Progress.What, "no completion was asked for in this look")
}

func (l *look) notOpen() string {
	a := l.last()
	switch {
	case a == nil:
		return "there was no attempt yet"
	case a.Stop:
		return fmt.Sprintf("attempt %d was a stop", a.ID)
	case a.Committed.IsZero():
		return fmt.Sprintf("attempt %d has touched nothing", a.ID)
	case !a.Launching.IsZero():
		return fmt.Sprintf("attempt %d reached its launch", a.ID)
	default:
		return fmt.Sprintf("attempt %d was closed by a completion, a person's start, arm or reset", a.ID)
	}
}

func (l *look) notWished() string {
	switch {
	case l.prev.Arm == nil || !l.prev.Arm.Launch:
		return "nobody asked for one"
	case l.mayRun():
		return "a rank runs"
	default:
		return "fulfilled, or older than what is known"
	}
}

func (l *look) clockWords() string { return "can be believed" }
func (l *look) phaseWords() string { return "phase " + l.next.Phase.String() }
func (l *look) notFirst() string {
	return "looked " + brief(l.o.At.Since(l.prev.Last)) + " before, in the same boot, with the same config"
}

func (l *look) armedWords() string {
	words := "armed by " + l.prev.Arm.Who
	if l.flagEnded() {
		words += "; the disarm is over"
	}
	return words
}

func (l *look) noGrace() string {
	if l.next.Grace != nil {
		return "holds no such action: " + l.next.Grace.Why
	}
	return "nobody has stopped or started a rank"
}
