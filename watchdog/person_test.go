package watchdog

// personRows are about restarts and stops that a person asked for by a command. They come between
// two looks, so a look may find more than one of them.
func personRows() []row {
	allGone := all(gone(0), gone(1), gone(2))
	d := all(started(0, "d0", 2*m), started(1, "d1", 2*m), started(2, "d2", 2*m))
	refused := []deed{byAnna, ended(20*s, OutcomeRefused)}
	return []row{
		// A refused restart hides nothing that came before it.
		r("a launch is a boot, though a person's restart was refused since", known(Serving, seenAt(-h), lastLook(-3*m), tried(-2*m, launched("d0", "d1", "d2")), tried(-m, refused...)), sees(d, canary(Refused)),
			ActNone, ReasonBooting, phase(Booting), since(-90*s)),
		r("its flusher is still ended", known(Serving, tried(-2*h, launching, flusher, ended(80*s, OutcomeLaunched)), tried(-m, refused...)), sees(serves), ActNone, ReasonServed,
			that("ended", func(d Decision) bool { return d.EndFlusher })),
		r("a failed launch still pauses", known(Booting, bootFrom(-170*s), seenAt(-2*m), lastLook(-30*s), struck(TermRank, 1, -m), tried(-200*s, launching, ended(80*s, OutcomeLaunchFailed)), tried(-m, refused...)), sees(gone(1)),
			ActNone, ReasonPause),
		r("a boot of ours still tells how long it took", known(Booting, bootFrom(-10*m), tried(-630*s, launched("c0", "c1", "c2")), tried(-m, refused...)), sees(serves), ActNone, ReasonServed, told(NoticeServing)),

		// A stop.
		r("a stop leaves nothing launched", known(Serving, seenAt(-h), tried(-30*s, stopped)), sees(allGone), ActNone, ReasonNothing, phase(None), since(-20*s), graced(false), told()),
		r("its removal is nobody else's stop", known(Serving, seenAt(-h), tried(-30*s, stopped)), sees(allGone, event(0, "kill", -15*s), event(0, "stop", -14*s), event(0, "destroy", -14*s)), ActNone, ReasonNothing, graced(false), told()),
		r("nor where it was killed in the middle", known(Serving, seenAt(-h), tried(-40*s, stops)), sees(gone(1), event(1, "stop", -20*s)), ActNone, ReasonNothing, phase(None), graced(false), told()),
		r("it is never resumed", known(Serving, seenAt(-h), tried(-3*m, stops)), sees(allGone), ActNone, ReasonNothing, phase(None)),
		r("nor in GIVEN_UP, which it leaves", known(GivenUp, seenAt(-h), tried(-3*m, stops)), sees(allGone), ActNone, ReasonNothing, phase(None)),
		r("it ends the incident quietly", known(Serving, seenAt(-h), struck(TermRank, 1, -m), wasTold("x"), func(s *State) { s.Incident = &Incident{ID: 1, Opened: at(-m)} }, tried(-30*s, stopped)), sees(allGone), ActNone, ReasonNothing,
			strikes(TermRank, 0), that("closed", func(d Decision) bool { return d.Next.Incident == nil && len(d.Next.Told) == 0 })),
		r("a rank that could not be stopped is no new start", known(Serving, seenAt(-h), tried(-30*s, stops)), sees(gone(0), gone(1)), ActNone, ReasonNothing, phase(None)),
		r("a refused restart since does not hide it", known(Serving, seenAt(-h), tried(-40*s, stopped), tried(-10*s, refused...)), sees(allGone), ActNone, ReasonNothing, phase(None)),
		r("it is taken in once: a person's start since stands", known(Booting, bootFrom(-5*m), tried(-h, stopped)), sees(), ActNone, ReasonBooting, phase(Booting)),
		r("a group that serves nevertheless serves", known(Serving, seenAt(-h), tried(-30*s, stops)), sees(serves), ActNone, ReasonServed, phase(Serving)),
		r("arm --launch launches it again", known(None, wishAt(-90*s), seenAt(-2*m), tried(-3*m, stopped)), sees(allGone), ActLaunch, ReasonWish),
		r("an older wish does not", known(None, wishAt(-4*m), seenAt(-2*m), tried(-3*m, stopped)), sees(allGone), ActNone, ReasonNothing),
		r("a start by hand is a boot again", known(None, seenAt(-2*m), tried(-3*m, stopped), goneBefore(0), goneBefore(1), goneBefore(2)), sees(d), ActNone, ReasonBooting, phase(Booting)),

		// A person's restart goes on as any other, and is never counted.
		r("a person's restart that was killed goes on", known(Serving, servedAt(-h), tried(-3*m, byAnna, committed)), sees(allGone), ActResume, ReasonResume, graced(false)),
		r("not while disarmed", known(Serving, servedAt(-h), tried(-3*m, byAnna, committed)), sees(allGone, flag(Flag{Who: "bert"})), ActNone, ReasonDisarmed, wants(ActResume, ReasonResume)),
	}
}
