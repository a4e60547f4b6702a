package watchdog

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// gateRows are about what may be done. They begin with a group that would be restarted.
func gateRows() []row {
	// ill: SERVING, rank 1 is gone and has a strike; dead completes it.
	ill := func(facts ...fact) State {
		return known(Serving, append([]fact{goneBefore(1), struck(TermRank, 1, -m)}, facts...)...)
	}
	dead := func(sights ...sight) Observation { return sees(append([]sight{gone(1)}, sights...)...) }
	would := wants(ActRestart, ReasonRankDead)
	reboot := func(wall time.Time) sight { return lookClock(Clock{Wall: wall, Boot: m, BootID: "boot-2"}) }
	// doubt: this boot has begun with a clock that could not be believed; armed in the boot before.
	doubt := func(s *State) {
		s.Earlier, s.ClockDoubt = Clock{Wall: at(-h).Wall, Boot: 9 * h, BootID: "boot-0"}, true
		s.Arm.At.BootID = "boot-0"
	}
	emptyHouse := []fact{goneBefore(0), goneBefore(1), goneBefore(2), struck(TermRank, 1, -m)}
	allGone := all(gone(0), gone(1), gone(2))

	return []row{
		r("nothing forbids it", ill(), dead(), ActRestart, ReasonRankDead, says("container not running (phase=SERVING) → restart: rank 1 (n2) is gone"), told()),

		// 1. The memory and the clock.
		r("a state that cannot be saved", ill(), dead(storeFault), ActNone, ReasonStoreFault, would, phase(Serving), told(NoticeRefused)),
		r("the budget is kept then", ill(counted(-2*h), counted(-h)), dead(storeFault), ActNone, ReasonStoreFault, phase(Serving)),
		r("a disarm does not expire then", ill(), dead(storeFault, flagUntil(-m)), ActNone, ReasonStoreFault, that("the flag stays", func(d Decision) bool { return !d.EndFlag })),
		r("a boot that begins before the build", ill(), dead(reboot(built.Add(-s))), ActNone, ReasonLookFirst, that("in doubt", func(d Decision) bool { return d.Next.ClockDoubt })),
		r("its clock stays in doubt after the first look", ill(doubt), dead(lookClock(Clock{Wall: built.Add(-s), Boot: 100 * h, BootID: "boot-1"})), ActNone, ReasonClock, would, told(NoticeTrouble, NoticeRefused)),
		r("a clock before the latest save", ill(doubt), dead(lookClock(Clock{Wall: at(-h - s).Wall, Boot: 100 * h, BootID: "boot-1"})), ActNone, ReasonClock),
		r("a clock 10 years after the build", ill(doubt), dead(lookClock(Clock{Wall: built.AddDate(11, 0, 0), Boot: 100 * h, BootID: "boot-1"})), ActNone, ReasonClock),
		r("the budget is not forgotten then", ill(doubt, counted(-2*h), counted(-h)), dead(lookClock(Clock{Wall: built.AddDate(11, 0, 0), Boot: 100 * h, BootID: "boot-1"})), ActNone, ReasonClock, phase(Serving)),
		r("a disarm does not expire then either", ill(doubt), dead(lookClock(Clock{Wall: built.AddDate(11, 0, 0), Boot: 100 * h, BootID: "boot-1"}), flag(Flag{Until: at(m).Wall})), ActNone, ReasonClock, that("the flag stays", func(d Decision) bool { return !d.EndFlag })),
		r("a clock that has become plausible", ill(doubt), dead(), ActRestart, ReasonRankDead, that("no doubt", func(d Decision) bool { return !d.Next.ClockDoubt })),
		r("a person who arms in this boot ends the doubt", ill(doubt, armedAt(-10*m)), dead(lookClock(Clock{Wall: at(-h - s).Wall, Boot: 100 * h, BootID: "boot-1"})), ActRestart, ReasonRankDead),
		r("within a boot a wall clock that jumped back changes nothing", ill(), dead(lookClock(Clock{Wall: time.Unix(0, 0), Boot: 100 * h, BootID: "boot-1"})), ActRestart, ReasonRankDead),
		r("within a boot a wall clock that jumped ahead changes nothing", ill(counted(-2*h), counted(-h)), dead(lookClock(Clock{Wall: built.AddDate(30, 0, 0), Boot: 100 * h, BootID: "boot-1"})), ActNone, ReasonBudget),
		r("a very first look of an old clock only looks", known(Serving, neverLooked), sees(reboot(time.Unix(0, 0))), ActNone, ReasonLookFirst),

		// 2. The switch.
		r("a flag", ill(), dead(flag(Flag{Who: "bert", Reason: "new model"})), ActNone, ReasonDisarmed, would, told(NoticeRefused),
			says("phase=SERVING would restart (container not running: rank 1 (n2) is gone): disarmed: by bert: new model")),
		r("a flag made by touch", ill(), dead(flag(Flag{})), ActNone, ReasonDisarmed, says("phase=SERVING would restart (container not running: rank 1 (n2) is gone): disarmed: by the flag file")),
		r("a flag that cannot be read counts", ill(), dead(func(o *Observation) { o.Flag.Err = "permission denied" }), ActNone, ReasonDisarmed),
		r("a refusal is told once per cause", ill(func(s *State) { s.Told = []string{"refused: disarmed"} }), dead(flag(Flag{})), ActNone, ReasonDisarmed, told()),
		r("a flag with an end to come", ill(), dead(flagUntil(m)), ActNone, ReasonDisarmed),
		r("a flag whose end is over", ill(), dead(flagUntil(-m)), ActRestart, ReasonRankDead, that("the flag goes", func(d Decision) bool { return d.EndFlag })),
		r("its end by CLOCK_BOOTTIME, whatever the wall clock says", ill(), dead(flag(Flag{Until: at(-h).Wall, Ends: at(m)})), ActNone, ReasonDisarmed),
		r("it ends only after the checks were asked", ill(), dead(flagOnly(-m)), ActNone, ReasonDisarmed, told(NoticeTrouble, NoticeRefused), that("the flag stays", func(d Decision) bool { return !d.EndFlag })),
		r("and have passed", known(Serving), sees(serves, flagOnly(-m), checks("disk on n2: full")), ActNone, ReasonServed, told(NoticeTrouble), that("the flag stays", func(d Decision) bool { return !d.EndFlag })),
		r("which is told once, though it serves", known(Serving, wasTold(keyStays)), sees(serves, flagOnly(-m), checks("disk on n2: full")), ActNone, ReasonServed, told(), that("remembered", func(d Decision) bool { return slices.Contains(d.Next.Told, keyStays) })),
		r("a flag that stays says why", ill(), dead(flagOnly(-m), checks("disk on n2: full")), ActNone, ReasonDisarmed,
			that("says why", func(d Decision) bool {
				return strings.HasSuffix(d.Detail, ", which is over, and stays: the checks fail: disk on n2: full")
			})),
		r("one made without clocks ends by the wall clock", ill(), dead(checks(""), flag(Flag{Until: at(-s).Wall})), ActRestart, ReasonRankDead),
		r("an ended flag with no rank running still holds", known(Serving, emptyHouse...), sees(allGone, flagUntil(-m)), ActNone, ReasonDisarmed, that("the flag stays", func(d Decision) bool { return !d.EndFlag })),
		r("an ended flag goes while all is well", known(Serving), sees(serves, flagUntil(-m)), ActNone, ReasonServed, that("the flag goes", func(d Decision) bool { return d.EndFlag })),
		r("an unreadable flag does not end", ill(), dead(flag(Flag{Err: "short", Until: at(-h).Wall})), ActNone, ReasonDisarmed),
		r("never armed", ill(notArmed), dead(), ActNone, ReasonNotArmed, would),
		r("armed for another identity", ill(armedFor("other")), dead(), ActNone, ReasonOtherIdentity, would),
		r("disarmed: a resume too", known(Serving, servedAt(-h), tried(-3*m, committed), notArmed), sees(allGone), ActNone, ReasonNotArmed, wants(ActResume, ReasonResume)),
		r("disarmed: no second look", known(Serving), sees(dies(1, 1), flag(Flag{})), ActNone, ReasonFailing, strikes(TermRank, 1), told()),
		r("disarmed: strikes and phase go on", known(Booting, notArmed), sees(serves), ActNone, ReasonServed, phase(Serving)),

		// 3. Look first.
		r("a resume waits for the look after the first", known(Serving, lastLook(-halfHour), servedAt(-h), tried(-halfHour, committed)), sees(allGone), ActNone, ReasonLookFirst, wants(ActResume, ReasonResume), told()),

		// 4. A person's stop.
		r("W01: stopped by a person", known(Serving), sees(exited(1, 0), event(1, "stop", -30*s)), ActLookAgain, ReasonLookAgain, graced(true), told(NoticePerson)),
		r("W01: nothing is done for 10 min", ill(graceFrom(-5*m)), dead(), ActNone, ReasonGrace, would, told(),
			says("phase=SERVING would restart (container not running: rank 1 (n2) is gone): a person is at work: rank 1 (n2) was stopped by someone else, 5m left")),
		r("the 10 min run from the stop, not from the look", known(Serving), sees(exited(1, 0), event(1, "stop", -30*s)), ActLookAgain, ReasonLookAgain, that("from", func(d Decision) bool { return d.Next.Grace.From.Equal(at(-30 * s)) })),
		r("a stop of what we launched, before any look saw it", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 40*s), started(2, "c", 40*s), launchedStopped(1, "b", "stop")), ActLookAgain, ReasonLookAgain, phase(Booting), graced(true), told(NoticePerson)),
		r("a crash of what we launched, before any look saw it", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 40*s), started(2, "c", 40*s), launchedStopped(1, "b", "die")), ActLookAgain, ReasonLookAgain, phase(Booting), graced(false)),
		r("of what we launched and no look saw, a destroy alone tells nothing", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 40*s), started(2, "c", 40*s), launchedStopped(1, "b", "destroy"), gone(1)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("docker rm -f", known(Serving), sees(gone(1), signal(1, "kill", "KILL", -30*s), event(1, "die", -30*s), event(1, "destroy", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("docker rm of a rank that had died", known(Serving, knownStatus(1, "exited"), struck(TermRank, 1, -m)), sees(gone(1), event(1, "destroy", -30*s)), ActNone, ReasonGrace, graced(true)),
		r("a stop of a paused rank", known(Serving, knownStatus(1, "paused")), sees(exited(1, 0), event(1, "stop", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a destroy after --rm is Docker's", known(Serving, autoRemove), sees(gone(1), event(1, "die", -30*s), event(1, "destroy", -30*s)), ActLookAgain, ReasonLookAgain, graced(false), told()),
		r("a kill that ends a --rm container is a person's", known(Serving, autoRemove), sees(gone(1), signal(1, "kill", "INT", -40*s), event(1, "die", -30*s), event(1, "destroy", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a kill 2 min before the die", known(Serving, lastLook(-4*m)), sees(exited(1, 143), signal(1, "kill", "TERM", -150*s), event(1, "die", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a kill more than 2 min before the die was not the stop", known(Serving, lastLook(-4*m)), sees(exited(1, 1), signal(1, "kill", "TERM", -151*s), event(1, "die", -30*s)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("a kill seen by the look before", known(Serving, knows(1, func(k *Known) { k.Killed = at(-90 * s).Wall })), sees(exited(1, 143), event(1, "die", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a kill without a die is remembered", known(Serving), sees(signal(1, "kill", "TERM", -10*s)), ActNone, ReasonCannotTell, graced(false), that("remembered", func(d Decision) bool { return d.Next.Ranks[1].Killed.Equal(at(-10 * s).Wall) })),
		r("a HUP is not a stop", known(Serving), sees(exited(1, 1), signal(1, "kill", "HUP", -40*s), event(1, "die", -30*s)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("E03: a plain die with exit code 0 is a crash", known(Serving), sees(dies(0, 0)), ActLookAgain, ReasonLookAgain, graced(false), told()),
		r("a plain die with 143 is a crash", known(Serving), sees(dies(1, 143)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("a stop of another id is nobody's", known(Serving), sees(dies(1, 1), seen(1, func(r *Rank) { r.Events = append(r.Events, Event{At: at(-s).Wall, ID: "other", Action: "stop"}) })), ActLookAgain, ReasonLookAgain, graced(false)),
		r("our own removal is not a person's stop", known(Serving, servedAt(-h), tried(-2*m, committed)), sees(gone(0), event(0, "destroy", -30*s)), ActResume, ReasonResume, graced(false), told()),
		r("our own removal, the attempt closed since by arm", known(Serving, servedAt(-h), tried(-2*m, committed, ended(80*s, OutcomeBroken)), armedAt(-30*s)), sees(gone(0), event(0, "destroy", -60*s)), ActNone, ReasonLookFirst, graced(false)),
		r("a stop long after an attempt that ended before it destroyed is a person's", known(Serving, tried(-3*h, committed, ended(20*s, OutcomeSwitch)), armedAt(-2*h)), sees(exited(1, 0), event(1, "stop", -30*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("grace holds no resume", known(Serving, servedAt(-h), graceFrom(-m), tried(-3*m, committed)), sees(allGone), ActResume, ReasonResume),
		r("an event in the node's future was seen before its clock was set back", known(Serving, knownStatus(1, "exited"), knows(1, func(k *Known) { k.Clock = at(-3 * h).Wall }), struck(TermRank, 1, -m)), sees(exited(1, 0), event(1, "stop", m)), ActRestart, ReasonRankDead, graced(false)),
		r("a history without a die, a rank runs: a crash", known(Serving), sees(exited(1, 1)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("a history without a die, no rank runs: grace", known(Serving), sees(allGone), ActLookAgain, ReasonLookAgain, graced(true), told(NoticePerson)),
		r("a die that the look before has seen, no rank runs: a crash", known(Serving, died(0), died(1), died(2)), sees(allGone), ActLookAgain, ReasonLookAgain, graced(false)),
		r("a die seen while its container still ran is remembered", known(Serving), sees(event(1, "die", -s)), ActNone, ReasonCannotTell, that("remembered", func(d Decision) bool { return d.Next.Ranks[1].Died == "c1@s" })),
		r("256 events, no rank runs: grace", known(Serving), sees(dies(0, 0), dies(1, 0), dies(2, 0), seen(2, func(r *Rank) { r.EventsSeen = 256 })), ActLookAgain, ReasonLookAgain, graced(true)),
		r("255 events and a die: a crash", known(Serving), sees(dies(0, 0), dies(1, 0), dies(2, 0), seen(2, func(r *Rank) { r.EventsSeen = 255 })), ActLookAgain, ReasonLookAgain, graced(false)),
		r("256 events, a rank runs: a crash", known(Serving), sees(dies(1, 0), seen(1, func(r *Rank) { r.EventsSeen = 256 })), ActLookAgain, ReasonLookAgain, graced(false)),
		r("256 events, a node is silent: a crash", known(Serving), sees(silent(0), dies(1, 0), dies(2, 0), seen(1, func(r *Rank) { r.EventsSeen = 256 })), ActLookAgain, ReasonLookAgain, graced(false)),
		r("the last look is in the node's future, no rank runs: grace", known(Serving, knows(2, func(k *Known) { k.Clock = at(m).Wall })), sees(dies(0, 0), dies(1, 0), dies(2, 0)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("events that could not be read, no rank runs: grace", known(Serving), sees(dies(0, 0), dies(1, 0), dies(2, 0), seen(2, func(r *Rank) { r.EventsErr = "timeout" })), ActLookAgain, ReasonLookAgain, graced(true)),
		r("all dead with their dies: a crash", known(Serving), sees(dies(0, 0), dies(1, 1), dies(2, 1)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("all paused is not ended", known(Serving), sees(status(0, "paused"), status(1, "paused"), status(2, "paused")), ActNone, ReasonCannotTell, graced(false)),
		r("an end before the last look needs no history", known(Serving, knownStatus(0, "exited"), knownStatus(1, "exited"), knownStatus(2, "exited"), struck(TermRank, 1, -m)), sees(exited(0, 0), exited(1, 0), exited(2, 0)), ActRestart, ReasonRankDead, graced(false)),

		// 5. GIVEN_UP.
		r("GIVEN_UP is not left by time", known(GivenUp, seenAt(-30*24*h)), dead(), ActNone, ReasonGivenUp, phase(GivenUp)),
		r("nor by arm", known(GivenUp, armedAt(-90*s)), dead(), ActNone, ReasonGivenUp, phase(GivenUp)),
		r("nor by an old launch whose clock was wrong, two boots of the head later", known(GivenUp, tried(-5*h, launched("c0", "c1", "c2")), func(s *State) {
			s.Adopted, s.Seen.BootID, s.Last.BootID = 1, "boot-0", "boot-0"
			s.Attempts[0].Launching = Clock{Wall: noon.Wall.Add(-m), Boot: 5, BootID: "boot-00"}
		}), sees(), ActNone, ReasonGivenUp, phase(GivenUp)),
		r("nor by a look at nothing", known(GivenUp), sees(nothingAtAll), ActNone, ReasonGivenUp, phase(GivenUp)),
		r("that it gave up is told until somebody could be told", known(GivenUp), dead(), ActNone, ReasonGivenUp, told(NoticeGaveUp)),
		r("and not again", known(GivenUp, wasTold(keyGaveUp)), dead(), ActNone, ReasonGivenUp, told()),
		r("giving up once more in one incident is told", ill(counted(-2*h), counted(-h), wasTold(keyGaveUp)), dead(), ActNone, ReasonBudget, phase(GivenUp), told(NoticeGaveUp)),
		r("nor for an open attempt", known(GivenUp, servedAt(-h), tried(-3*m, committed)), sees(allGone), ActNone, ReasonGivenUp, wants(ActResume, ReasonResume)),
		r("a restart that a person asked for since goes on", known(GivenUp, seenAt(-h), sinceAt(-h), servedAt(-2*h), tried(-3*m, byAnna, committed)), sees(allGone), ActResume, ReasonResume, phase(GivenUp)),
		r("one from before it gave up does not", known(GivenUp, seenAt(-m), sinceAt(-m), servedAt(-2*h), tried(-3*m, byAnna, committed)), sees(allGone), ActNone, ReasonGivenUp),
		r("a person's launch leaves it for BOOTING, the budget as it was", known(GivenUp, seenAt(-h), sinceAt(-h), tried(-2*h, launching, ended(80*s, OutcomeLaunched)), tried(-h, launching, ended(80*s, OutcomeLaunched)), tried(-3*m, byAnna, launched("d0", "d1", "d2"))),
			sees(started(0, "d0", 2*m), started(1, "d1", 2*m), started(2, "d2", 2*m)), ActNone, ReasonBooting, phase(Booting), that("spent", func(d Decision) bool {
				return rowPolicy().Used(State{Attempts: []Attempt{{Launching: at(-2 * h)}, {Launching: at(-h)}, {By: "anna", Launching: at(-3 * m)}}}, at(0)) == 2
			})),
		r("an old reset does not", known(GivenUp, resetAt(-h)), dead(), ActNone, ReasonGivenUp),
		r("one that was there before it gave up does not, whatever a wrong clock says", known(GivenUp, resetAt(-30*s), func(st *State) { st.GaveUpAfter = st.Reset }), dead(), ActNone, ReasonGivenUp),
		r("reset leaves it for BOOTING where nothing has served", known(GivenUp, resetAt(-30*s), counted(-2*h)), dead(), ActLookAgain, ReasonLookAgain, phase(Booting)),
		r("reset leaves it for SERVING where the head has served", known(GivenUp, resetAt(-30*s), gaveUpIn(Serving)), sees(), ActNone, ReasonCannotTell, phase(Serving)),
		r("a budget spent in SERVING remembers that", ill(counted(-2*h), counted(-h)), dead(), ActNone, ReasonBudget, that("SERVING", func(d Decision) bool { return d.Next.GaveUpIn == Serving })),
		r("reset leaves it for BOOTING where a later launch has not served, though an earlier one had", known(GivenUp, resetAt(-30*s), gaveUpIn(Booting), func(s *State) { s.ServedBy = "c0@s" }), sees(silent(0)), ActNone, ReasonBooting, phase(Booting)),
		r("reset goes on with the launch that failed: no new pause", known(GivenUp, resetAt(-30*s), tried(-2*h, launched("c0", "c1", "c2"))), dead(), ActLookAgain, ReasonLookAgain, since(-2*h+30*s), that("no early death", func(d Decision) bool { return d.Next.EarlyDeath.IsZero() })),
		r("and gives it the whole limit", known(GivenUp, resetAt(-30*s), tried(-2*h, launched("c0", "c1", "c2"))), sees(canary(Refused)), ActNone, ReasonBooting, strikes(TermBoot, 0)),
		r("reset where nothing was ever launched by us", known(GivenUp, resetAt(-30*s)), sees(), ActNone, ReasonBooting, since(-30*s)),

		// 6. The budget.
		r("2 counted attempts within 6 h", ill(counted(-5*h), counted(-h)), dead(), ActNone, ReasonBudget, would, phase(GivenUp), told(NoticeGaveUp), that("preserve", func(d Decision) bool { return d.Preserve }),
			says("container not running: rank 1 (n2) is gone → GIVEN_UP: budget spent: restart 2/2 in 6h until 13:00; `cluster-watchdog reset --reason` refills")),
		r("the first of them is older than 6 h", ill(counted(-6*h-s-30*s), counted(-h)), dead(), ActRestart, ReasonRankDead, that("nothing to preserve", func(d Decision) bool { return !d.Preserve })),
		r("it is just 6 h old", ill(counted(-6*h-29*s), counted(-h)), dead(), ActNone, ReasonBudget),
		r("a person's restarts do not count", ill(tried(-5*h, byAnna, launching), counted(-h)), dead(), ActRestart, ReasonRankDead),
		r("those that never launched do not count", ill(tried(-2*h, committed, ended(60*s, OutcomeRefused)), tried(-h, ended(20*s, OutcomeRefused)), counted(-halfHour), seenAt(-20*m)), dead(), ActRestart, ReasonRankDead),
		r("one that the switch ended does not count", ill(tried(-2*h, launching, ended(60*s, OutcomeSwitch)), counted(-h)), dead(), ActRestart, ReasonRankDead),
		r("disarmed, a spent budget does not give up", ill(counted(-2*h), counted(-h)), dead(flag(Flag{})), ActNone, ReasonDisarmed, phase(Serving)),
		r("in grace, a spent budget does not give up", ill(counted(-2*h), counted(-h), graceFrom(-m)), dead(), ActNone, ReasonGrace, phase(Serving)),
		r("a group that is well does not give up", known(Serving, counted(-2*h), counted(-h)), sees(serves), ActNone, ReasonServed),
		r("reset refills", ill(counted(-2*h), counted(-h), resetAt(-halfHour)), dead(), ActRestart, ReasonRankDead),
		r("arm does not refill", ill(counted(-2*h), counted(-h), armedAt(-halfHour)), dead(), ActNone, ReasonBudget, phase(GivenUp)),
		r("a reset in this boot forgives attempts of an earlier one with a wrong clock", ill(counted(-2*h), counted(-h), resetAt(-halfHour), func(s *State) {
			for i := range s.Attempts {
				s.Attempts[i].Launching = Clock{Wall: noon.Wall.AddDate(3, 0, 0), Boot: 5, BootID: "boot-0"}
			}
		}), dead(), ActRestart, ReasonRankDead),

		// 7. The pause.
		r("5 min from the end of a failed launch", known(Booting, bootFrom(-150*s), tried(-3*m, launching, ended(60*s, OutcomeLaunchFailed)), neverRan(0), struck(TermRank, 1, -m)), sees(gone(0)), ActNone, ReasonPause, wants(ActRestart, ReasonRankMissing), told()),
		r("after it", known(Booting, bootFrom(-6*m-s), tried(-6*m-31*s, launching, ended(91*s, OutcomeLaunchFailed)), neverRan(0), struck(TermRank, 1, -m)), sees(gone(0)), ActRestart, ReasonRankMissing),
		r("5 min from the look that found a boot dead early", known(Booting, goneBefore(1), earlyDeathAt(-m), struck(TermRank, 1, -m)), sees(gone(1)), ActNone, ReasonPause),
		r("after that", known(Booting, goneBefore(1), earlyDeathAt(-5*m), struck(TermRank, 3, -5*m)), sees(gone(1)), ActRestart, ReasonRankDead),
		r("a boot found dead within 10 min is an early death", known(Booting, bootFrom(-10*m+s)), sees(dies(1, 1)), ActLookAgain, ReasonLookAgain, that("early", func(d Decision) bool { return d.Next.EarlyDeath.Equal(at(0)) })),
		r("one found dead later is not", known(Booting, bootFrom(-10*m)), sees(dies(1, 1)), ActLookAgain, ReasonLookAgain, that("not early", func(d Decision) bool { return d.Next.EarlyDeath.IsZero() })),
		r("a death in SERVING needs no pause", known(Serving), sees(dies(1, 1)), ActLookAgain, ReasonLookAgain, that("not early", func(d Decision) bool { return d.Next.EarlyDeath.IsZero() })),
		r("a spent budget does not wait for the pause", known(Booting, goneBefore(1), earlyDeathAt(-m), struck(TermRank, 1, -m), counted(-2*h), counted(-h)), sees(gone(1)), ActNone, ReasonBudget, phase(GivenUp)),

		// Beside any action.
		r("a flusher whose boot is over ends", known(Serving, tried(-10*h, launched("c0", "c1", "c2"), flusher)), sees(serves), ActNone, ReasonServed, endsFlusher(true)),
		r("one whose boot goes on does not", known(Booting, tried(-5*m, launched("c0", "c1", "c2"), flusher)), sees(), ActNone, ReasonBooting, endsFlusher(false)),
		r("one whose attempt is open does not", known(Serving, servedAt(-h), tried(-5*m, committed, flusher)), sees(), ActResume, ReasonResume, endsFlusher(false)),
		r("one of a closed attempt does", known(Serving, tried(-5*m, committed, flusher)), sees(), ActNone, ReasonCannotTell, endsFlusher(true)),
		r("also disarmed", known(Serving, notArmed, tried(-10*h, launched("c0", "c1", "c2"), flusher)), sees(), ActNone, ReasonCannotTell, endsFlusher(true)),
		r("also in GIVEN_UP", known(GivenUp, tried(-9*h, launched("c0", "c1", "c2"), flusher)), sees(), ActNone, ReasonGivenUp, endsFlusher(true)),
		r("not twice", known(Serving, tried(-10*h, launched("c0", "c1", "c2"), flusher, flusherEnded)), sees(), ActNone, ReasonCannotTell, endsFlusher(false)),
	}
}

func endsFlusher(want bool) check {
	return that("the flusher's end", func(d Decision) bool { return d.EndFlusher == want })
}

// Each early refusal beats each later one.
func TestGateOrder(t *testing.T) {
	facts := []struct {
		reason Reason
		know   fact
		see    sight
	}{
		{ReasonStoreFault, nil, storeFault},
		{ReasonClock, func(s *State) { s.Earlier, s.ClockDoubt, s.Arm.At.BootID = at(h), true, "boot-0" }, nil},
		{ReasonDisarmed, nil, flag(Flag{})},
		{ReasonOtherIdentity, armedFor("other"), nil},
		{ReasonGrace, graceFrom(-m), nil},
		{ReasonBudget, func(s *State) { counted(-2 * h)(s); counted(-h)(s) }, nil},
		{ReasonPause, earlyDeathAt(-m), nil},
	}
	for i := range facts {
		st := known(Serving, goneBefore(1), struck(TermRank, 1, -m))
		o := sees(gone(1))
		for _, f := range facts[i:] {
			if f.know != nil {
				f.know(&st)
			}
			if f.see != nil {
				f.see(&o)
			}
		}
		if d := Decide(rowPolicy(), st, o); d.Action != ActNone || d.Reason != facts[i].reason {
			t.Errorf("got %v %q, want %q", d.Action, d.Reason, facts[i].reason)
		}
	}
}

// All words of the domain print; a number that is none of them says so.
func TestWords(t *testing.T) {
	for p := None; p <= GivenUp; p++ {
		checkWord(t, p.String())
	}
	for a := ActNone; a <= ActResume; a++ {
		checkWord(t, a.String())
	}
	for r := Unknown; r <= Failing; r++ {
		checkWord(t, r.String())
	}
	for o := OutcomeNone; o <= OutcomeRecovered; o++ {
		checkWord(t, o.String())
	}
	for r := ReachNotAsked; r <= ReachHeld; r++ {
		checkWord(t, r.String())
	}
	for k := NoticeRestart; k <= NoticeTrouble; k++ {
		checkWord(t, k.String())
	}
	for _, s := range []string{Phase(9).String(), Action(9).String(), Reading(9).String(), AttemptOutcome(99).String(), Reach(99).String(), NoticeKind(99).String(), Reason(999).String()} {
		if !strings.HasPrefix(s, "internal error") {
			t.Errorf("%q", s)
		}
	}
}

func checkWord(t *testing.T, s string) {
	t.Helper()
	if s == "" || strings.Contains(s, "internal error") {
		t.Errorf("a value has no word: %q", s)
	}
}
