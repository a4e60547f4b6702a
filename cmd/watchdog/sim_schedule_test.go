package main

import (
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// boot is how long the n-th world loads.
func (s *simulation) boot(n int) time.Duration {
	const never = 200 * time.Hour
	if s.one(25, "boot", n) {
		return never
	}
	return s.between(2*time.Minute, 25*time.Minute, "boot", n)
}

// pass lets the time go by: each hour a few things go wrong, each minute it is looked whether all
// that must hold does.
func (s *simulation) pass(until time.Time) {
	for rank := range s.options.nodes {
		s.cluster.PersonStart(rank)
	}
	s.startedByHand()
	due := map[int64][]func(){} // by minute
	later := func(d time.Duration, do func()) {
		m := time.Now().Add(d).Unix() / 60
		due[m] = append(due[m], do)
	}
	for _, h := range s.heads { // some are armed only after a day
		later(s.between(0, 48*time.Hour, "armed first", h.number)/24*time.Duration(1+23*(s.options.seed%4/3)), func() { s.armed(h) })
	}
	for n := 0; time.Now().Before(until) && !s.stopped(); n++ {
		if n%60 == 0 {
			s.hour(later)
		}
		m := time.Now().Unix() / 60
		for _, do := range due[m] {
			do()
		}
		delete(due, m)
		s.minute()
		time.Sleep(time.Minute)
	}
}

// hour decides what goes wrong in the next one. Trouble comes in company: half of the time there is
// none, and where there is some there is often more.
func (s *simulation) hour(later func(time.Duration, func())) {
	if !s.one(5, "trouble", 0) {
		return
	}
	for n := range 1 + int(s.draw("how much", 0)%3) {
		at := s.between(0, 10*time.Minute, "when", n)
		later(at, func() { s.trouble(n, later) })
	}
}

// trouble lets one thing go wrong, and lets it be right again.
func (s *simulation) trouble(n int, later func(time.Duration, func())) {
	c := s.cluster
	rank := int(s.draw("rank", n) % uint64(s.options.nodes))
	length := s.between(2*time.Minute, 45*time.Minute, "length", n)
	h := s.heads[int(s.draw("head", n)%uint64(len(s.heads)))]
	for_ := func(do, undo func()) {
		s.disturb(length + time.Minute)
		s.hide(length)
		do()
		later(length, undo)
	}
	s.disturb(time.Minute)
	switch s.draw("kind", n) % 24 {
	case 0, 1, 2:
		c.Crash(rank, pick(s.draw("code", n), 0, 1, 137, 139))
	case 3:
		c.SetEngine(pick(s.draw("mode", n), clustertest.Hang, clustertest.Health500, clustertest.Health503, clustertest.Error500))
	case 4:
		for_(func() { c.SetEngine(clustertest.Busy) }, func() { s.mend(clustertest.Busy) })
	case 5:
		for_(func() { c.SetEngine(clustertest.Unauthorized) }, func() { s.mend(clustertest.Unauthorized) })
	case 6, 7:
		for_(func() { s.cut(rank, true) }, func() { s.cut(rank, false) })
	case 8:
		s.hide(length)
		s.disturb(length + 10*time.Minute)
		if s.options.policy != "" { // what Docker starts after a boot cannot be told from a person's start
			later(length, s.startedByHand)
		}
		if rank == 0 {
			s.heads[0].reboot(length, s.one(2, "lost", n))
			if s.one(3, "no battery", n) { // it begins in 1970, until NTP answers
				s.heads[0].setClock(to1970)
				s.disturb(2*length + time.Minute)
				later(2*length, func() { s.heads[0].setClock(0) })
			}
		} else {
			s.networkChanged()
			c.Reboot(rank, length)
		}
	case 9, 10, 11, 12:
		s.fault(n, rank, length, later)
	case 13:
		s.stopByHand(n, length, later)
	case 14:
		s.startedByHand()
		c.PersonRestart(rank)
	case 15:
		s.stoppedByHand(c.PersonRemove(rank))
	case 16:
		h.byHand(func() { h.disarm(pick(s.draw("for", n), 0, length, length)) })
		later(length+time.Minute, func() { s.armed(h) })
	case 17:
		h.setClock(s.wrong(n))
		if s.one(2, "set right", n) {
			later(length, func() { h.setClock(0) })
		}
	case 18:
		for_(func() { s.say("%s: the disk is full", h.name); h.change(func() { h.full = true }) },
			func() { s.say("%s: the disk has room", h.name); h.change(func() { h.full = false }) })
	case 19:
		s.hide(time.Minute)
		c.SetClock(rank, pick(s.draw("clock", n), s.between(-2*time.Hour, 2*time.Hour, "clock", n), s.wrong(n)))
	case 20:
		for_(func() { c.Noise(rank, true) }, func() { c.Noise(rank, false) })
	case 21:
		if s.one(4, "damage", n) {
			h.byHand(func() { s.say("%s: the database is damaged", h.name); h.store.damage() })
			later(length, func() { s.armed(h) })
		} else {
			for_(func() { c.Pause(rank, true) }, func() { c.Pause(rank, false) })
		}
	case 22: // at once, or in the middle of a look or of a restart
		nap := s.between(2*time.Minute, 9*time.Hour, "nap", n)
		h.change(func() { h.nap, h.napIn = nap, 1+int(s.draw("nap in", n)%pick[uint64](s.draw("deep", n), 1, 6, 80)) })
	case 23:
		s.disturb(6 * time.Minute)
		h.putBack(s.between(time.Minute, 20*time.Hour, "snapshot", n))
	}
}

// From the year in which all this plays, 2000.
const (
	to1970 = -30 * 365 * 24 * time.Hour
	to2098 = 98 * 365 * 24 * time.Hour
)

// wrong is how far a clock that is wrong is from the true time: by hours, by a year, or by decades.
func (s *simulation) wrong(n int) time.Duration {
	const year = 365 * 24 * time.Hour
	hours := s.between(-30*time.Hour, 30*time.Hour, "jump", n)
	return pick(s.draw("how wrong", n), hours, hours, hours, -year, year, to1970, to2098)
}

// fault sets one of the faults that the cluster with real SSH knows too, often together with a rank
// that dies: else nobody would meet it.
func (s *simulation) fault(n, rank int, length time.Duration, later func(time.Duration, func())) {
	kinds, all := clustertest.Kinds(), scripts.All()
	f := clustertest.Fault{Kind: kinds[s.draw("fault", n)%uint64(len(kinds))], Node: rank}
	if s.one(4, "any node", n) {
		f.Node = clustertest.AnyNode
	}
	if step := all[s.draw("step", n)%uint64(len(all))].Name(); s.one(2, "one step", n) && f.Kind != clustertest.SSHDRefuses && f.Kind != clustertest.SSHDSilent {
		f.Step = step
		if s.one(4, "of looks", n) {
			f.Step = "observe/look"
		}
	}
	if s.one(2, "sometimes", n) && f.Kind != clustertest.SSHDRefuses {
		f.P = 0.4
	}
	id, err := s.cluster.Faults.Set(f)
	s.must(err == nil, "faults can be set", "%v", err)
	s.say("fault %s on %d in %q, likely %v, for %s", f.Kind, f.Node, f.Step, f.P, length.Round(time.Second))
	s.disturb(length + time.Minute)
	s.networkChanged()
	s.hide(length)
	later(length, func() {
		s.say("fault %s is over", f.Kind)
		s.networkChanged()
		s.cluster.Faults.Unset(id)
	})
	if !s.one(4, "alone", n) {
		s.cluster.Crash(int(s.draw("victim", n)%uint64(s.options.nodes)), 1)
	}
}

// stopByHand is a person who stops some ranks, and starts all of them later.
func (s *simulation) stopByHand(n int, length time.Duration, later func(time.Duration, func())) {
	s.disturb(length + time.Minute)
	for rank := range s.options.nodes {
		if rank == 0 || !s.one(3, "stop", rank) {
			s.stoppedByHand(s.cluster.PersonStop(rank))
		}
	}
	if s.one(3, "comes back", n) {
		return // the watchdog may start it after the grace
	}
	later(length, s.startAll)
}

func (s *simulation) startAll() {
	s.startedByHand()
	for rank := s.options.nodes - 1; rank >= 0; rank-- {
		s.cluster.PersonStart(rank)
	}
}

// minute looks after what people look after, and whether the group comes back.
func (s *simulation) minute() {
	const round = 5
	for _, h := range s.heads {
		if time.Now().Minute()%round == 0 {
			h.byHand(func() { s.visit(h) })
		}
	}
	if s.cluster.Serving() {
		s.mu.Lock()
		s.calm = later(s.calm, time.Now())
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const patience = 4 * time.Hour // one boot that never ends, the limit, and another one
	s.mustLocked(len(s.heads) > 1 || time.Since(s.calm) < patience, "a dead group comes back", "nothing has disturbed it since %s", s.calm.UTC().Format(time.DateTime))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// visit is a person who comes by: what only people may do is done after a while.
func (s *simulation) visit(h *head) {
	st := h.phaseOf()
	now := h.now()
	flag := h.flag()
	last := watchdog.Attempt{}
	if n := len(st.Attempts); n > 0 {
		last = st.Attempts[n-1]
	}
	waits := "" // for a person
	switch {
	case h.isDown(), h.isFull():
		s.disturb(6 * time.Minute)
	case flag.Present || st.Arm == nil || st.ClockDoubt:
		waits = "arm"
	case st.Phase == watchdog.GivenUp:
		waits = "reset"
	case h.policy.Used(st, now) >= h.policy.BudgetCount:
		s.disturb(6 * time.Minute)
	case st.Phase == watchdog.None && !st.Last.IsZero():
		waits = "start"
	case last.Step == "identity" && last.Outcome == watchdog.OutcomeRefused:
		waits = "start"
	case st.Phase == watchdog.Serving && st.Since.After(last.Launching) && !last.FlusherEnded && last.Flusher && s.calmFor() > 10*time.Minute:
		s.must(now.Since(st.Since) < 10*time.Minute, "a flusher is ended after its boot", "SERVING since %s", st.Since.Wall.Format(time.TimeOnly))
	}
	if waits != "" {
		s.disturb(6 * time.Minute)
	}
	if waits == "" || !s.one(24, "visit "+waits+h.name, h.number) {
		return
	}
	switch waits {
	case "arm":
		h.arm(false)
	case "reset":
		h.reset()
	case "start":
		s.startAll()
	}
}

func (s *simulation) calmFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.quiet)
}

func (s *simulation) armed(h *head) {
	h.byHand(func() { h.arm(false) })
}

func (s *simulation) mend(mode clustertest.EngineMode) {
	s.cluster.Mend(mode)
}

func (s *simulation) cut(rank int, on bool) {
	s.networkChanged()
	s.cluster.Cut(rank, on)
}

func (s *simulation) networkChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.network = time.Now()
}

// stoppedByHand notes a stop that every look must be able to tell.
func (s *simulation) stoppedByHand(ran bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heads {
		if ran && time.Now().After(s.hidden) {
			h.facts.stopped = h.real()
		}
	}
}

// hide says that for that long looks may not be able to tell of a stop.
func (s *simulation) hide(length time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until := time.Now().Add(length + 2*time.Minute); until.After(s.hidden) {
		s.hidden = until
	}
	for _, h := range s.heads {
		h.facts.stopped = time.Time{}
	}
}

func (s *simulation) startedByHand() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heads {
		h.facts.started, h.facts.stopped, h.facts.unseen = h.real(), time.Time{}, true
	}
}
