package watchdog

import "slices"

// strikes counts this look's Failing terms. A streak ends with a Healthy or Busy reading of its
// term, or when its last strike is too old; Unknown neither adds to it nor clears it. Only the
// terms of the present phase are counted: before a boot's limit its silence means nothing.
func (l *look) strikes() {
	n := &l.next
	n.Strikes = slices.DeleteFunc(n.Strikes, func(s Strike) bool { return l.o.At.Since(s.Last) > l.p.StrikeVoid })
	l.saidDead()
	for _, v := range l.judged() {
		switch v.Reading {
		case Healthy, Busy:
			n.Strikes = slices.DeleteFunc(n.Strikes, func(s Strike) bool { return s.Term == v.Term })
		case Failing:
			if !l.first && !l.r.Served {
				l.openIncident(v)
				l.strike(v)
			}
		}
	}
}

// judged returns the readings that count in the present phase.
func (l *look) judged() []Verdict {
	switch l.next.Phase {
	case Booting:
		return []Verdict{l.r.Rank, l.r.Boot}
	case Serving:
		return []Verdict{l.r.Rank, l.r.Engine, l.r.Progress}
	default:
		return nil
	}
}

// strike adds one Failing look to its term's streak, unless the last one is too near.
func (l *look) strike(v Verdict) {
	n := &l.next
	i := slices.IndexFunc(n.Strikes, func(s Strike) bool { return s.Term == v.Term })
	if i < 0 {
		first := l.firstStrike(v)
		if v.Term == TermEngine && l.moved != counterAbsent && !n.SaidDead.IsZero() {
			first.First, first.Last = n.SaidDead, n.SaidDead
		}
		i = len(n.Strikes)
		n.Strikes = append(n.Strikes, first)
		if n.Phase == Booting && v.Term == TermRank && l.o.At.Since(n.Since) < l.p.EarlyDeath {
			n.EarlyDeath = l.o.At
		}
	}
	s := &n.Strikes[i]
	if s.Stuck != nil && v.Stuck != nil && len(common(s.Stuck, v.Stuck)) == 0 { // other engines than before: each may be slow once
		*s = l.firstStrike(v)
		return
	}
	s.stillStuck(v)
	s.Cause, s.What = v.Cause, v.What
	s.Blind = s.Blind || v.Blind
	if !l.o.At.Equal(s.Last) && l.o.At.Since(s.Last) >= l.rule(*s).Apart {
		s.Looks++
		s.Last = l.o.At
	}
}

func (l *look) firstStrike(v Verdict) Strike {
	return Strike{Term: v.Term, First: l.o.At, Last: l.o.At, Looks: 1, Blind: v.Blind, Stuck: v.Stuck, Cause: v.Cause, What: v.What}
}

// stillStuck keeps the engines that stood still in every look that could tell.
func (s *Strike) stillStuck(v Verdict) {
	switch {
	case s.Stuck == nil:
		s.Stuck = v.Stuck
	case v.Stuck != nil:
		s.Stuck = common(s.Stuck, v.Stuck)
	}
}

// saidDead remembers a look at which the engine called itself dead while counters had moved since the
// look before: it may have died after they did. Such a look may begin a streak, never lengthen one.
func (l *look) saidDead() {
	v := l.r.Engine
	switch {
	case v.Cause == CauseMoving && !l.first && !l.r.Served:
		l.next.SaidDead = l.o.At
	case v.Reading == Healthy || l.o.At.Since(l.next.SaidDead) > l.p.StrikeVoid:
		l.next.SaidDead = Clock{}
	}
}

// rule returns what the streak needs to be complete.
func (l *look) rule(s Strike) Rule {
	switch s.Term {
	case TermRank:
		return l.p.Dead
	case TermEngine:
		return l.p.EngineDead
	case TermBoot:
		return l.p.BootOver
	default:
		if s.Blind {
			return l.p.NoProgressBlind
		}
		return l.p.NoProgress
	}
}

// complete says whether the streak has what its rule needs.
func (l *look) complete(s Strike) bool {
	r := l.rule(s)
	return s.Looks >= r.Looks && s.Last.Since(s.First) >= r.Over
}

// openIncident opens one with the first Failing look.
func (l *look) openIncident(v Verdict) {
	if l.next.Incident != nil {
		return
	}
	l.next.Incidents++
	l.next.Incident = &Incident{ID: l.next.Incidents, Opened: l.o.At, Served: l.next.Served, What: v.What}
}
