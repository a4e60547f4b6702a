package watchdog

import (
	"fmt"
	"slices"
	"time"
)

// goodNews takes a served completion: any phase becomes SERVING, and the incident is over.
func (l *look) goodNews() {
	if !l.r.Served {
		return
	}
	n := &l.next
	boot, a := time.Duration(0), l.launch()
	if n.Phase == Booting && a != nil && a.Launching.Equal(n.Since) {
		boot = l.o.At.Since(a.Launching)
	}
	if n.Phase != Serving {
		n.Phase, n.Since, n.Seen = Serving, l.o.At, l.o.At
	}
	n.Served, n.ServedBy, n.ServedIn = l.o.At, l.headStart(), l.o.Canary.Took
	n.Strikes, n.Grace = nil, nil
	n.EarlyDeath, n.SaidDead = Clock{}, Clock{}
	l.dockerStartsOver()
	under := "" // a head that cannot be asked may be another one by now
	if len(l.o.Ranks) > 0 && l.o.Ranks[0].DockerAnswered() {
		under = n.ServedBy
	}
	for i := range n.Ranks { // also one on a silent node: no group serves without all its ranks
		n.Ranks[i].ServedUnder = under
		if n.Ranks[i].Process == Absent && l.o.Ranks[i].Process == Absent { // it serves without what was thought to be its engine
			n.Ranks[i].Worked = ""
		}
	}
	l.closeIncident(boot)
}

// closeIncident tells those who heard of the trouble that it is over, and how long it took. A boot
// that we launched without an incident took the time given; zero: there was none.
func (l *look) closeIncident(boot time.Duration) {
	n := &l.next
	heard := slices.ContainsFunc(n.Told, func(key string) bool { return !lasting(key) }) || l.attemptSince(n.Incident)
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
	n.Incident = nil
	n.Told = slices.DeleteFunc(n.Told, func(key string) bool { return !lasting(key) })
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
		if d := l.o.At.Since(l.o.At.Latest(l.next.BusyFrom, l.next.Served)); d >= l.p.BusyTold {
			l.tell(NoticeTrouble, "busy", fmt.Sprintf("no completion for %s, but the engine is busy: nothing is done", brief(d)))
		}
	case Healthy, Failing:
		l.next.BusyFrom = Clock{}
	case Unknown:
		l.unknownFor()
	}
	switch l.r.Progress.Cause {
	case CauseAsleep:
		l.tell(NoticeTrouble, "asleep", l.r.Progress.What)
	case CauseMisconfigured:
		l.tell(NoticeTrouble, misconfiguredKey(l.o.Canary), l.r.Progress.What+". Until then its health cannot be judged")
	}
}

// unknownFor tells when a group that served has not for long, or a boot is past its limit, and nothing
// says why: nothing will be done about it, so a person should hear of it.
func (l *look) unknownFor() {
	switch l.r.Progress.Cause {
	case CauseAsleep, CauseMisconfigured, CausePaused: // said by others
		return
	}
	over := l.next.Phase == Booting && l.o.At.Since(l.o.At.Latest(l.next.Since, l.next.Seen)) > l.p.BootLimit
	if l.next.Phase != Serving && !over || l.first || l.o.RanksOnly || len(l.next.Strikes) > 0 || l.open() != nil {
		return
	}
	if d := l.o.At.Since(l.o.At.Latest(l.next.Served, l.next.Seen)); d >= l.p.BusyTold {
		l.tell(NoticeTrouble, "unknown", fmt.Sprintf("no completion for %s, and it cannot be told why: %s", brief(d), orElse(l.doubts(), "no canary was asked")))
	}
}
