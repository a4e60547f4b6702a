package watchdog

// advanceRows are about what is known after a look: gaps, new starts, strikes, good news.
func advanceRows() []row {
	reboot := Clock{Wall: noon.Wall, Boot: m, BootID: "boot-2"}
	dead := all(dies(1, 1))
	return []row{
		// Look first.
		r("the very first look only looks", known(Serving, neverLooked), sees(wedged), ActNone, ReasonLookFirst, phase(Booting), told()),
		r("the very first look adopts a running group since its youngest start", known(None, neverLooked), sees(started(1, "x", 7*m)), ActNone, ReasonLookFirst, phase(Booting), since(-7*m)),
		r("the very first look finds nothing: NONE", known(None, neverLooked), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing, phase(None)),
		r("the very first look takes good news", known(None, neverLooked), sees(serves), ActNone, ReasonServed, phase(Serving)),
		r("a gap of 5 min judges", known(Serving, lastLook(-5*m), struck(TermRank, 1, -5*m), goneBefore(1)), sees(gone(1)), ActRestart, ReasonRankDead),
		r("a gap of more than 5 min only looks", known(Serving, lastLook(-5*m-s), struckUntil(TermRank, 1, -6*m, -6*m), goneBefore(1)), sees(gone(1)), ActNone, ReasonLookFirst, strikes(TermRank, 0), phase(Serving)),
		r("a gap does not keep good news away", known(GivenUp, lastLook(-halfHour)), sees(serves), ActNone, ReasonServed, phase(Serving)),
		r("a new boot id only looks", known(Serving, lastClock(Clock{Wall: at(-m).Wall, Boot: 9 * h, BootID: "boot-0"}), struck(TermRank, 1, -m), goneBefore(1)), sees(gone(1)), ActNone, ReasonLookFirst, strikes(TermRank, 0)),
		r("arming makes the next look a first one", known(Serving, armedAt(-30*s), struck(TermRank, 1, -m), goneBefore(1)), sees(gone(1)), ActNone, ReasonLookFirst),
		r("the look after that judges", known(Serving, armedAt(-90*s), struck(TermRank, 1, -m), goneBefore(1)), sees(gone(1)), ActRestart, ReasonRankDead),
		r("a changed config only looks", known(Serving, func(s *State) { s.Config = "other" }, struck(TermRank, 1, -m), goneBefore(1)), sees(gone(1)), ActNone, ReasonLookFirst),
		r("a changed identity knows nothing of the nodes", known(Serving, func(s *State) { s.Identity = "other" }, goneBefore(1)), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing, phase(None)),
		r("a changed identity does not adopt the launches of the other nodes", known(Serving, func(s *State) { s.Identity = "other" }, tried(-halfHour, launched("a", "b", "c"))), sees(gone(0), gone(1), gone(2)), ActNone, ReasonNothing, phase(None)),
		r("a changed identity adopts a boot of our own launch too: else its death would never be seen", known(Booting, func(s *State) { s.Identity = "other" }, tried(-5*m, launched("c0", "c1", "c2"), flusher)), sees(), ActNone, ReasonLookFirst, phase(Booting), endsFlusher(false), told()),
		r("a changed identity keeps arm record, attempts and reset", known(Serving, func(s *State) { s.Identity = "other" }, resetAt(-h), tried(-halfHour)), sees(), ActNone, ReasonLookFirst,
			that("kept", func(d Decision) bool {
				return d.Next.Arm != nil && len(d.Next.Attempts) == 1 && d.Next.Reset.Equal(at(-h))
			})),
		r("a first look gives the doer of a stop his time", known(Serving, lastLook(-8*m)), sees(exited(1, 0), event(1, "stop", -7*m)), ActNone, ReasonLookFirst, graced(true), told(NoticePerson)),
		r("a stop before a long gap has had its time", known(Serving, lastLook(-2*h)), sees(exited(1, 0), event(1, "stop", -h)), ActNone, ReasonLookFirst, graced(false), told()),

		// Our own launches.
		r("a launch of ours is a boot since then", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 20*s), started(2, "c", 20*s)), ActNone, ReasonBooting, phase(Booting), since(-50*s), told()),
		r("a second launch while BOOTING starts the clock again", known(Booting, bootFrom(-70*m), tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 20*s), started(2, "c", 20*s)), ActNone, ReasonBooting, since(-50*s)),
		r("a launch of ours leaves GIVEN_UP (a person's restart)", known(GivenUp, tried(-80*s, byAnna, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 20*s), started(2, "c", 20*s)), ActNone, ReasonBooting, phase(Booting)),
		r("an old launch is not adopted again", known(Serving, tried(-10*h, launched("c0", "c1", "c2"))), sees(), ActNone, ReasonCannotTell, phase(Serving)),
		r("a killed tick: what it started is ours though no id was saved", known(Serving, tried(-80*s, launching)), sees(started(0, "a", 5*s), started(1, "b", 49*s), started(2, "c", 40*s)), ActNone, ReasonBooting, phase(Booting), since(-50*s), told()),
		r("a killed tick: an age read late in a look is still ours", known(Serving, tried(-80*s, launching)), sees(started(0, "a", 80*s), gone(1), gone(2)), ActNone, ReasonBooting, since(-50*s), told()),
		r("a killed tick: ranks not launched yet are awaited, not dead", known(Serving, tried(-80*s, launching)), sees(gone(0), started(1, "b", 40*s), gone(2)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a killed tick: once it has served, what starts within the launch timeout is a person's", known(Serving, seenAt(-8*m), tried(-8*m, launching), servedAt(-2*m)), sees(started(0, "a", 5*s), started(1, "b", 5*s), started(2, "c", 5*s)), ActNone, ReasonBooting, since(-5*s), told(NoticePerson)),
		r("a killed tick: what starts after the launch timeout is a person's", known(Serving, seenAt(-30*m), tried(-30*m, launching)), sees(started(0, "a", 5*s), started(1, "b", 5*s), started(2, "c", 5*s)), ActNone, ReasonBooting, since(-5*s), told(NoticePerson)),
		r("a failed launch: what starts after its end is a person's", known(Booting, bootFrom(-150*s), tried(-3*m, launching, ended(60*s, OutcomeLaunchFailed)), neverRan(0), neverRan(1), neverRan(2)), sees(started(0, "a", 5*s), gone(1), gone(2)), ActNone, ReasonBooting, since(-5*s), told(NoticePerson)),
		r("a launched rank that died before any look is dead", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 20*s), all(started(2, "c", 20*s), status(2, "exited"))), ActLookAgain, ReasonLookAgain, phase(Booting), strikes(TermRank, 1)),
		r("a launch in this boot is later than a look under a wrong clock in an earlier one", known(Serving, func(s *State) {
			s.Seen = Clock{Wall: noon.Wall.AddDate(3, 0, 0), Boot: 5, BootID: "boot-0"}
		}, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(1, "b", 5*s), started(2, "c", 5*s)), ActNone, ReasonBooting, phase(Booting)),

		// New starts.
		r("a new head is a boot since its start", known(Serving), sees(started(0, "x", 40*s)), ActNone, ReasonBooting, phase(Booting), since(-40*s), told(NoticePerson)),
		r("a head started again by hand is a boot", known(Serving), sees(restarted(0, 0, 40*s)), ActNone, ReasonBooting, phase(Booting), since(-40*s), told(NoticePerson)),
		r("several new starts: since the youngest", known(Serving), sees(started(0, "x", 50*s), started(1, "y", 20*s), started(2, "z", 55*s)), ActNone, ReasonBooting, since(-20*s)),
		r("a new start voids streaks", known(Serving, struck(TermProgress, 2, -5*m)), sees(started(0, "x", 40*s), wedged), ActNone, ReasonBooting, strikes(TermProgress, 0)),
		r("a new worker while the head serves on: phase stays, grace", known(Serving, struck(TermProgress, 2, -5*m)), sees(started(2, "x", 40*s)), ActNone, ReasonCannotTell, phase(Serving), graced(true), strikes(TermProgress, 0), told(NoticePerson)),
		r("within its grace nothing is done", known(Serving, graceFrom(-9*m), goneBefore(1), struck(TermRank, 1, -m)), sees(gone(1)), ActNone, ReasonGrace, wants(ActRestart, ReasonRankDead)),
		r("after its grace it is judged as SERVING", known(Serving, graceFrom(-10*m), goneBefore(1), struck(TermRank, 1, -m)), sees(gone(1)), ActRestart, ReasonRankDead, graced(false)),
		r("a new worker while the head is gone is a boot", known(Serving), sees(gone(0), started(2, "x", 40*s)), ActNone, ReasonBooting, phase(Booting), since(-40*s)),
		r("a person restarts rank by rank: those not started yet are awaited, not dead", known(Serving, goneBefore(0), goneBefore(1), goneBefore(2), graceFrom(-2*m)), sees(gone(0), gone(1), started(2, "x", 20*s)), ActNone, ReasonBooting, phase(Booting), strikes(TermRank, 0)),
		r("a person restarts rank by rank: exited ones of the earlier start too", known(Serving, graceFrom(-2*m)), sees(exited(0, 0), event(0, "stop", -30*s), exited(1, 0), started(2, "x", 20*s)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a person restarts rank by rank: a rank on a silent node too", known(Booting, bootFrom(-2*m), knows(1, func(k *Known) { k.Ran = "" })), sees(gone(1)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a person's start in BOOTING starts the clock again", known(Booting, bootFrom(-70*m)), sees(started(1, "x", 10*s)), ActNone, ReasonBooting, since(-10*s)),
		r("a person's start leaves GIVEN_UP", known(GivenUp), sees(started(0, "x", 10*s)), ActNone, ReasonBooting, phase(Booting), told(NoticePerson)),
		r("a person's start does not refill the budget", known(GivenUp, counted(-2*h), counted(-h)), sees(started(0, "x", 10*s)), ActNone, ReasonBooting,
			that("2/2 used", func(d Decision) bool { return rowPolicy().Used(d.Next, at(0)) == 2 })),
		r("a person's start closes an open attempt", known(Serving, tried(-3*m, committed, ended(60*s, OutcomeRefused))), sees(started(0, "x", 10*s)), ActNone, ReasonBooting),
		r("a person's start of a worker alone closes it too", known(Serving, tried(-3*m, committed, ended(60*s, OutcomeBroken))), sees(started(2, "x", 10*s)), ActNone, ReasonCannotTell, graced(true)),
		r("a running group in NONE is adopted", known(None), sees(), ActNone, ReasonBooting, phase(Booting), since(-10*h), told()),
		r("a group that Docker restarts in NONE is adopted", known(None, knows(1, func(k *Known) { c := box(1); c.Status = "restarting"; k.Container = &c })), sees(gone(0), restarted(1, 1, s), gone(2)), ActNone, ReasonBooting, phase(Booting)),
		r("a container that was only created is no start", known(Serving), sees(seen(2, func(r *Rank) { *r.Container = Container{ID: "x", Status: "created", StartedAt: neverStarted} })), ActLookAgain, ReasonLookAgain, phase(Serving), graced(false)),
		r("a rank seen for the first time is not a new start", known(Serving, knows(2, func(k *Known) { *k = Known{} })), sees(), ActNone, ReasonCannotTell, graced(false), told()),
		r("a silent node that comes back unchanged is no new start", known(Serving, knows(2, func(k *Known) { k.Clock = at(-halfHour).Wall })), sees(), ActNone, ReasonCannotTell, graced(false)),
		r("a silent node that comes back with another start is a person's", known(Booting, knows(2, func(k *Known) { k.Clock = at(-halfHour).Wall })), sees(started(2, "x", 20*m)), ActNone, ReasonBooting, since(-20*m)),
		r("a person starts workers while the head's node is silent: phase stays", known(Serving), sees(silent(0), started(1, "x", 20*s)), ActNone, ReasonCannotTell, phase(Serving), graced(true)),
		r("and when the head is back with a new start it is a boot", known(Serving, graceFrom(-m)), sees(started(0, "x", 90*s)), ActNone, ReasonBooting, phase(Booting), graced(false)),
		r("a start seen together with a completion: good news win", known(Serving), sees(started(0, "x", 40*s), serves), ActNone, ReasonServed, phase(Serving)),

		// Docker's own starts.
		r("a RestartCount that rises on a worker is Docker: the clock stays", known(Booting), sees(restarted(1, 1, 5*s)), ActNone, ReasonBooting, since(-5*m), told(), that("1 counted", func(d Decision) bool { return d.Next.DockerStarts == 1 })),
		r("on the head that served it is a boot since then, not a person's", known(Serving), sees(restarted(0, 1, 20*s)), ActNone, ReasonBooting, phase(Booting), since(-20*s), told()),
		r("on a head that is loading the clock stays", known(Booting), sees(restarted(0, 1, 5*s)), ActNone, ReasonBooting, since(-5*m)),
		r("one crash that restarts every rank is one start of each", known(Booting), sees(restarted(0, 1, 5*s), restarted(1, 1, 5*s), restarted(2, 1, 5*s)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("the third without a completion is Failing", known(Booting, dockerStarted(2), knows(1, func(k *Known) { k.Container.RestartCount = 2 })), sees(restarted(1, 3, 5*s)), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1)),
		r("three between two looks are three", known(Booting), sees(restarted(1, 3, 5*s)), ActLookAgain, ReasonLookAgain),
		r("D04: a loop that goes on fails", known(Booting, dockerStarted(3), struck(TermRank, 1, -m), knows(1, func(k *Known) { k.Container.RestartCount = 3 })), sees(restarted(1, 4, 5*s)), ActRestart, ReasonRestartLoop),
		r("Docker's start of a head leaves a person the rest of his time", known(Serving, graceFrom(-m)), sees(restarted(0, 1, 5*s)), ActNone, ReasonBooting, phase(Booting), graced(true)),
		r("also where it comes with his stop", known(Serving), sees(restarted(0, 1, 5*s), exited(1, 0), event(1, "stop", -30*s)), ActLookAgain, ReasonLookAgain, phase(Booting), graced(true)),
		r("the count may rise before the start: still Docker", known(Booting, dockerStarted(1), knows(1, func(k *Known) { k.Container.RestartCount, k.Container.Status = 1, "restarting" })), sees(restarted(1, 1, 5*s)), ActNone, ReasonBooting, since(-5*m), told(), that("still 1", func(d Decision) bool { return d.Next.DockerStarts == 1 })),
		r("restarting is Unknown", known(Serving, struck(TermRank, 1, -m)), sees(status(1, "restarting")), ActNone, ReasonFailing, strikes(TermRank, 1)),
		r("a head about to be restarted is a boot from now", known(Serving), sees(status(0, "restarting"), seen(0, func(r *Rank) { r.Container.RestartCount = 1 })), ActNone, ReasonBooting, phase(Booting), since(0)),
		r("a rank of ours that Docker restarted before any look is Docker's", known(Serving, tried(-80*s, launched("a", "b", "c"))), sees(started(0, "a", 5*s), started(2, "c", 5*s), seen(1, func(r *Rank) {
			*r.Container = Container{ID: "b", Status: "running", StartedAt: "s2", RestartCount: 1, Age: s}
		})), ActNone, ReasonBooting, since(-50*s), told(), that("counted", func(d Decision) bool { return d.Next.DockerStarts == 1 })),
		r("a completion forgets Docker's starts", known(Serving, dockerStarted(2)), sees(serves), ActNone, ReasonServed, that("0", func(d Decision) bool { return d.Next.DockerStarts == 0 && d.Next.Ranks[1].DockerStarts == 0 })),

		// Workers of an earlier head.
		r("a worker that served under an earlier head has 10 min", known(Booting, bootFrom(-9*m), knows(1, func(k *Known) { k.ServedUnder = "old@s" })), sees(), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("then it is a dead rank", known(Booting, bootFrom(-10*m), struck(TermRank, 1, -m), knows(1, func(k *Known) { k.ServedUnder = "old@s" })), sees(), ActRestart, ReasonStaleWorker),
		r("a completion makes it one of this head's", known(Booting, bootFrom(-10*m), knows(1, func(k *Known) { k.ServedUnder = "old@s" })), sees(serves), ActNone, ReasonServed, that("adopted", func(d Decision) bool { return d.Next.Ranks[1].ServedUnder == "c0@s" })),
		r("also one on a silent node: no group serves without it", known(Booting, bootFrom(-10*m), knows(1, func(k *Known) { k.ServedUnder = "old@s" })), sees(serves, silent(1)), ActNone, ReasonServed, that("adopted", func(d Decision) bool { return d.Next.Ranks[1].ServedUnder == "c0@s" })),
		r("but of no head where the head cannot be asked: it may be another by now", known(Serving), sees(serves, silent(0)), ActNone, ReasonServed, that("of none", func(d Decision) bool { return d.Next.Ranks[1].ServedUnder == "" })),
		r("with no head there is no earlier head", known(Booting, bootFrom(-20*m), neverRan(0), knows(1, func(k *Known) { k.ServedUnder = "old@s" })), sees(gone(0)), ActLookAgain, ReasonLookAgain, that("missing", func(d Decision) bool { return d.Readings.Rank.Cause == CauseRankMissing })),

		// Strikes.
		r("a first strike", known(Serving), sees(dead), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1), says("rank 1 (n2) exited 1 (failing 1/2) (phase=SERVING) → looking again")),
		r("a strike sooner than 20 s does not count", known(Serving, goneBefore(1), lastLook(-10*s), struckUntil(TermRank, 1, -10*s, -10*s)), sees(ranksOnly, gone(1)), ActNone, ReasonFailing, strikes(TermRank, 1)),
		r("one 20 s later does", known(Serving, goneBefore(1), lastLook(-20*s), struckUntil(TermRank, 1, -20*s, -20*s)), sees(ranksOnly, gone(1)), ActRestart, ReasonRankDead, strikes(TermRank, 2)),
		r("a healthy look ends a streak", known(Serving, struck(TermRank, 1, -m)), sees(), ActNone, ReasonCannotTell, strikes(TermRank, 0)),
		r("Unknown does not end a streak", known(Serving, struck(TermRank, 1, -m)), sees(silent(1)), ActNone, ReasonFailing, strikes(TermRank, 1)),
		r("Unknown does not add to one", known(Serving, struck(TermProgress, 2, -5*m)), sees(canary(Unreachable)), ActNone, ReasonFailing, strikes(TermProgress, 2)),
		r("a complete streak does not act on what cannot be seen now", known(Serving, struck(TermRank, 2, -3*m)), sees(nothingAtAll), ActNone, ReasonFailing, strikes(TermRank, 2)),
		r("nor on a canary that cannot be asked now", known(Serving, struck(TermProgress, 5, -8*m)), sees(canary(Unreachable)), ActNone, ReasonFailing),
		r("a streak whose last strike is 10 min old stands", known(Serving, goneBefore(1), struckUntil(TermRank, 1, -10*m, -10*m)), sees(gone(1)), ActRestart, ReasonRankDead),
		r("one older than 10 min is void", known(Serving, goneBefore(1), struckUntil(TermRank, 1, -10*m-s, -10*m-s)), sees(gone(1)), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1)),
		r("Busy ends the streak of progress", known(Serving, live, struck(TermProgress, 2, -5*m)), sees(working), ActNone, ReasonBusy, strikes(TermProgress, 0)),
		r("BOOTING does not count progress or /health", known(Booting, live), sees(wedged, health(503)), ActNone, ReasonBooting, strikes(TermProgress, 0), strikes(TermEngine, 0)),
		r("Y11: a streak belongs to one start", known(Serving, struck(TermProgress, 2, -5*m)), sees(restarted(0, 0, 5*s), wedged), ActNone, ReasonBooting, strikes(TermProgress, 0)),

		// Good news.
		r("a completion in BOOTING", known(Booting), sees(serves), ActNone, ReasonServed, phase(Serving)),
		r("a completion in NONE", known(None), sees(gone(0), gone(1), gone(2), serves), ActNone, ReasonServed, phase(Serving)),
		r("a completion in GIVEN_UP", known(GivenUp), sees(serves), ActNone, ReasonServed, phase(Serving)),
		r("a completion beats a dead rank", known(Serving, goneBefore(1), struck(TermRank, 1, -m)), sees(gone(1), serves), ActNone, ReasonServed, strikes(TermRank, 0)),
		r("a completion ends grace", known(Serving, graceFrom(-m)), sees(serves), ActNone, ReasonServed, graced(false)),
		r("a completion closes an open attempt", known(Serving, tried(-3*m, committed, ended(60*s, OutcomeRefused))), sees(serves), ActNone, ReasonServed),
		r("a skipped canary is not one", known(Booting), sees(), ActNone, ReasonBooting, phase(Booting)),
		r("the second look of a tick is not one", known(Booting), sees(serves, ranksOnly), ActNone, ReasonBooting, phase(Booting)),
		r("serving again is told with the downtime", known(Booting, servedAt(-20*m), func(s *State) {
			s.Incident = &Incident{ID: 1, Opened: at(-19 * m), Served: at(-20 * m), What: "rank 1 (n2) exited 1"}
		}, func(s *State) { s.Told = []string{"x"} }), sees(serves), ActNone, ReasonServed, told(NoticeServing), that("words", func(d Decision) bool {
			return d.Notices[0].Text == "serving again after 20m without a completion (rank 1 (n2) exited 1)"
		})),
		r("trouble nobody heard of ends quietly", known(Serving, func(s *State) { s.Incident = &Incident{ID: 1, Opened: at(-m), What: "x"} }), sees(serves), ActNone, ReasonServed, told(), that("closed", func(d Decision) bool { return d.Next.Incident == nil })),
		r("a boot of ours without an incident tells that it serves", known(Booting, bootFrom(-10*m), tried(-630*s, byAnna, launched("c0", "c1", "c2"))), sees(serves), ActNone, ReasonServed, told(NoticeServing)),

		// What a completion is.
		r("E13: empty text is one", known(Booting), sees(body(func(c *Canary) { c.Choices, c.Tokens, c.Finish = 1, 1, "length" })), ActNone, ReasonServed),
		r("usage without choices is one", known(Booting), sees(body(func(c *Canary) { c.Tokens = 1 })), ActNone, ReasonServed),
		r("E13: no choices and no tokens is none", known(Booting), sees(body(func(*Canary) {})), ActNone, ReasonBooting),
		r("E17: finish_reason error is none", known(Booting), sees(body(func(c *Canary) { c.Choices, c.Finish = 1, "error" })), ActNone, ReasonBooting),
		r("E17: 200 with an error object is none", known(Booting), sees(body(func(c *Canary) { c.Choices, c.Error = 1, "x" })), ActNone, ReasonBooting),
		r("E17: half a body is none", known(Booting), sees(body(func(c *Canary) { c.Choices, c.WellFormed = 1, false })), ActNone, ReasonBooting),
		r("E04: /health and models 200 are none", known(Booting), sees(health(200), answers(500)), ActNone, ReasonBooting, phase(Booting)),

		// Incidents.
		r("the first Failing look opens an incident", known(Serving), sees(dead), ActLookAgain, ReasonLookAgain, that("opened", func(d Decision) bool {
			return d.Next.Incidents == 1 && d.Next.Incident.Opened.Equal(at(0)) && d.Next.Incident.Served.Equal(at(-m))
		})),
		r("a first look opens none", known(Serving, lastLook(-h)), sees(dead), ActNone, ReasonLookFirst, that("none", func(d Decision) bool { return d.Next.Incident == nil })),

		// S13, D04: the head's machine was reset and Docker brought the group back.
		r("S13: after a reset of the head's machine a serving group is left alone", known(Serving, lastLook(-3*m)), sees(lookClock(reboot), all(restarted(0, 0, 40*s), restarted(1, 0, 40*s), restarted(2, 0, 40*s)), serves), ActNone, ReasonServed, phase(Serving)),
		r("S13: one that does not serve yet is a boot", known(Serving, lastLook(-3*m)), sees(lookClock(reboot), restarted(0, 0, 40*s)), ActNone, ReasonLookFirst, phase(Booting)),
	}
}
