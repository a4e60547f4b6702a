package watchdog

import (
	"strings"
	"testing"
	"time"
)

// judgeRows are about what should be done, whoever may forbid it.
func judgeRows() []row {
	threeStruck := func(term Term) fact { return struck(term, 2, -9*m) }
	return []row{
		// 1. Served.
		r("a serving group", known(Serving, live), sees(serves, counts(100, 101)), ActNone, ReasonServed, phase(Serving), says("phase=SERVING served a completion")),
		r("a serving group with a silent node says so", known(Serving, live), sees(serves, counts(100, 101), silent(1)), ActNone, ReasonServed, phase(Serving), says("phase=SERVING served a completion; rank 1 (n2) cannot be asked: dial: timeout")),

		// 2. An open attempt.
		r("an attempt that committed and did not launch goes on", known(Serving, servedAt(-h), tried(-3*m, committed, ended(60*s, OutcomeRefused))), sees(gone(0), gone(1), gone(2)), ActResume, ReasonResume,
			says("group is down (phase=SERVING) → resume: attempt 1 goes on after step memory is back, waiting for: n2 has 3 GiB free")),
		r("also one that was killed", known(Booting, tried(-3*m, committed)), sees(gone(0), gone(1), gone(2)), ActResume, ReasonResume),
		r("also one that was interrupted", known(Booting, tried(-3*m, committed, ended(60*s, OutcomeInterrupted))), sees(gone(0)), ActResume, ReasonResume),
		r("also one that the switch ended, once the flag is gone", known(Booting, tried(-3*m, committed, ended(60*s, OutcomeSwitch))), sees(gone(0)), ActResume, ReasonResume),
		r("also a person's, in NONE", known(None, tried(-3*m, byAnna, committed, ended(60*s, OutcomeRefused))), sees(gone(0), gone(1), gone(2)), ActResume, ReasonResume),
		r("it counts nothing: a spent budget lets it go on", known(Serving, servedAt(-h), counted(-2*h), counted(-h), tried(-3*m, committed, ended(60*s, OutcomeRefused))), sees(gone(0)), ActResume, ReasonResume),
		r("nor does a pause hold it", known(Booting, earlyDeathAt(-m), tried(-3*m, committed, ended(60*s, OutcomeRefused))), sees(gone(0)), ActResume, ReasonResume),
		r("one that never committed is not open", known(Serving, tried(-3*m, ended(60*s, OutcomeRefused))), sees(gone(0)), ActLookAgain, ReasonLookAgain),
		r("one that launched is not open", known(Serving, tried(-80*s, launching, ended(60*s, OutcomeLaunchFailed))), sees(gone(0), gone(1), gone(2)), ActLookAgain, ReasonLookAgain, phase(Booting)),
		r("closed by a completion since", known(Serving, servedAt(-m), tried(-3*m, committed)), sees(), ActNone, ReasonCannotTell),
		r("not by one before", known(Serving, servedAt(-3*m), tried(-3*m, committed)), sees(), ActResume, ReasonResume),
		r("closed by a person's start since", known(Booting, personStartAt(-m), tried(-3*m, committed)), sees(), ActNone, ReasonBooting),
		r("closed by arm since", known(Serving, armedAt(-90*s), tried(-3*m, committed), servedAt(-h)), sees(), ActNone, ReasonCannotTell),
		r("closed by reset since", known(Serving, resetAt(-90*s), tried(-3*m, committed), servedAt(-h)), sees(), ActNone, ReasonCannotTell),
		r("an arm of this boot closes one of an earlier boot whose clock was wrong", known(Serving, armedAt(-90*s), servedAt(-h), tried(-3*m, committed), func(s *State) {
			s.Attempts[0].Committed = Clock{Wall: noon.Wall.AddDate(3, 0, 0), Boot: 5, BootID: "boot-0"}
		}), sees(), ActNone, ReasonCannotTell),
		r("two tries that ended in a failed destroy step go on", known(Serving, servedAt(-h), tried(-3*m, committed, destroysFailed(2), ended(60*s, OutcomeBroken))), sees(), ActResume, ReasonResume),
		r("D01: three are GIVEN_UP", known(Serving, servedAt(-h), tried(-3*m, committed, ended(60*s, OutcomeBroken), destroysFailed(3))), sees(), ActNone, ReasonDestroyFailed, phase(GivenUp), told(NoticeGaveUp),
			says("phase=GIVEN_UP containers cannot be removed: 3 tries ended in step remove containers: cannot kill")),
		r("told once", known(GivenUp, wasTold(keyGaveUp), servedAt(-h), tried(-40*m, committed, ended(60*s, OutcomeBroken), destroysFailed(3))), sees(), ActNone, ReasonDestroyFailed, phase(GivenUp), told()),

		// 3. BOOTING.
		r("a boot within its limit", known(Booting), sees(wedged), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, limit 1h15m")),
		r("a boot tells how long the last one took", known(Booting, func(s *State) { s.LastGood = &LastGood{Identity: "id", Boot: 14 * m} }), sees(wedged), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, last time 14m, limit 1h15m")),
		r("a boot of another config says nothing of this one", known(Booting, func(s *State) { s.LastGood = &LastGood{Identity: "other", Boot: 14 * m} }), sees(wedged), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, limit 1h15m")),
		r("a refused port, 503, silence mean nothing before the limit", known(Booting, bootFrom(-70*m)), sees(canary(Refused), health(503)), ActNone, ReasonBooting, strikes(TermBoot, 0)),
		r("E05: a boot of 74 min that says nothing is loading", known(Booting, bootFrom(-74*m)), sees(canary(ConnectTimeout), noCounters), ActNone, ReasonBooting),
		r("a dead rank, first look", known(Booting), sees(dies(2, 139)), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1)),
		r("a dead rank, second look", known(Booting, bootFrom(-20*m), goneBefore(2), struck(TermRank, 1, -m)), sees(gone(2)), ActRestart, ReasonRankDead,
			says("container not running (phase=BOOTING) → restart: rank 2 (n3) is gone")),
		r("a rank dead on an answering Docker, another node silent", known(Booting, bootFrom(-20*m), goneBefore(2), struck(TermRank, 1, -m)), sees(silent(1), gone(2)), ActRestart, ReasonRankDead),
		r("a rank missing 9 min after the youngest appeared", known(Booting, bootFrom(-9*m), neverRan(2)), sees(gone(2)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a rank missing after 10 min, first look", known(Booting, bootFrom(-10*m), neverRan(2)), sees(gone(2)), ActLookAgain, ReasonLookAgain),
		r("a rank missing after 10 min, second look", known(Booting, bootFrom(-11*m), neverRan(2), struck(TermRank, 1, -m)), sees(gone(2)), ActRestart, ReasonRankMissing),
		r("the 10 min run from the youngest rank that appeared", known(Booting, bootFrom(-30*m), neverRan(2), knows(1, func(k *Known) { k.FirstSeen = at(-5 * m) })), sees(gone(2)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a rank created and never started is missing", known(Booting, bootFrom(-11*m), neverRan(2), struck(TermRank, 1, -m)), sees(seen(2, func(r *Rank) { *r.Container = Container{ID: "x", Status: "created", StartedAt: neverStarted} })), ActRestart, ReasonRankMissing),
		r("a rank on a silent node is not missing", known(Booting, bootFrom(-30*m), neverRan(2)), sees(silent(2)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("missing at once after a failed launch", known(Booting, bootFrom(-90*s), tried(-2*m, launching, ended(60*s, OutcomeLaunchFailed)), neverRan(0)), sees(gone(0)), ActLookAgain, ReasonLookAgain,
			that("missing", func(d Decision) bool { return d.Readings.Rank.Cause == CauseRankMissing })),
		r("not missing while a launch whose end was not recorded may go on", known(Booting, bootFrom(-9*m), tried(-9*m-30*s, launching), neverRan(0)), sees(gone(0)), ActNone, ReasonBooting),
		r("missing when its timeout is over", known(Booting, bootFrom(-20*m-s), tried(-20*m-31*s, launching), neverRan(0), knows(1, func(k *Known) { k.FirstSeen = at(-m) })), sees(gone(0)), ActLookAgain, ReasonLookAgain),
		r("not missing after a launch that went well", known(Booting, bootFrom(-90*s), tried(-2*m, launched("c0", "c1", "c2")), neverRan(2)), sees(gone(2)), ActNone, ReasonBooting),
		r("past the limit, unanswered: first look", known(Booting, bootFrom(-75*m-s), live), sees(wedged), ActNone, ReasonBooting, strikes(TermBoot, 1)),
		r("past the limit, second look", known(Booting, bootFrom(-76*m), live, struck(TermBoot, 1, -m)), sees(wedged), ActRestart, ReasonBootLimit),
		r("past the limit, begun in an earlier boot whose clock was wrong", known(Booting, bootFrom(-76*m), begunInWrongTime, struck(TermBoot, 1, -m)), sees(canary(Refused)), ActRestart, ReasonBootLimit),
		r("a rank missing since an earlier boot whose clock was wrong", known(Booting, bootFrom(-11*m), begunInWrongTime, neverRan(2), struck(TermRank, 1, -m)), sees(gone(2)), ActRestart, ReasonRankMissing),
		r("past the limit, its port refused", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(canary(Refused)), ActRestart, ReasonBootLimit),
		r("past the limit, answered with 500", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(answers(500), noCounters), ActRestart, ReasonBootLimit),
		r("at the limit it is not past", known(Booting, bootFrom(-75*m), struck(TermBoot, 1, -m)), sees(canary(Refused)), ActNone, ReasonBooting),
		r("past the limit but busy", known(Booting, bootFrom(-76*m), live, struck(TermBoot, 1, -m)), sees(working), ActNone, ReasonBooting, strikes(TermBoot, 0)),
		r("past the limit but misconfigured", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(answers(401)), ActNone, ReasonBooting, strikes(TermBoot, 1)),
		r("past the limit but unknown", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(), ActNone, ReasonBooting, strikes(TermBoot, 1)),
		r("the limit runs from our first look where that is later", known(Booting, bootFrom(-10*h), seenAt(-20*m), struck(TermBoot, 1, -m)), sees(canary(Refused)), ActNone, ReasonBooting),

		// 4. SERVING: a dead rank.
		r("E03: a head that exited with 0", known(Serving, struck(TermRank, 1, -m)), sees(dies(0, 0)), ActRestart, ReasonRankDead),
		r("dead", known(Serving, struck(TermRank, 1, -m)), sees(status(1, "dead")), ActRestart, ReasonRankDead),
		r("created", known(Serving, struck(TermRank, 1, -m)), sees(status(1, "created")), ActRestart, ReasonRankDead),
		r("removing", known(Serving, struck(TermRank, 1, -m)), sees(status(1, "removing")), ActRestart, ReasonRankDead),
		r("missing", known(Serving, struck(TermRank, 1, -m), goneBefore(1)), sees(gone(1)), ActRestart, ReasonRankDead),
		r("paused is not dead: a person's doing", known(Serving, struck(TermRank, 1, -m), live, threeStruck(TermProgress)), sees(status(1, "paused"), wedged), ActNone, ReasonFailing, told(NoticeTrouble)),
		r("a paused group whose counters move is Busy", known(Serving, live), sees(status(1, "paused"), working), ActNone, ReasonBusy),
		r("never seen running is not dead", known(Serving, knows(1, func(k *Known) { k.Container.Status, k.Ran = "exited", "" }), struck(TermRank, 1, -m)), sees(exited(1, 1)), ActNone, ReasonFailing),
		r("D09, D13: a Docker that does not answer is Unknown", known(Serving, struck(TermRank, 1, -m)), sees(dockerSilent(1)), ActNone, ReasonFailing, strikes(TermRank, 1)),
		r("a node that does not answer is Unknown", known(Serving), sees(silent(0), silent(1), silent(2)), ActNone, ReasonCannotTell),
		r("D08: 137 is SIGKILL, OOMKilled is only noted", known(Serving), sees(dies(1, 137), seen(1, func(r *Rank) { r.Container.OOMKilled = true })), ActLookAgain, ReasonLookAgain,
			that("words", func(d Decision) bool {
				return strings.Contains(d.Detail, "exited 137 (SIGKILL), Docker notes an OOM kill in it")
			})),
		r("no second look after the second look", known(Serving), sees(ranksOnly, dies(1, 1)), ActNone, ReasonFailing),
		r("W03: deaths by our own clean-up are not new crashes", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 20*s), started(2, "c", 20*s), event(0, "die", -60*s), event(1, "die", -60*s), event(1, "destroy", -60*s)), ActNone, ReasonBooting, graced(false), strikes(TermRank, 0)),

		// 4. SERVING: an engine that says so.
		r("E01: vLLM's 503, first look", known(Serving, engineWas(VLLM)), sees(health(503)), ActNone, ReasonFailing, strikes(TermEngine, 1), says("phase=SERVING failing: /health says 503 (failing 1/3)")),
		r("E01: vLLM's 503, third look", known(Serving, engineWas(VLLM), struck(TermEngine, 2, -2*m)), sees(health(503)), ActRestart, ReasonEngineDead),
		r("E01: vLLM's 500, third look", known(Serving, engineWas(VLLM), struck(TermEngine, 2, -2*m)), sees(health(500)), ActRestart, ReasonEngineDead),
		r("looks less than 50 s apart count once", known(Serving, engineWas(VLLM), struckUntil(TermEngine, 2, -2*m, -49*s)), sees(health(503)), ActNone, ReasonFailing, strikes(TermEngine, 2)),
		r("50 s apart they count", known(Serving, engineWas(VLLM), struckUntil(TermEngine, 2, -2*m, -50*s)), sees(health(503)), ActRestart, ReasonEngineDead),
		r("a 503 while counters move is Busy", known(Serving, live, struck(TermEngine, 2, -2*m)), sees(working, health(503)), ActNone, ReasonBusy, strikes(TermEngine, 0)),
		r("a 503 while counters move and a rank is dead is not Busy", known(Serving, live, struck(TermEngine, 2, -2*m)), sees(working, health(503), dies(1, 1)), ActLookAgain, ReasonLookAgain, strikes(TermEngine, 2)),
		r("a 503 after counters moved may be its death", known(Serving, live, engineWas(VLLM)), sees(working, health(503)), ActNone, ReasonBusy, strikes(TermEngine, 0), saidDead(0)),
		r("then the next look is the second of it", known(Serving, live, engineWas(VLLM), saidDeadAt(-m)), sees(wedged, health(503)), ActNone, ReasonFailing, strikes(TermEngine, 2)),
		r("and not where it lies too long back", known(Serving, live, engineWas(VLLM), saidDeadAt(-11*m)), sees(wedged, health(503)), ActNone, ReasonFailing, strikes(TermEngine, 1)),
		r("nor where no counters come any more", known(Serving, engineWas(VLLM), saidDeadAt(-m)), sees(health(503)), ActNone, ReasonFailing, strikes(TermEngine, 1)),
		r("a 200 between ends it", known(Serving, live, engineWas(VLLM), saidDeadAt(-m)), sees(wedged, health(200)), ActNone, ReasonFailing, saidDead(never)),
		r("/health 200 ends the streak", known(Serving, engineWas(VLLM), struck(TermEngine, 2, -2*m)), sees(health(200)), ActNone, ReasonCannotTell, strikes(TermEngine, 0)),
		r("another answer of /health says nothing", known(Serving, engineWas(VLLM), struck(TermEngine, 2, -2*m)), sees(health(404)), ActNone, ReasonFailing, strikes(TermEngine, 2)),
		r("E09: SGLang's 503 is no sign of death", known(Serving, engineWas(SGLang), struck(TermEngine, 2, -2*m)), sees(health(503)), ActNone, ReasonFailing, strikes(TermEngine, 2)),
		r("E09: SGLang's 503 takes the slow way: 6 min", known(Serving, live, engineWas(SGLang), struck(TermProgress, 2, -6*m)), sees(wedged, health(503), sglang), ActRestart, ReasonNoProgress, strikes(TermEngine, 0)),
		r("an unknown engine's 503 takes the slow way", known(Serving, struck(TermEngine, 2, -2*m)), sees(health(503)), ActNone, ReasonFailing, strikes(TermEngine, 2)),

		// 4. SERVING: no progress.
		r("E02: wedged, first look", known(Serving, live), sees(wedged), ActNone, ReasonFailing, strikes(TermProgress, 1),
			says("phase=SERVING failing: the canary was not answered within 30s, and its counters stand still (failing 1/3 over 0s/6m)")),
		r("E02: wedged for 5 min 59", known(Serving, live, struck(TermProgress, 5, -6*m+s)), sees(wedged), ActNone, ReasonFailing),
		r("E02: wedged for 6 min", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(wedged), ActRestart, ReasonNoProgress),
		r("two looks are not enough, however far apart", known(Serving, live, struckUntil(TermProgress, 1, -7*m, -7*m)), sees(wedged), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("Y10: three looks within 15 s are one", known(Serving, live, struckUntil(TermProgress, 1, -10*s, -10*s)), sees(wedged), ActNone, ReasonFailing, strikes(TermProgress, 1)),
		r("E06: wedged while idle: counters that stand still and a canary that hangs", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(wedged), ActRestart, ReasonNoProgress),
		r("E10, E11: counters that move are Busy, live or not", known(Serving, notLive, struck(TermProgress, 2, -6*m)), sees(working), ActNone, ReasonBusy),
		r("counters that move during the canary are Busy", known(Serving, notLive), sees(canary(Unanswered), counts(100, 101)), ActNone, ReasonBusy),
		r("Busy is not given while a rank is dead", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(working, dies(1, 1)), ActLookAgain, ReasonLookAgain, strikes(TermProgress, 2)),
		r("counters not known to be live: blind, 6 min are not enough", known(Serving, notLive, struck(TermProgress, 5, -6*m), blindly), sees(wedged), ActNone, ReasonFailing),
		r("counters not known to be live: 15 min are", known(Serving, notLive, struck(TermProgress, 5, -15*m), blindly), sees(wedged), ActRestart, ReasonNoProgress),
		r("no counters at all: 14 min are not enough", known(Serving, struck(TermProgress, 5, -14*m), blindly), sees(canary(Unanswered), noCounters), ActNone, ReasonFailing),
		r("no counters at all: 15 min are", known(Serving, struck(TermProgress, 5, -15*m), blindly), sees(canary(Unanswered), noCounters), ActRestart, ReasonNoProgress),
		r("one blind look makes the streak blind", known(Serving, live, struck(TermProgress, 5, -8*m), blindly), sees(wedged), ActNone, ReasonFailing),
		r("counters of an earlier start are not live", known(Serving, live, func(s *State) { s.Live = "old@s" }, struck(TermProgress, 5, -8*m)), sees(wedged), ActNone, ReasonFailing, that("blind", func(d Decision) bool { return d.Next.Strikes[0].Blind })),
		r("an answered canary that moved them makes them live", known(Serving), sees(serves, counts(100, 101)), ActNone, ReasonServed, that("live", func(d Decision) bool { return d.Next.Live == "c0@s" })),
		r("an answered canary that did not move them does not", known(Serving), sees(serves, counts(100, 100)), ActNone, ReasonServed, that("not live", func(d Decision) bool { return d.Next.Live == "" })),
		r("moving by others' requests does not", known(Serving, notLive), sees(working), ActNone, ReasonBusy, that("not live", func(d Decision) bool { return d.Next.Live == "" })),
		r("also not by others' requests while our canary hangs", known(Serving, notLive), sees(canary(Unanswered), counts(100, 101)), ActNone, ReasonBusy, that("not live", func(d Decision) bool { return d.Next.Live == "" })),
		r("no baseline yet: cannot tell", known(Serving), sees(wedged), ActNone, ReasonCannotTell, strikes(TermProgress, 0)),
		r("a baseline of another start: cannot tell", known(Serving, live, func(s *State) { s.Baseline.Head = "old@s" }), sees(wedged), ActNone, ReasonCannotTell),
		r("a baseline of 49 s: cannot tell, and it stays", known(Serving, live, baselineAt(-49*s)), sees(wedged), ActNone, ReasonCannotTell, that("stays", func(d Decision) bool { return d.Next.Baseline.At.Equal(at(-49 * s)) })),
		r("E12: counters that fell are a new start of counting", known(Serving, live), sees(canary(Unanswered), counts(7, 7)), ActNone, ReasonCannotTell, that("baseline", func(d Decision) bool { return d.Next.Baseline.Engines[0].Prompt == 7 })),
		r("a 5xx of the canary with flat counters is no progress", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(answers(500), counts(100, 100), health(200)), ActRestart, ReasonNoProgress),
		r("E19: a 503 of the canary with moving counters is Busy", known(Serving, live), sees(answers(503), counts(100, 1100), health(200)), ActNone, ReasonBusy),
		r("E19: 429 with moving counters is Busy", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(answers(429), counts(100, 1100)), ActNone, ReasonBusy, strikes(TermProgress, 0)),
		r("E19: 429 over counters that stand still clears nothing and adds nothing", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(answers(429), counts(100, 100)), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("a proxy's port is not the engine's", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(canary(Refused), counts(100, 100), health(200)), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("nor while only the engine's health answers", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(canary(Refused), health(200)), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("served: what the engine said of itself before is void", known(Serving, live, saidDeadAt(-m)), sees(serves, counts(100, 101)), ActNone, ReasonServed, that("void", func(d Decision) bool { return d.Next.SaidDead.IsZero() })),
		r("served and calls itself dead: no streak begins there", known(Serving, live), sees(serves, counts(100, 101), health(500)), ActNone, ReasonServed, that("void", func(d Decision) bool { return d.Next.SaidDead.IsZero() })),
		r("a boot past its limit that cannot be judged is told", known(Booting, bootFrom(-2*h)), sees(canary(Unreachable)), ActNone, ReasonBooting, told(NoticeTrouble)),
		r("before its limit it is not", known(Booting, bootFrom(-70*m)), sees(canary(Unreachable)), ActNone, ReasonBooting, told()),
		r("a refused port while the head's container runs is no progress", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(canary(Refused)), ActRestart, ReasonNoProgress),
		r("a refused port without live counters takes 15 min", known(Serving, struck(TermProgress, 2, -6*m)), sees(canary(Refused)), ActNone, ReasonFailing),
		r("a refused port while the head cannot be asked is Unknown", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(canary(Refused), silent(0)), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("no node can be asked: told at once", known(Serving, live), sees(silent(0), silent(1), silent(2), serves), ActNone, ReasonServed, told(NoticeTrouble)),
		r("and not each minute", known(Serving, live, wasTold(keyBlind)), sees(silent(0), silent(1), silent(2), serves), ActNone, ReasonServed, told()),
		r("one silent node is not all", known(Serving, live), sees(silent(1), serves), ActNone, ReasonServed, told()),
		r("E16: 401 is misconfigured, told", known(Serving, live), sees(answers(401), counts(100, 100)), ActNone, ReasonMisconfigured, told(NoticeTrouble)),
		r("E14: 400 and 404 are misconfigured", known(Serving, live, struckUntil(TermProgress, 2, -6*m, -11*m)), sees(answers(404), counts(100, 100)), ActNone, ReasonMisconfigured, strikes(TermProgress, 0)),
		r("misconfigured is told once", known(Serving, live, func(s *State) { s.Told = []string{"canary 401"} }), sees(answers(401), counts(100, 100)), ActNone, ReasonMisconfigured, told()),
		r("a question that does not reach it is not its fault", known(Serving, live), sees(canary(Unreachable), counts(100, 100)), ActNone, ReasonCannotTell),
		r("Busy for 30 min is told, not acted on", known(Serving, live, servedAt(-40*m), busyFrom(-30*m)), sees(working), ActNone, ReasonBusy, told(NoticeTrouble)),
		r("Busy for 29 min is not told", known(Serving, live, servedAt(-40*m), busyFrom(-29*m)), sees(working), ActNone, ReasonBusy, told()),
		r("the 30 min run from the last completion", known(Serving, live, servedAt(-10*m), busyFrom(-40*m)), sees(working), ActNone, ReasonBusy, told()),
		r("no completion for 30 min and nothing to tell why: told", known(Serving, servedAt(-halfHour)), sees(canary(Refused), silent(0)), ActNone, ReasonCannotTell, told(NoticeTrouble)),
		r("29 min: not told", known(Serving, servedAt(-29*m)), sees(canary(Refused), silent(0)), ActNone, ReasonCannotTell, told()),
		r("W04: three quick timeouts of a machine that is only busy", known(Serving, live, struck(TermProgress, 2, -20*s)), sees(canary(Unanswered), counts(100, 100)), ActNone, ReasonFailing),
		r("W04: timeouts for an hour while it works", known(Serving, live, servedAt(-h), struck(TermProgress, 2, -6*m)), sees(working), ActNone, ReasonBusy),
		r("W06: up, healthy, and hung", known(Serving, live, struck(TermProgress, 2, -6*m)), sees(canary(Unanswered), counts(100, 100), health(200)), ActRestart, ReasonNoProgress),
		r("W05: never served since its start", known(Booting, bootFrom(-30*m), struck(TermProgress, 2, -6*m)), sees(canary(Unanswered), counts(100, 100)), ActNone, ReasonBooting),
		r("W05: nothing launched, nothing wedged", known(None), sees(gone(0), gone(1), gone(2), canary(Refused)), ActNone, ReasonNothing),

		// 5. NONE.
		r("a wish on an empty group", known(None, wishAt(-90*s)), sees(gone(0), gone(1), gone(2)), ActLaunch, ReasonWish, says("launch asked for (phase=NONE) → launch: asked for by anna")),
		r("its first look only looks", known(None, wishAt(-30*s)), sees(gone(0), gone(1), gone(2)), ActNone, ReasonLookFirst, wants(ActLaunch, ReasonWish)),
		r("exited ranks are empty too", known(None, wishAt(-90*s)), sees(exited(0, 1), gone(1), gone(2)), ActLaunch, ReasonWish),
		r("not while a rank runs", known(None, wishAt(-90*s)), sees(gone(0), gone(1)), ActNone, ReasonBooting, phase(Booting)),
		r("not while one last seen running is silent", known(None, wishAt(-90*s), knows(2, func(k *Known) { c := box(2); k.Container = &c })), sees(gone(0), gone(1), silent(2)), ActNone, ReasonNothing),
		r("a wish is carried out once", known(None, wishAt(-3*h), seenAt(-m), tried(-2*h, byAnna, launching, ended(60*s, OutcomeLaunchFailed))), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing),
		r("a wish is over once a person has started the group", known(None, wishAt(-3*h), personStartAt(-2*h)), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing),
		r("a wish is over once the group has served", known(None, wishAt(-3*h), servedAt(-2*h)), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing),
		r("a wish is not carried over a changed identity and back", known(None, wishAt(-3*h), func(s *State) { s.Since = at(-2 * m) }), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing),
		r("a wish made for a changed identity, before any look at it", known(Serving, wishAt(-30*s), func(s *State) { s.Identity = "other" }), sees(gone(0), gone(1), gone(2)), ActNone, ReasonLookFirst, wants(ActLaunch, ReasonWish), since(-30*s)),
		r("no budget and no grace holds a wish", known(None, wishAt(-90*s), seenAt(-m), graceFrom(-m), counted(-2*h), counted(-h)), sees(gone(0), gone(1), gone(2)), ActLaunch, ReasonWish),
		r("a wish that the switch holds", known(None, wishAt(-90*s)), sees(gone(0), gone(1), gone(2), flag(Flag{})), ActNone, ReasonDisarmed, wants(ActLaunch, ReasonWish)),
		r("without a wish an empty group stays empty", known(None), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing),
		r("no wish is heard in BOOTING", known(Booting, bootFrom(-5*m), wishAt(-90*s), neverRan(0), neverRan(1), neverRan(2)), sees(gone(0), gone(1), gone(2)), ActNone, ReasonBooting),

		// 6. Everything else.
		r("a healthy group whose canary was skipped", known(Serving), sees(), ActNone, ReasonCannotTell),
		r("nothing can be asked", known(Serving), sees(nothingAtAll), ActNone, ReasonCannotTell),
		r("GIVEN_UP wants nothing", known(GivenUp, struck(TermRank, 5, -9*m)), sees(dies(1, 1)), ActNone, ReasonGivenUp),
	}
}

// A suspicion of one term alone never restarts while another says Busy: the two are independent, and
// one Failing term suffices, so this holds only for progress and engine, which moving counters clear.
func TestMovingCountersClearBothStreaks(t *testing.T) {
	st := known(Serving, live, struck(TermProgress, 9, -9*m), struck(TermEngine, 9, -9*m))
	d := Decide(rowPolicy(), st, sees(working, health(500)))
	if d.Action != ActNone || len(d.Next.Strikes) != 0 {
		t.Errorf("got %v with %v", d.Action, d.Next.Strikes)
	}
}

// How the counters of two readings compare.
func TestCompare(t *testing.T) {
	one := func(label string, iterations, prompt, generation float64) EngineCounter {
		return EngineCounter{Label: label, Iterations: iterations, Prompt: prompt, Generation: generation}
	}
	list := func(c ...EngineCounter) []EngineCounter { return c }
	for _, c := range []struct {
		name         string
		earlier, now []EngineCounter
		want         movement
	}{
		{"nothing earlier", nil, list(one("0", 1, 1, 1)), counterUnknown},
		{"the same", list(one("0", 1, 1, 1)), list(one("0", 1, 1, 1)), counterFlat},
		{"E11: only iterations moved", list(one("0", 1, 1, 1)), list(one("0", 2, 1, 1)), counterMoved},
		{"only prompt moved", list(one("0", 1, 1, 1)), list(one("0", 1, 2, 1)), counterMoved},
		{"only generation moved", list(one("0", 1, 1, 1)), list(one("0", 1, 1, 2)), counterMoved},
		{"one of two engines moved", list(one("0", 1, 1, 1), one("1", 1, 1, 1)), list(one("0", 1, 1, 1), one("1", 1, 1, 2)), counterMoved},
		{"one fell", list(one("0", 5, 5, 5)), list(one("0", 1, 1, 1)), counterUnknown},
		{"one fell, another rose", list(one("0", 5, 5, 5), one("1", 1, 1, 1)), list(one("0", 1, 1, 1), one("1", 2, 1, 1)), counterMoved},
		{"an absent counter is not compared", list(one("0", -1, 5, 5)), list(one("0", 9, 5, 5)), counterFlat},
		{"all absent", list(one("0", -1, -1, -1)), list(one("0", -1, -1, -1)), counterUnknown},
		{"one engine shows only what it holds", list(one("", 1, 1, 1), one("0", -1, -1, -1)), list(one("", 1, 1, 1), one("0", -1, -1, -1)), counterFlat},
		{"another label", list(one("0", 1, 1, 1)), list(one("1", 1, 1, 1)), counterUnknown},
	} {
		if got := compare(c.earlier, c.now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 83 * s: "83s", 2 * m: "2m", 150 * s: "2m30s", 75 * m: "1h15m", 6 * h: "6h", 60 * m: "1h", 26*h + 20*m: "26h20m",
	} {
		if got := brief(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
