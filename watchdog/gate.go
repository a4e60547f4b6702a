package watchdog

import (
	"fmt"
	"time"
)

// gate can only turn an action into a refusal with its reason. The first rule that fits answers.
func (l *look) gate(wanted Action, why Reason, detail string) Decision {
	d := Decision{Action: wanted, Reason: why, Wanted: wanted, Why: why, Detail: detail, Readings: l.r}
	if wanted != ActNone {
		if refusal, because := l.refusal(wanted); refusal != 0 {
			l.answered(partGate, refusal, because)
			d.Action, d.Reason, d.Detail = ActNone, refusal, because
			if wanted == ActLookAgain {
				d.Wanted, d.Reason, d.Why, d.Detail = ActNone, ReasonFailing, ReasonFailing, detail
			}
			if refusal == ReasonBudget {
				l.giveUp(ReasonBudget, joinWords(detail, because))
				d.Preserve = true
			}
			l.tellRefusal(d, why, detail)
		}
	}
	if l.next.Phase == GivenUp {
		l.tell(NoticeGaveUp, keyGaveUp, "gave up earlier: a person must look")
	}
	d.EndFlusher = l.flusherOver()
	d.EndFlag = l.flagEnded()
	d.Clock = l.headClock()
	d.Next, d.Notices = l.next, l.notices
	return d
}

// refusal returns the first rule that forbids the action, zero where none does.
func (l *look) refusal(a Action) (Reason, string) {
	// 1. Without a memory that can be believed and saved nothing is done.
	if l.o.StoreFault != "" {
		return ReasonStoreFault, l.o.StoreFault
	}
	if l.clock != "" {
		return ReasonClock, l.clock
	}
	l.passed("state and clock", l.clockWords)
	// 2. The switch.
	if r, detail := l.disarmed(); r != 0 {
		return r, detail
	}
	l.passed("the switch", l.armedWords)
	// 3. After any gap in knowledge the first look only looks.
	if l.first {
		return ReasonLookFirst, ""
	}
	l.passed("look first", l.notFirst)
	// 4. A person is at work.
	if g := l.next.Grace; a == ActRestart && g != nil && l.o.At.Since(g.From) < l.p.Grace {
		return ReasonGrace, fmt.Sprintf("%s, %s left", g.Why, brief(l.p.Grace-l.o.At.Since(g.From)))
	}
	if paused := l.paused(); a == ActRestart && paused != "" {
		return ReasonGrace, paused
	}
	l.passed("a person at work", l.noGrace)
	// 5. GIVEN_UP is left by a person or a served completion, never by time. A restart that a person
	// asked for since goes on.
	if l.next.Phase == GivenUp && !(a == ActResume && l.open().By != "" && l.o.At.Later(l.open().Committed, l.next.Since)) {
		return ReasonGivenUp, "a person must look; `cluster-watchdog reset --reason` lets restarts happen again"
	}
	l.passed("GIVEN_UP", l.phaseWords)
	if a != ActRestart {
		return 0, ""
	}
	// 6. The budget.
	if used := l.p.Used(l.prev, l.o.At); used >= l.p.BudgetCount {
		return ReasonBudget, l.p.BudgetWords(l.prev, l.o.At)
	}
	l.passed("the budget", func() string { return l.p.BudgetWords(l.prev, l.o.At) })
	// 7. A pause after a launch that failed or a boot that died early.
	if left := l.pauseLeft(); left > 0 {
		return ReasonPause, brief(left) + " left"
	}
	l.passed("the pause", func() string { return "no failed launch or early death within " + brief(l.p.Pause) })
	return 0, ""
}

// doubtClock notes why the wall clock cannot be believed. Within a boot it does not matter: there
// CLOCK_BOOTTIME tells. A boot that began with an implausible clock stays in doubt until its clock
// is plausible, or until a person arms or resets.
func (l *look) doubtClock() {
	n, boot := &l.next, l.o.At.BootID
	if l.prev.Last.BootID != boot {
		n.Earlier, n.ClockDoubt = l.prev.Last, true
	}
	if n.ClockDoubt {
		n.Began = l.o.At
	}
	if l.prev.Reset.BootID == boot || (l.prev.Arm != nil && l.prev.Arm.At.BootID == boot) {
		n.ClockDoubt = false
	}
	if n.ClockDoubt {
		l.clock = l.clockImplausible()
	}
	n.ClockDoubt = l.clock != ""
}

// clockImplausible compares the wall clock with the build and with the last look of an earlier boot.
func (l *look) clockImplausible() string {
	now, last := l.o.At, l.next.Earlier
	switch {
	case !l.p.plausible(now.Wall) && now.Wall.Before(l.p.Built):
		return fmt.Sprintf("the head's clock says %s, before this program was built: set it, see `timedatectl`", now.Wall.UTC().Format(time.RFC3339))
	case !l.p.plausible(now.Wall):
		return fmt.Sprintf("the head's clock says %s, long after this program was built: set it, see `timedatectl`", now.Wall.UTC().Format(time.RFC3339))
	case !last.IsZero() && now.Wall.Before(last.Wall):
		return fmt.Sprintf("the head's clock says %s, before the last look at %s: set it, see `timedatectl`; if it is right, `cluster-watchdog arm`",
			now.Wall.UTC().Format(time.RFC3339), last.Wall.UTC().Format(time.RFC3339))
	}
	return ""
}

// disarmed says who or what keeps us from acting, zero where nothing does.
func (l *look) disarmed() (Reason, string) {
	f, arm := l.o.Flag, l.prev.Arm
	if (f.Present || f.Err != "") && !l.flagOver() {
		return ReasonDisarmed, flagWords(f) + l.staysWords()
	}
	switch {
	case arm == nil:
		return ReasonNotArmed, "`cluster-watchdog arm` arms it"
	case arm.Identity != l.p.Identity:
		return ReasonOtherIdentity, "the config's nodes, containers, launch or URLs are not those that were armed: `cluster-watchdog check`, then `cluster-watchdog arm`"
	}
	return 0, ""
}

// Used returns how many counted attempts fall into the budget's window.
func (p Policy) Used(s State, now Clock) int {
	used := 0
	for _, a := range s.Attempts {
		if p.uses(a, s, now) {
			used++
		}
	}
	return used
}

// uses says whether a counted attempt falls into the window and was not forgiven by a reset.
func (p Policy) uses(a Attempt, s State, now Clock) bool {
	return a.Counted() && p.launchedAgo(a, s, now) < p.BudgetWindow && (s.Reset.IsZero() || now.Later(a.Launching, s.Reset))
}

// Counted says whether the attempt uses up the budget: nobody asked for it, it reached its launch,
// and it was not the switch that ended it.
func (a Attempt) Counted() bool {
	return a.By == "" && !a.Launching.IsZero() && a.Outcome != OutcomeSwitch
}

// pauseLeft returns how long the next restart has to wait.
func (l *look) pauseLeft() time.Duration {
	from := l.next.EarlyDeath
	if a := l.launch(); a != nil && a.Outcome == OutcomeLaunchFailed {
		from = l.o.At.Latest(from, a.Ended)
	}
	if from.IsZero() {
		return 0
	}
	return max(0, l.p.Pause-l.o.At.Since(from))
}

// flusherOver says whether a flusher of ours has outlived its boot.
func (l *look) flusherOver() bool {
	a, found := l.prev.Flusher()
	return found && !a.FlusherEnded && l.next.Phase != Booting && l.open() == nil
}

// Flusher returns the newest attempt that may have left a cache flusher running on the nodes.
func (s State) Flusher() (a Attempt, found bool) {
	for i := len(s.Attempts) - 1; i >= 0; i-- {
		if s.Attempts[i].Flusher {
			return s.Attempts[i], true
		}
	}
	return Attempt{}, false
}

// tellRefusal tells people once per cause that something was wanted and refused. A first look is
// over in a minute, a grace and giving up have notices of their own.
func (l *look) tellRefusal(d Decision, why Reason, detail string) {
	switch d.Reason {
	case ReasonLookFirst, ReasonGrace, ReasonGivenUp, ReasonBudget, ReasonPause:
		return
	}
	if d.Wanted == ActNone {
		return
	}
	l.tell(NoticeRefused, fmt.Sprintf("refused: %s", d.Reason),
		fmt.Sprintf("would %s (%s): %s", d.Wanted, joinWords(why.String(), detail), joinWords(d.Reason.String(), d.Detail)))
}
