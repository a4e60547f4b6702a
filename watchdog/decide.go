package watchdog

// Decide is the judgement: a function of the policy, of what is known and of what one look saw. It
// reads no clock, does no I/O, and changes none of its arguments. Its three parts are advance (what
// is known now), judge (what should be done) and gate (what may be done).
func Decide(p Policy, s State, o Observation) Decision {
	l := &look{p: p, o: o, prev: s, next: s.clone()}
	l.advance()
	action, reason, detail := l.judge()
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
	first   bool   // this look only looks
	clock   string // why the wall clock cannot be believed; "" where it can
	notices []Notice
}

// last returns the newest attempt, nil where there was none.
func (l *look) last() *Attempt {
	if len(l.prev.Attempts) == 0 {
		return nil
	}
	return &l.prev.Attempts[len(l.prev.Attempts)-1]
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
