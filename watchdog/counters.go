package watchdog

import "slices"

// movement is what two readings of the counters say together. Zero: nothing yet.
type movement int

const (
	counterUnknown movement = iota // nothing to compare with, or not far enough apart
	counterAbsent                  // no counters came
	counterFlat
	counterMoved
)

// readCounters compares this look's counters with each other and with the baseline of the same
// start of the head, and sets l.moved and l.stuck. A flat pair counts only when it is far enough
// apart; a lower value is a reset and compares with nothing (E12).
func (l *look) readCounters() {
	now := l.counters()
	if l.o.RanksOnly {
		return
	}
	if now == nil {
		l.moved = counterAbsent
		return
	}
	l.moved = counterUnknown
	base := l.next.Baseline
	known := base.Head == l.headStart() && base.Engines != nil
	apart := known && l.o.At.Since(base.At) >= l.p.Baseline
	if apart {
		l.stuck = stuckEngines(base.Engines, l.o.Before.Engines, now)
	}
	if compare(l.o.Before.Engines, l.o.After.Engines) == counterMoved {
		l.moved = counterMoved
		return
	}
	if !known {
		return
	}
	l.moved = compare(base.Engines, now)
	if l.moved == counterFlat && !apart {
		l.moved = counterUnknown
	}
}

// counters returns this look's newest reading, nil where there is none.
func (l *look) counters() []EngineCounter {
	for _, c := range []Counters{l.o.After, l.o.Before} {
		if c.Outcome == Answered && c.Status == 200 && len(c.Engines) > 0 {
			return c.Engines
		}
	}
	return nil
}

// keepCounters makes this look's counters the baseline of the next, and notes whether an answered
// canary has moved them. A baseline too young to be compared with stays, so that ticks in quick
// succession do not push it along for ever.
func (l *look) keepCounters() {
	now := l.counters()
	if l.o.RanksOnly || now == nil {
		return
	}
	l.next.Engine = l.engine()
	head := l.headStart()
	if l.r.Served && compare(l.o.Before.Engines, l.o.After.Engines) == counterMoved {
		l.next.Live = head
	}
	base := l.next.Baseline
	young := base.Head == head && l.o.At.Since(base.At) < l.p.Baseline
	if young && compare(base.Engines, now) == counterFlat {
		return
	}
	l.next.Baseline = Baseline{At: l.o.At, Head: head, Engines: slices.Clone(now)}
}

// compare says what happened from an earlier reading to a later one.
func compare(earlier, later []EngineCounter) movement {
	if len(earlier) == 0 || len(later) == 0 {
		return counterUnknown
	}
	result, compared := counterFlat, false
	for _, now := range later {
		i := slices.IndexFunc(earlier, func(e EngineCounter) bool { return e.Label == now.Label })
		if i < 0 {
			result = counterUnknown
			continue
		}
		was := earlier[i]
		for _, pair := range [][2]float64{{was.Iterations, now.Iterations}, {was.Prompt, now.Prompt}, {was.Generation, now.Generation}} {
			switch {
			case pair[0] < 0 || pair[1] < 0: // absent in one of them
			case pair[1] > pair[0]:
				return counterMoved
			case pair[1] < pair[0]:
				result = counterUnknown
			}
		}
		compared = compared || was.counts() // SGLang's engines may show what they hold, and count all together
	}
	if !compared {
		return counterUnknown
	}
	return result
}
