package watchdog

import (
	"fmt"
	"slices"
	"time"
)

// advance brings what is known up to this look. All that apply, in this order; a served completion
// beats everything else seen in the same look.
func (l *look) advance() {
	l.lookFirst()
	l.adoptLaunch()
	l.personsStop()
	l.newStart()
	l.readCounters()
	l.read()
	l.strikes()
	l.goodNews()
	l.keepCounters()
	l.busyFor()
	l.next.Last = l.o.At
	l.next.Config, l.next.Identity = l.p.Config, l.p.Identity
}

// lookFirst makes this look a first one after any gap in knowledge: nothing seen before it may
// count against the group, and nothing is judged in it.
func (l *look) lookFirst() {
	s := l.prev
	l.first = s.Last.IsZero() ||
		s.Last.BootID != l.o.At.BootID ||
		l.o.At.Since(s.Last) > l.p.Gap ||
		s.Config != l.p.Config ||
		(s.Arm != nil && s.Arm.At.After(s.Last))
	if l.first {
		l.next.Strikes = nil
	}
	if s.Identity != "" && s.Identity != l.p.Identity { // other nodes or containers: nothing known of them
		l.next = State{Incidents: s.Incidents}
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
	a := l.last()
	if a == nil || a.Launching.IsZero() || !a.Launching.After(l.next.Since) {
		return
	}
	l.boot(a.Launching)
	for _, started := range a.Launched {
		if started.Rank < len(l.next.Ranks) {
			k := &l.next.Ranks[started.Rank]
			k.Ran = started.ID + "@" + started.StartedAt
			k.ServedUnder = ""
			k.FirstSeen = a.Launching
		}
	}
}

// boot puts the group into BOOTING since the given start.
func (l *look) boot(since Clock) {
	l.next.Phase, l.next.Since, l.next.Seen = Booting, since, l.o.At
	l.next.Strikes, l.next.Grace = nil, nil
	l.next.DockerStarts = 0
	l.next.EarlyDeath = Clock{}
}

// goodNews takes a served completion: any phase becomes SERVING, and the incident is over.
func (l *look) goodNews() {
	if !l.r.Served {
		return
	}
	n := &l.next
	boot, a := time.Duration(0), l.last()
	if n.Phase == Booting && a != nil && a.Launching.Equal(n.Since) {
		boot = l.o.At.Since(a.Launching)
	}
	if n.Phase != Serving {
		n.Phase, n.Since, n.Seen = Serving, l.o.At, l.o.At
	}
	n.Served, n.ServedBy = l.o.At, l.headStart()
	n.Strikes, n.Grace = nil, nil
	n.DockerStarts = 0
	n.EarlyDeath = Clock{}
	for i := range n.Ranks {
		if l.r.Ranks[i].Reading == Healthy || l.r.Ranks[i].Cause == CauseStaleWorker {
			n.Ranks[i].ServedUnder = n.ServedBy
		}
	}
	l.closeIncident(boot)
}

// closeIncident tells those who heard of the trouble that it is over, and how long it took. A boot
// that we launched without an incident took the time given; zero: there was none.
func (l *look) closeIncident(boot time.Duration) {
	n := &l.next
	heard := len(n.Told) > 0 || l.attemptSince(n.Incident)
	switch inc := n.Incident; {
	case inc != nil && heard:
		from := inc.Opened
		if !inc.Served.IsZero() {
			from = inc.Served
		}
		l.tell(NoticeServing, "", fmt.Sprintf("serving again after %s without a completion (%s)", brief(l.o.At.Since(from)), inc.What))
	case inc == nil && boot > 0:
		l.tell(NoticeServing, "", fmt.Sprintf("serving, %s after the launch", brief(boot)))
	}
	n.Incident, n.Told = nil, nil
}

// attemptSince says whether a restart was tried for this incident.
func (l *look) attemptSince(inc *Incident) bool {
	return inc != nil && slices.ContainsFunc(l.prev.Attempts, func(a Attempt) bool { return a.Incident == inc.ID })
}

// busyFor tells when the engine is busy for long; it is never acted on.
func (l *look) busyFor() {
	switch l.r.Progress.Reading {
	case Busy:
		if l.next.BusyFrom.IsZero() {
			l.next.BusyFrom = l.o.At
		}
		if d := l.o.At.Since(later(l.next.BusyFrom, l.next.Served)); d >= l.p.BusyTold {
			l.tell(NoticeTrouble, "busy", fmt.Sprintf("no completion for %s, but the engine is busy: nothing is done", brief(d)))
		}
	case Healthy, Failing:
		l.next.BusyFrom = Clock{}
	}
	if l.r.Progress.Cause == CausePaused {
		l.tell(NoticeTrouble, "paused", l.r.Progress.What)
	}
	if l.r.Progress.Cause == CauseMisconfigured {
		l.tell(NoticeTrouble, fmt.Sprintf("canary %d", l.o.Canary.Status),
			l.r.Progress.What+": health cannot be judged until server.* in the config fits")
	}
}
