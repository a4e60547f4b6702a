package watchdog

import (
	"fmt"
	"slices"
)

// judge says what should be done, whoever may forbid it. The first rule that fits answers.
func (l *look) judge() (Action, Reason, string) {
	// 1. A served completion beats everything else.
	if l.r.Served {
		return ActNone, ReasonServed, l.doubts()
	}
	l.passed("a served completion", l.notServed)
	// 2. An attempt that has committed and not launched has to go on: the group is down.
	if a := l.open(); a != nil {
		if a.DestroyFailed >= l.p.DestroyTries {
			return l.giveUp(ReasonDestroyFailed, fmt.Sprintf("%d tries ended in step %s: %s", a.DestroyFailed, a.Step, a.Error))
		}
		return ActResume, ReasonResume, l.resumeWords(*a)
	}
	l.passed("an open attempt", l.notOpen)
	switch l.next.Phase {
	case Booting, Serving:
		if l.first {
			return ActNone, ReasonLookFirst, l.doubts()
		}
	}
	switch l.next.Phase {
	case Booting:
		return l.judgeBooting()
	case Serving:
		return l.judgeServing()
	case None:
		return l.judgeNone()
	default:
		return ActNone, ReasonGivenUp, "a person must look; `cluster-watchdog reset --reason` lets restarts happen again"
	}
}

// 3. A boot fails when a rank dies or never appears, or when it is over its limit.
func (l *look) judgeBooting() (Action, Reason, string) {
	if s, ok := l.failed(TermRank); ok {
		return ActRestart, rankReason(s.Cause), s.What
	}
	l.notFailed(TermRank)
	if s, ok := l.failed(TermBoot); ok {
		return ActRestart, ReasonBootLimit, s.What
	}
	l.notFailed(TermBoot)
	if again, detail := l.lookAgain(); again {
		return ActLookAgain, ReasonLookAgain, detail
	}
	age := l.o.At.Since(l.o.At.Latest(l.next.Since, l.next.Seen))
	lastTime := ""
	if g := l.prev.LastGood; g != nil && g.Identity == l.p.Identity && g.Boot > 0 {
		lastTime = ", last time " + brief(g.Boot)
	}
	return ActNone, ReasonBooting, fmt.Sprintf("%s so far%s, limit %s%s%s", brief(age), lastTime, brief(l.p.BootLimit), l.loadWords()+l.suffix(), l.excuse())
}

// 4. A serving group fails on a dead rank, an engine that says so, or no progress.
func (l *look) judgeServing() (Action, Reason, string) {
	for _, term := range []Term{TermRank, TermEngine, TermProgress} {
		s, ok := l.failed(term)
		if !ok {
			l.notFailed(term)
			continue
		}
		switch term {
		case TermRank:
			return ActRestart, rankReason(s.Cause), s.What
		case TermEngine:
			return ActRestart, ReasonEngineDead, s.What
		default:
			return ActRestart, ReasonNoProgress, s.What
		}
	}
	if again, detail := l.lookAgain(); again {
		return ActLookAgain, ReasonLookAgain, detail
	}
	switch {
	case len(l.next.Strikes) > 0:
		return ActNone, ReasonFailing, l.strikeWords() + l.gpuWords() + l.excuse()
	case l.r.Progress.Cause == CauseSkipped && l.r.Progress.Reading == Busy:
		return ActNone, ReasonSkipped, joinDoubt(l.r.Progress.What, l.doubts())
	case l.r.Progress.Reading == Busy:
		return ActNone, ReasonBusy, l.r.Progress.What
	case l.r.Progress.Cause == CauseMisconfigured:
		return ActNone, ReasonMisconfigured, l.r.Progress.What
	case l.r.Progress.Cause == CauseAsleep:
		return ActNone, ReasonAsleep, l.r.Progress.What
	default:
		return ActNone, ReasonCannotTell, l.doubts()
	}
}

// 5. Nothing is known to be launched: only a person's wish launches it.
func (l *look) judgeNone() (Action, Reason, string) {
	if l.wished() && !l.mayRun() {
		return ActLaunch, ReasonWish, "asked for by " + l.prev.Arm.Who
	}
	l.passed("a person's wish to launch", l.notWished)
	return ActNone, ReasonNothing, l.doubts()
}

// keyGaveUp is of the notice that is told until somebody could be told: the group stays down.
const keyGaveUp = "gave up"

// giveUp ends the watchdog's own tries; the failed group stays as it is for inspection.
func (l *look) giveUp(why Reason, detail string) (Action, Reason, string) {
	if l.next.Phase != GivenUp {
		l.next.GaveUpIn, l.next.GaveUpAfter = l.next.Phase, l.prev.Reset
		l.next.Phase, l.next.Since, l.next.Seen = GivenUp, l.o.At, l.o.At
		l.forget(keyGaveUp)
	}
	l.tell(NoticeGaveUp, keyGaveUp, fmt.Sprintf("gave up: %s (%s): a person must look", why, detail))
	return ActNone, why, detail
}

// open returns the attempt that has committed, has not reached its launch and was not closed by a
// served completion, a person's start, arm or reset; nil where there is none.
func (l *look) open() *Attempt {
	a := l.last()
	if a == nil || a.Stop || a.Committed.IsZero() || !a.Launching.IsZero() {
		return nil
	}
	closers := []Clock{l.next.Served, l.next.PersonStart, l.prev.Reset}
	if l.prev.Arm != nil {
		closers = append(closers, l.prev.Arm.At)
	}
	if slices.ContainsFunc(closers, func(c Clock) bool { return l.o.At.Later(c, a.Committed) }) {
		return nil
	}
	return a
}

// wished says whether `arm --launch` waits to be carried out. Whatever has started the group since
// has fulfilled it, and one made before nothing was known any more was not about this.
func (l *look) wished() bool {
	arm := l.prev.Arm
	if arm == nil || !arm.Launch {
		return false
	}
	over := []Clock{l.next.Served, l.next.PersonStart, l.next.Since}
	for _, a := range l.prev.Attempts {
		over = append(over, a.Launching)
		if a.Stop {
			over = append(over, a.Started)
		}
	}
	return !slices.ContainsFunc(over, func(c Clock) bool { return l.o.At.Later(c, arm.At) })
}

// mayRun says whether a rank runs, as far as its Docker has ever said.
func (l *look) mayRun() bool {
	return slices.ContainsFunc(l.next.Ranks, func(k Known) bool { return k.Container != nil && k.Container.Running() })
}

// lookAgain asks for a second look in this tick when a rank has just been found dead.
func (l *look) lookAgain() (bool, string) {
	s, ok := l.streak(TermRank)
	if !ok || l.o.RanksOnly || l.r.Rank.Reading != Failing {
		return false, ""
	}
	return true, fmt.Sprintf("%s (failing %d/%d)", s.What, s.Looks, l.p.Dead.Looks)
}

// failed returns the streak of a term that has what its rule needs and reads Failing in this look
// too: a streak of yesterday's looks does not destroy what cannot be seen now.
func (l *look) failed(t Term) (Strike, bool) {
	s, ok := l.streak(t)
	return s, ok && l.complete(s) && l.verdict(t).Reading == Failing
}

// verdict returns what this look concludes of a term.
func (l *look) verdict(t Term) Verdict {
	return map[Term]Verdict{TermRank: l.r.Rank, TermEngine: l.r.Engine, TermProgress: l.r.Progress, TermBoot: l.r.Boot}[t]
}

func (l *look) streak(t Term) (Strike, bool) {
	for _, s := range l.next.Strikes {
		if s.Term == t {
			return s, true
		}
	}
	return Strike{}, false
}
