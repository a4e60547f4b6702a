package watchdog

import "fmt"

// readProgress reads the canary together with the counters. A wedge needs both: no completion, and
// counters that stand still. What says that our question is wrong comes before the counters: they
// may move for others, who ask rightly. Else moving counters are Busy (E10), unless an engine stands
// still with requests in hand; and Busy is never given while a rank is dead.
func (l *look) readProgress() Verdict {
	v := Verdict{Term: TermProgress}
	c := l.o.Canary
	wrong := misconfigured(c)
	switch {
	case l.o.RanksOnly:
		return v
	case l.r.Served:
		v.Reading, v.Cause, v.What = Healthy, CauseServed, "the canary was served"
		return v
	case l.asleep() != "":
		v.Cause, v.What = CauseAsleep, l.asleep()+": a person's doing, nothing is done until it is woken"
		return v
	case wrong != "":
		v.Cause, v.What = CauseMisconfigured, wrong
		return v
	case l.moved == counterMoved:
		return l.readMoving(v)
	case c.Outcome == NotAsked:
		return v
	case c.Outcome == Unreachable:
		v.Cause, v.What = CauseCannotAsk, "the completion cannot be asked: "+c.Err
		return v
	case l.paused() != "":
		v.Cause, v.What = CausePaused, l.paused()+": a person's doing, health cannot be judged"
		return v
	case c.Outcome == Refused:
		return l.readRefused(v)
	case c.Outcome == Answered && c.Status == 429:
		v.Cause, v.What = CauseOverloaded, canaryWords(c)
		if l.moved == counterFlat { // said by a proxy whose engine stands still, as likely as not
			return v
		}
		return l.busyUnlessDead(v)
	default:
		return l.readUnserved(v)
	}
}

// readMoving reads counters that move while no completion came.
func (l *look) readMoving(v Verdict) Verdict {
	c := l.o.Canary
	switch {
	case c.Skipped:
		v.Cause, v.What = CauseSkipped, l.skipWords()
	case c.Outcome == Unanswered && len(l.stuck) > 0 && l.paused() == "":
		v.Reading, v.Cause, v.Blind, v.Stuck = Failing, CauseFlat, !l.live(), l.stuck
		v.What = canaryWords(c) + ", and " + stuckWords(l.counters(), l.stuck)
		return v
	default:
		v.Cause, v.What = CauseMoving, "no completion, but its counters move"
	}
	return l.busyUnlessDead(v)
}

// busyUnlessDead makes v Busy where no rank is dead; where one is, it stays Unknown.
func (l *look) busyUnlessDead(v Verdict) Verdict {
	if l.r.Rank.Reading != Failing {
		v.Reading = Busy
	}
	return v
}

// paused returns the words of a rank that a person has paused: a group that cannot serve for that
// is not torn down.
func (l *look) paused() string {
	for _, v := range l.r.Ranks {
		if v.Cause == CausePaused {
			return v.What
		}
	}
	return ""
}

// readRefused reads a port that nobody listens on: a symptom only while the head's container runs.
func (l *look) readRefused(v Verdict) Verdict {
	v.Cause, v.What = CausePortClosed, "the API's port is refused"
	if l.counters() != nil || l.o.Health.Outcome == Answered {
		v.Cause = CauseCannotAsk
		v.What += ", and the engine itself answers: look at what stands at server.url"
		return v
	}
	if r := l.o.Ranks; len(r) > 0 && r[0].DockerAnswered() && r[0].Container != nil && r[0].Container.Running() {
		v.Reading, v.Blind = Failing, !l.live() || l.r.Ranks[0].Reading != Healthy
		v.What += " while the head's container runs"
	}
	return v
}

// readUnserved reads a canary that was asked and did not come back as a completion.
func (l *look) readUnserved(v Verdict) Verdict {
	how, now := canaryWords(l.o.Canary), l.counters()
	switch l.moved {
	case counterFlat:
		v.Reading, v.Cause, v.Blind, v.Stuck = Failing, CauseFlat, !l.live() || !wholeCounters(now), labels(now)
		if l.o.Canary.Outcome == Answered {
			v.Cause = CauseFails
		}
		v.What = how + ", and its counters stand still" + held(now)
	case counterAbsent:
		v.Reading, v.Cause, v.Blind = Failing, CauseBlind, true
		v.What = how + ", and no counters can tell whether it works"
	default:
		v.Cause, v.What = CauseNoBaseline, how+", and there is no earlier reading of its counters yet"
	}
	return v
}

// live says whether one of our answered canaries has moved the counters of the head as it runs now.
func (l *look) live() bool {
	head := l.headStart()
	return head != "" && l.next.Live == head
}

// readBoot reads a boot past its limit. Until then silence means nothing: loading takes its time.
func (l *look) readBoot() Verdict {
	v := Verdict{Term: TermBoot}
	age := l.o.At.Since(l.o.At.Latest(l.next.Since, l.next.Seen))
	switch {
	case l.next.Phase != Booting || l.o.RanksOnly:
	case l.r.Served:
		v.Reading = Healthy
	case age <= l.p.BootLimit:
	case l.r.Progress.Reading == Failing:
		v.Reading, v.Cause = Failing, CauseBootLimit
		v.What = fmt.Sprintf("no completion %s after the start (limit %s)", brief(age), brief(l.p.BootLimit))
	default: // busy, unknown or misconfigured
		v.Reading = l.r.Progress.Reading
	}
	return v
}

// canaryWords says in words how the canary failed.
func canaryWords(c Canary) string {
	switch c.Outcome {
	case Unanswered:
		return fmt.Sprintf("the canary was not answered within %s", brief(c.Took))
	case ConnectTimeout:
		return "the canary found no connection"
	case Dropped:
		return "the canary's connection was dropped"
	case Answered:
		if c.Error != "" {
			return fmt.Sprintf("the canary was answered %d: %s", c.Status, c.Error)
		}
		return fmt.Sprintf("the canary was answered %d without a completion", c.Status)
	default:
		return "the canary failed"
	}
}
