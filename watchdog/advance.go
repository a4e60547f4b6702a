package watchdog

import "time"

// advancing is what brings the known up to a look. All that apply, in this order; a served
// completion beats everything else seen in the same look.
var advancing = []struct {
	rule string
	do   func(*look)
}{
	{"look first", (*look).lookFirst},
	{"doubt the clock", (*look).doubtClock},
	{"a stop of ours", (*look).adoptStop},
	{"a launch of ours", (*look).adoptLaunch},
	{"a reset", (*look).takeReset},
	{"a person's stop", (*look).personsStop},
	{"a new start", (*look).newStart},
	{"unwatched time", (*look).unwatched},
	{"counters", (*look).readCounters},
	{"readings", (*look).read},
	{"strikes", (*look).strikes},
	{"good news", (*look).goodNews},
	{"baseline of the counters", (*look).keepCounters},
	{"busy for long", (*look).busyFor},
	{"refused keys", (*look).refusals},
	{"no node can be asked", (*look).tellBlind},
	{"a paused rank", (*look).tellPaused},
	{"a second actor", (*look).tellSecondActor},
	{"the end of a disarm", (*look).tellStays},
	{"the head's clock", (*look).tellClock},
}

// advance brings what is known up to this look.
func (l *look) advance() {
	for _, a := range advancing {
		before := l.snapshot()
		a.do(l)
		l.advanced(a.rule, before)
	}
	l.next.Last = l.o.At
	l.next.Config, l.next.Identity = l.p.Config, l.p.Identity
	l.next.Flag = l.o.Flag
}

// lookFirst makes this look a first one after any gap in knowledge: nothing seen before it may
// count against the group, and nothing is judged in it.
func (l *look) lookFirst() {
	s := l.prev
	l.first = s.Last.IsZero() ||
		s.Last.BootID != l.o.At.BootID ||
		l.o.At.Since(s.Last) > l.p.Gap || l.o.interrupted() != "" ||
		s.Config != l.p.Config || s.Identity != l.p.Identity ||
		(s.Arm != nil && l.o.At.Later(s.Arm.At, s.Last))
	if l.first {
		l.next.Strikes, l.next.SaidDead = nil, Clock{}
	}
	if s.Identity != "" && s.Identity != l.p.Identity { // other nodes or containers: nothing known of them
		since := l.o.At
		if s.Arm != nil && l.o.At.Later(s.Arm.At, s.Last) { // armed for what this look is the first at
			since = s.Arm.At
		}
		l.next = State{Since: since, Seen: l.o.At, Incidents: s.Incidents, Earlier: s.Earlier, ClockDoubt: s.ClockDoubt, Began: s.Began,
			Attempts: s.Attempts, Arm: s.Arm, Reset: s.Reset, LastGood: s.LastGood}
	}
	if g := l.next.Grace; g != nil && l.o.At.Since(g.From) >= l.p.Grace {
		l.next.Grace = nil
	}
	for len(l.next.Ranks) < len(l.o.Ranks) {
		l.next.Ranks = append(l.next.Ranks, Known{})
	}
	l.next.Ranks = l.next.Ranks[:len(l.o.Ranks)]
}

// adoptLaunch reads a launch of ours that was recorded after the phase was set as a boot since
// then. A tick killed in the middle of a restart therefore needs no code of its own.
func (l *look) adoptLaunch() {
	a := l.launch()
	if a == nil || a.ID == l.next.Adopted || !l.o.At.Later(a.Launching, l.next.Seen) {
		return
	}
	l.next.Adopted = a.ID // once: across two boots of the head a wrong clock may call it later for ever
	l.boot(a.Launching)
	l.newGroup()
	for _, started := range a.Launched {
		if started.Rank < len(l.next.Ranks) {
			k := &l.next.Ranks[started.Rank]
			k.Ran = started.start()
			k.Killed = time.Time{}
			k.ServedUnder = ""
			k.FirstSeen = a.Launching
		}
	}
}

// unwatched begins the limit of a boot anew after a time in which nobody looked: this machine may have
// been suspended, and the engine with it.
func (l *look) unwatched() {
	last := l.prev.Last
	gap := last.BootID != l.o.At.BootID || l.o.At.Since(last) > l.p.Gap || l.o.interrupted() != ""
	if l.next.Phase == Booting && !last.IsZero() && gap {
		l.next.Seen = l.o.At
	}
}

// boot puts the group into BOOTING since the given start.
func (l *look) boot(since Clock) {
	l.next.Phase, l.next.Since, l.next.Seen = Booting, since, l.o.At
	l.next.Strikes, l.next.Grace = nil, nil
	l.next.EarlyDeath, l.next.SaidDead = Clock{}, Clock{}
}

// newGroup forgets what ran before this start: a rank of an earlier start that does not run now has
// not been seen running in this one, so it is awaited and not called dead.
func (l *look) newGroup() {
	for i, r := range l.o.Ranks {
		k := &l.next.Ranks[i]
		if !r.DockerAnswered() || r.Container == nil || !r.Container.Running() || r.Container.Start() != k.Ran {
			k.Ran = ""
		}
	}
	l.dockerStartsOver()
}

// dockerStartsOver begins to count anew what Docker itself starts.
func (l *look) dockerStartsOver() {
	l.next.DockerStarts = 0
	for i := range l.next.Ranks {
		l.next.Ranks[i].DockerStarts = 0
	}
}

// takeReset lets a person's reset end GIVEN_UP: the start that failed is judged again, for as long
// as if it had been found now.
func (l *look) takeReset() {
	n := &l.next
	// One from before it gave up is over: across two boots of the head a wrong clock may call it later for ever.
	if n.Phase != GivenUp || l.prev.Reset.Equal(n.GaveUpAfter) || !l.o.At.Later(l.prev.Reset, n.Since) {
		return
	}
	if n.GaveUpIn == Serving { // also where its head is dead by now: that is judged in SERVING
		n.Phase, n.Since, n.Seen, n.Strikes = Serving, l.o.At, l.o.At, nil
		return
	}
	since := n.PersonStart
	if a := l.launch(); a != nil {
		since = l.o.At.Latest(since, a.Launching)
	}
	if since.IsZero() {
		since = l.prev.Reset
	}
	l.boot(since)
}
