package watchdog

import (
	"strings"
	"testing"
	"time"
)

var (
	y1970 = time.Date(1970, 1, 1, 0, 3, 0, 0, time.UTC)
	y2098 = time.Date(2098, 6, 1, 0, 0, 0, 0, time.UTC)
)

func TestClockSince(t *testing.T) {
	now := Clock{Wall: noon.Wall, Boot: h, BootID: "b2"}
	then := func(wall time.Time, boot time.Duration, id string) Clock { return Clock{wall, boot, id} }
	for _, row := range []struct {
		name string
		then Clock
		want time.Duration
	}{
		{"the same boot, whatever the wall clock said", then(y2098, 50*m, "b2"), 10 * m},
		{"the same boot, a moment later", then(noon.Wall, h+s, "b2"), 0},
		{"an earlier boot", then(noon.Wall.Add(-3*h), 500*h, "b1"), 3 * h},
		{"an earlier boot in 2098: at least as long as this one has lasted", then(y2098, 500*h, "b1"), h},
		{"an earlier boot whose wall clock was ahead by minutes", then(noon.Wall.Add(-m), 500*h, "b1"), h},
		{"an earlier life of this boot, which may be a moment ago", then(noon.Wall.Add(-m), 500*h, "b2~2"), m},
		{"an earlier boot that could not be told", then(noon.Wall.Add(-3*h), 0, UnknownBoot+"x"), 3 * h},
	} {
		if got := now.Since(row.then); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if got := (Clock{Wall: y1970, BootID: UnknownBoot + "y"}).Since(noon); got != 0 {
		t.Errorf("a boot that cannot be told, in 1970: %s", got)
	}
}

// A snapshot that is resumed, or a machine cloned from one, goes on with its boot id at an earlier time.
func TestInLifeOf(t *testing.T) {
	for _, row := range []struct {
		name   string
		boot   time.Duration
		id     string
		last   Clock
		wantID string
	}{
		{"nothing known", h, "b", Clock{}, "b"},
		{"time goes on", h, "b", Clock{Boot: 50 * m, BootID: "b"}, "b"},
		{"the same instant", h, "b", Clock{Boot: h, BootID: "b"}, "b"},
		{"another boot", h, "b", Clock{Boot: 50 * h, BootID: "a"}, "b"},
		{"put back to a snapshot", h, "b", Clock{Boot: 50 * h, BootID: "b"}, "b~2"},
		{"and the next look of that life", h, "b", Clock{Boot: 59 * m, BootID: "b~2"}, "b~2"},
		{"put back once more", h, "b", Clock{Boot: 61 * m, BootID: "b~2"}, "b~3"},
		{"another boot after two lives of one", h, "b", Clock{Boot: 50 * h, BootID: "a~2"}, "b"},
	} {
		now := Clock{Wall: noon.Wall, Boot: row.boot, BootID: row.id}
		got := now.InLifeOf(row.last)
		if got.BootID != row.wantID || got.Boot != row.boot || !got.Wall.Equal(now.Wall) {
			t.Errorf("%s: %+v, want %s", row.name, got, row.wantID)
		}
		if again := now.InLifeOf(got); again != got {
			t.Errorf("%s: read once more it is %+v", row.name, again)
		}
	}
}

// tookSo long from its first question to its last answer.
func took(d time.Duration) sight { return func(o *Observation) { o.Took = d } }

func clockIs(wall time.Time) sight {
	return lookClock(Clock{Wall: wall, Boot: noon.Boot, BootID: noon.BootID})
}

// clockRows are about clocks that do not run as they should: the head's, and those of nodes.
func clockRows() []row {
	dead := []fact{goneBefore(1), struck(TermRank, 1, -m)}
	third := []fact{live, struck(TermProgress, 2, -6*m)}
	says := func(words string) check {
		return that("says "+words, func(d Decision) bool { return strings.Contains(d.Sentence(), words) })
	}
	unsaid := that("nothing of a clock", func(d Decision) bool { return d.Clock == "" })
	// An earlier boot with two launches, an hour and two before its last look; nobody has armed since.
	twice := func(last, launched time.Time) fact {
		return func(st *State) {
			st.Earlier = Clock{Wall: last, Boot: 9 * h, BootID: "boot-0"}
			for _, ago := range []time.Duration{2 * h, h} {
				counted(-ago)(st)
				st.Attempts[len(st.Attempts)-1].Launching = Clock{Wall: launched.Add(-ago), Boot: 9*h - ago, BootID: "boot-0"}
			}
		}
	}
	young := func(d time.Duration) sight { // this boot has lasted no longer
		return lookClock(Clock{Wall: noon.Wall, Boot: d, BootID: "boot-1"})
	}
	youngState := func(d time.Duration) fact {
		return func(st *State) {
			st.Last.Boot = d - m
			for i := range st.Strikes {
				st.Strikes[i].First.Boot, st.Strikes[i].Last.Boot = d-m, d-m
			}
			st.Arm.At.BootID = "boot-0"
			st.Began = Clock{Wall: noon.Wall.Add(m - d), Boot: m, BootID: "boot-1"}
		}
	}

	return []row{
		// A suspension in the middle of a look.
		r("suspended: a canary asked before and unanswered after is no strike", known(Serving, third...), sees(wedged, took(8*h)), ActNone, ReasonLookFirst, strikes(TermProgress, 0), told(),
			says("the look took 8h: this machine was suspended, or stood still, in the middle of it")),
		r("a look of 90 s is slow, not void", known(Serving, third...), sees(wedged, took(90*s)), ActRestart, ReasonNoProgress),
		r("suspended: nor does it complete a dead rank", known(Serving, dead...), sees(gone(1), took(91*s)), ActNone, ReasonLookFirst, strikes(TermRank, 0)),
		r("suspended: nor does the second look of a tick", known(Serving, goneBefore(1), struckUntil(TermRank, 1, -30*s, -30*s), lastLook(-30*s)), sees(gone(1), ranksOnly, took(3*m)), ActNone, ReasonLookFirst, strikes(TermRank, 0)),
		r("suspended: good news counts", known(Booting), sees(serves, took(8*h)), ActNone, ReasonServed, phase(Serving)),
		r("suspended: a start seen in it is left to the next look", known(Serving), sees(started(0, "x", 10*s), took(8*h)), ActNone, ReasonLookFirst, phase(Serving), told()),
		r("suspended: no launch, though it is wished for", known(None, wishAt(-90*s)), sees(gone(0), gone(1), gone(2), took(8*h)), ActNone, ReasonLookFirst, wants(ActLaunch, ReasonWish)),
		r("suspended: an open attempt waits for the look after it", known(Serving, servedAt(-h), tried(-3*m, committed)), sees(gone(0), gone(1), gone(2), took(8*h)), ActNone, ReasonLookFirst, wants(ActResume, ReasonResume)),
		r("suspended: that no node can be asked is not told", known(Serving), sees(silent(0), silent(1), silent(2), took(8*h)), ActNone, ReasonLookFirst, told()),
		r("suspended between two looks of a tick", known(Serving, goneBefore(1), struckUntil(TermRank, 1, -8*h, -8*h), lastLook(-8*h)), sees(gone(1), ranksOnly), ActNone, ReasonLookFirst, strikes(TermRank, 0)),

		r("a boot's limit does not run while nobody looks", known(Booting, lastLook(-8*h), bootFrom(-9*h)), sees(canary(Refused)), ActNone, ReasonLookFirst, since(-9*h),
			that("begins anew", func(d Decision) bool { return d.Next.Seen.Equal(noon) })),
		r("nor in an interrupted look", known(Booting, bootFrom(-74*m)), sees(canary(Refused), took(3*m)), ActNone, ReasonLookFirst, that("begins anew", func(d Decision) bool { return d.Next.Seen.Equal(noon) })),
		r("a launch that no look has seen before the gap is still a boot", known(Serving, seenAt(-9*h), lastLook(-8*h), tried(-8*h+m, launched("d0", "d1", "d2"))), sees(canary(Refused)), ActNone, ReasonLookFirst, phase(Booting)),

		// The wall clock jumps within a boot: told, and of no matter.
		r("in 1970 within a boot", known(Serving, dead...), sees(gone(1), clockIs(y1970)), ActRestart, ReasonRankDead, says("the head's clock was set back by 56 years since the last look")),
		r("in 2098 within a boot", known(Serving), sees(serves, clockIs(y2098)), ActNone, ReasonServed, says("the head's clock was set ahead by 72 years since the last look")),
		r("a step of seconds is not told", known(Serving), sees(serves, clockIs(noon.Wall.Add(59*s))), ActNone, ReasonServed, unsaid),
		r("back by minutes in a grace", known(Serving, append(dead, graceFrom(-5*m))...), sees(gone(1), clockIs(noon.Wall.Add(-7*m))), ActNone, ReasonGrace, says("5m left")),
		r("ahead by hours in a grace", known(Serving, append(dead, graceFrom(-5*m))...), sees(gone(1), clockIs(noon.Wall.Add(7*h))), ActNone, ReasonGrace, says("5m left")),
		r("ahead by years in a boot", known(Booting), sees(canary(Refused), clockIs(y2098)), ActNone, ReasonBooting, says("5m so far"), phase(Booting)),
		r("back by years in a boot past its limit", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(canary(Refused), clockIs(y1970)), ActRestart, ReasonBootLimit),
		r("ahead by years in a disarm for a while", known(Serving, dead...), sees(gone(1), clockIs(y2098), flag(Flag{When: at(-m).Wall, Until: at(h).Wall, Ends: at(h)})), ActNone, ReasonDisarmed),
		r("back by years after the end of one", known(Serving, dead...), sees(gone(1), clockIs(y1970), checks(""), flag(Flag{When: at(-h).Wall, Until: at(-m).Wall, Ends: at(-m)})), ActRestart, ReasonRankDead),

		// What an earlier boot has written down with another wall clock.
		r("a boot of 1970 says what is wrong", known(Serving, lastClock(Clock{Wall: at(-m).Wall, Boot: 9 * h, BootID: "boot-0"})), sees(serves, lookClock(Clock{Wall: y1970, Boot: m, BootID: "boot-2"})), ActNone, ReasonServed, told(),
			says("the head's clock says 1970-01-01T00:03:00Z, before this program was built: set it, see `timedatectl`")),
		r("after ten minutes people are told, though nothing is wanted", known(Serving, lastClock(Clock{Wall: y1970, Boot: 9 * m, BootID: "boot-2"}), func(st *State) { st.ClockDoubt, st.Arm.At.BootID = true, "boot-0" }),
			sees(serves, lookClock(Clock{Wall: y1970.Add(m), Boot: 10 * m, BootID: "boot-2"})), ActNone, ReasonServed, told(NoticeTrouble)),
		r("once", known(Serving, lastClock(Clock{Wall: y1970, Boot: 9 * m, BootID: "boot-2"}), wasTold(keyClock), func(st *State) { st.ClockDoubt, st.Arm.At.BootID = true, "boot-0" }),
			sees(serves, lookClock(Clock{Wall: y1970.Add(m), Boot: 10 * m, BootID: "boot-2"})), ActNone, ReasonServed, told()),
		r("NTP sets it right within that boot", known(Serving, wasTold(keyClock), func(st *State) {
			st.ClockDoubt, st.Last.Wall, st.Earlier = true, y1970, Clock{Wall: at(-h).Wall, Boot: h, BootID: "boot-0"}
		}), sees(serves), ActNone, ReasonServed, that("no doubt, from now on", func(d Decision) bool {
			return !d.Next.ClockDoubt && d.Next.Began.Equal(noon) && len(d.Next.Told) == 0
		})),
		r("a boot id that cannot be read: every look only looks, and people hear of it", known(Serving, append(dead, lastClock(Clock{Wall: at(-m).Wall, BootID: UnknownBoot + "a"}))...),
			sees(gone(1), lookClock(Clock{Wall: noon.Wall, BootID: UnknownBoot + "b"})), ActNone, ReasonLookFirst, told(NoticeTrouble), says("/proc/sys/kernel/random/boot_id")),
		r("a grace of 2098 is over when this boot has lasted as long", known(Serving, append(dead, func(st *State) {
			st.Grace = &Grace{From: Clock{Wall: y2098, Boot: h, BootID: "boot-0"}, Why: "x"}
		})...), sees(gone(1)), ActRestart, ReasonRankDead),
		r("a boot of 2098 meets its limit in this one", known(Booting, struck(TermBoot, 1, -m), func(st *State) {
			st.Since = Clock{Wall: y2098, Boot: h, BootID: "boot-0"}
			st.Seen = st.Since
		}), sees(canary(Refused)), ActRestart, ReasonBootLimit),
		r("a disarm for 2 h of 2098 ends in a later boot, after 2 h of it", known(Serving, dead...), sees(gone(1), checks(""), flag(Flag{When: y2098, Until: y2098.Add(2 * h), Ends: Clock{Wall: y2098.Add(2 * h), Boot: 3 * h, BootID: "boot-0"}})), ActRestart, ReasonRankDead),
		r("and not before", known(Serving, append(dead, youngState(119*m))...), sees(gone(1), young(119*m), checks(""), flag(Flag{When: y2098, Until: y2098.Add(2 * h), Ends: Clock{Wall: y2098.Add(2 * h), Boot: 3 * h, BootID: "boot-0"}})), ActNone, ReasonDisarmed),
		r("one of 1970 does not end with the right clock of the next boot", known(Serving, append(dead, youngState(119*m))...), sees(gone(1), young(119*m), checks(""), flag(Flag{When: y1970, Until: y1970.Add(2 * h), Ends: Clock{Wall: y1970.Add(2 * h), Boot: 3 * h, BootID: "boot-0"}})), ActNone, ReasonDisarmed),
		r("one of a right clock ends by the wall clock", known(Serving, append(dead, youngState(50*m))...), sees(gone(1), young(50*m), checks(""), flag(Flag{When: at(-2 * h).Wall, Until: at(-m).Wall, Ends: Clock{Wall: at(-m).Wall, Boot: 3 * h, BootID: "boot-0"}})), ActRestart, ReasonRankDead),

		// The budget of an earlier boot.
		r("two launches of an earlier boot count", known(Serving, append(dead, youngState(90*m), twice(at(-2*h).Wall, at(-2*h).Wall))...), sees(gone(1), young(90*m)), ActNone, ReasonBudget),
		r("for six hours", known(Serving, append(dead, youngState(90*m), twice(at(-5*h-s).Wall, at(-5*h-s).Wall))...), sees(gone(1), young(90*m)), ActRestart, ReasonRankDead),
		r("launched in 1970, before NTP: they count", known(Serving, append(dead, youngState(90*m), twice(at(-2*h).Wall, y1970))...), sees(gone(1), young(90*m)), ActNone, ReasonBudget),
		r("in a boot that never knew the time: they count while this boot is young", known(Serving, append(dead, youngState(90*m), twice(y1970, y1970))...), sees(gone(1), young(90*m)), ActNone, ReasonBudget),
		r("and not for years", known(Serving, append(dead, youngState(5*h+s), twice(y1970, y1970))...), sees(gone(1), young(5*h+s)), ActRestart, ReasonRankDead),
		r("launched in 2098, then set right: they count", known(Serving, append(dead, youngState(90*m), twice(at(-2*h).Wall, y2098))...), sees(gone(1), young(90*m)), ActNone, ReasonBudget),
		r("launched in 2098: not for 72 years", known(Serving, append(dead, youngState(5*h+s), twice(y2098, y2098))...), sees(gone(1), young(5*h+s)), ActRestart, ReasonRankDead),
		r("a wall clock set ahead in this boot forgets none", known(Serving, append(dead, youngState(90*m), twice(at(-2*h).Wall, at(-2*h).Wall))...), sees(gone(1), lookClock(Clock{Wall: at(30 * h).Wall, Boot: 90 * m, BootID: "boot-1"})), ActNone, ReasonBudget),
		r("nor one that an earlier boot had set ahead", known(Serving, append(dead, youngState(90*m), twice(at(-2*h).Wall, at(-32*h).Wall))...), sees(gone(1), young(90*m)), ActNone, ReasonBudget),

		// Nodes with other clocks than the head's.
		r("a node in 1970: a start that has no age", known(Serving, knows(1, func(k *Known) { k.Heard = at(-m) })), sees(started(0, "x", 0), started(1, "y", 0)), ActNone, ReasonBooting, since(0)),
		r("a node in 2098: a start that would be 72 years old", known(Serving, knows(0, func(k *Known) { k.Heard = at(-m) })), sees(started(0, "x", 72*365*24*h)), ActNone, ReasonBooting, since(-m-LookLimit)),
		r("one that was never heard before", known(None, knows(0, func(k *Known) { *k = Known{} })), sees(started(0, "x", 72*365*24*h)), ActNone, ReasonBooting, phase(Booting), since(0)),
		r("a person's stop, and its node's clock jumps a year ahead", known(Serving, knows(1, func(k *Known) { k.Heard = at(-m) })), sees(exited(1, 0), event(1, "stop", -365*24*h)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a person's stop while its node was silent for long is as old as it is", known(Serving, knows(1, func(k *Known) { k.Heard = at(-h) })), sees(exited(1, 0), event(1, "stop", -20*m), event(1, "die", -20*m)), ActLookAgain, ReasonLookAgain, graced(false)),
		r("a kill that is told after its die", known(Serving), sees(exited(1, 143), event(1, "die", -30*s), signal(1, "kill", "TERM", -40*s)), ActLookAgain, ReasonLookAgain, graced(true)),
		r("a kill after its die is none of it", known(Serving), sees(exited(1, 143), event(1, "die", -30*s), signal(1, "kill", "TERM", -20*s)), ActLookAgain, ReasonLookAgain, graced(false)),
	}
}

// What happened in the present boot is later than what happened before it, in whatever life of it, and
// however wrong its wall clock was.
func TestLaterAcrossLives(t *testing.T) {
	wall := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := Clock{Wall: wall, Boot: 40 * time.Hour, BootID: "a"}
	first := Clock{Wall: wall.Add(-24 * time.Hour), Boot: 9 * time.Hour, BootID: "b"}
	second := Clock{Wall: wall.Add(-48 * time.Hour), Boot: 3 * time.Hour, BootID: "b~2"}
	for _, now := range []Clock{second, {Wall: wall, Boot: 4 * time.Hour, BootID: "b~2"}} {
		for _, pair := range [][2]Clock{{first, before}, {second, before}, {second, first}} {
			if !now.Later(pair[0], pair[1]) || now.Later(pair[1], pair[0]) {
				t.Errorf("at %v: %v must be later than %v", now.BootID, pair[0].BootID, pair[1].BootID)
			}
		}
	}
}
