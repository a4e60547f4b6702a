package watchdog

import "slices"

// Decide is the judgement: a function of the policy, of what is known and of what one look saw. It
// reads no clock, does no I/O, and changes none of its arguments. Its three parts are advance (what
// is known now), judge (what should be done) and gate (what may be done).
func Decide(p Policy, s State, o Observation) Decision {
	return newLook(p, s, o).decide()
}

func newLook(p Policy, s State, o Observation) *look {
	return &look{p: p, o: o.believed(), prev: s, next: s.clone()}
}

func (l *look) decide() Decision {
	l.advance()
	action, reason, detail := l.judge()
	l.answered(partJudge, reason, detail)
	return l.gate(action, reason, detail)
}

// look is one call of Decide at work.
type look struct {
	p       Policy
	o       Observation
	prev    State // as loaded
	next    State // as it will be saved
	r       Readings
	moved   movement
	stuck   []string // labels of the engines that stand still with requests in hand
	first   bool     // this look only looks
	clock   string   // why the wall clock cannot be believed; "" where it can
	notices []Notice
	trail   *[]Ruling // what Explain wants to know; nil: nobody asks
}

// last returns the newest attempt, nil where there was none.
func (l *look) last() *Attempt {
	if len(l.prev.Attempts) == 0 {
		return nil
	}
	return &l.prev.Attempts[len(l.prev.Attempts)-1]
}

// launch returns the newest attempt that reached its launch, nil where none has. One that a person
// asked for since and that was refused does not hide it.
func (l *look) launch() *Attempt {
	for i := len(l.prev.Attempts) - 1; i >= 0; i-- {
		if a := &l.prev.Attempts[i]; !a.Launching.IsZero() {
			return a
		}
	}
	return nil
}

// forget lets a notice be told again.
func (l *look) forget(key string) {
	l.next.Told = slices.DeleteFunc(l.next.Told, func(told string) bool { return told == key })
}

// tell adds a notice. One with a key is told once until the incident closes.
func (l *look) tell(kind NoticeKind, key, text string) {
	if key != "" {
		for _, told := range l.next.Told {
			if told == key {
				return
			}
		}
		l.next.Told = append(l.next.Told, key)
	}
	l.notices = append(l.notices, Notice{Kind: kind, Text: text, Key: key})
}
