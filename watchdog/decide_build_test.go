package watchdog

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// The words rows are built from. A row begins where everybody is content: three ranks run, known
// since ten hours, armed, the last look was a minute ago. Options change that, one fact each.

const (
	s = time.Second
	m = time.Minute
	h = time.Hour
)

var (
	nodes = []string{"n1", "n2", "n3"}
	noon  = Clock{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: 100 * h, BootID: "boot-1"}
	built = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// at returns the instant d after noon.
func at(d time.Duration) Clock { return noon.Add(d) }

// rowPolicy is the documented one.
func rowPolicy() Policy {
	p := DefaultPolicy()
	p.Group, p.Identity, p.Config, p.Built = "llm", "id", "config", built
	return p
}

// row is one line of a table: what is known, what one look sees, what must follow.
type row struct {
	name   string
	state  State
	look   Observation
	action Action
	reason Reason
	checks []check
}

// check is one more thing that must follow.
type check func(t *testing.T, d Decision)

func r(name string, state State, look Observation, action Action, reason Reason, checks ...check) row {
	return row{name, state, look, action, reason, checks}
}

func run(t *testing.T, p Policy, rows []row) {
	t.Helper()
	names := map[string]bool{}
	for _, r := range rows {
		if names[r.name] {
			t.Errorf("two rows are named %q", r.name)
		}
		names[r.name] = true
		t.Run(r.name, func(t *testing.T) {
			d := Decide(p, r.state, r.look)
			if d.Action != r.action || d.Reason != r.reason {
				t.Errorf("got %v, %q; want %v, %q\n  %s", d.Action, d.Reason, r.action, r.reason, d.Sentence())
			}
			for _, c := range r.checks {
				c(t, d)
			}
		})
	}
}

// What must follow besides.

func phase(want Phase) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if d.Next.Phase != want {
			t.Errorf("phase %v, want %v", d.Next.Phase, want)
		}
	}
}

func since(want time.Duration) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if !d.Next.Since.Equal(at(want)) {
			t.Errorf("since %v, want %v", d.Next.Since.Wall, at(want).Wall)
		}
	}
}

// strikes wants the term's streak to have this many looks; 0: no streak.
func strikes(term Term, want int) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		got := 0
		for _, s := range d.Next.Strikes {
			if s.Term == term {
				got = s.Looks
			}
		}
		if got != want {
			t.Errorf("term %d has %d strikes, want %d", term, got, want)
		}
	}
}

// never stands for an instant that is not set.
const never = time.Duration(-1)

// saidDead wants the last look at which a working engine called itself dead.
func saidDead(want time.Duration) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if got := d.Next.SaidDead; got.IsZero() != (want == never) || want != never && !got.Equal(at(want)) {
			t.Errorf("said dead at %v, want %v", got.Wall, want)
		}
	}
}

func graced(want bool) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if (d.Next.Grace != nil) != want {
			t.Errorf("grace %+v, want one: %v", d.Next.Grace, want)
		}
	}
}

func told(kinds ...NoticeKind) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		var got []NoticeKind
		for _, n := range d.Notices {
			got = append(got, n.Kind)
		}
		if !slices.Equal(got, kinds) {
			t.Errorf("told %v, want %v", d.Notices, kinds)
		}
	}
}

// wants checks what the rules wanted before the gate refused it.
func wants(a Action, why Reason) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if d.Wanted != a || d.Why != why {
			t.Errorf("wanted %v (%v), want %v (%v)", d.Wanted, d.Why, a, why)
		}
	}
}

func that(what string, ok func(d Decision) bool) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if !ok(d) {
			t.Errorf("not so: %s\n  %+v", what, d)
		}
	}
}

func says(sentence string) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if got := d.Sentence(); got != sentence {
			t.Errorf("says  %s\nwant  %s", got, sentence)
		}
	}
}

// What is known.

type fact func(*State)

func box(rank int) Container {
	return Container{ID: fmt.Sprintf("c%d", rank), Status: "running", StartedAt: "s", Age: 10 * h, ImageID: "image"}
}

// known is a state in which all ranks run; without facts it was served a minute ago, or is loading
// for five minutes.
func known(p Phase, facts ...fact) State {
	st := State{Phase: p, Last: at(-m), Config: "config", Identity: "id", Arm: &Arm{Who: "anna", At: at(-20 * h), Identity: "id"}}
	for i := range nodes {
		c := box(i)
		st.Ranks = append(st.Ranks, Known{Container: &c, Answered: true, Clock: at(-m).Wall, Ran: c.Start(), FirstSeen: at(-10 * h)})
	}
	switch p {
	case Serving:
		st.Since, st.Seen, st.Served, st.ServedBy = at(-9*h), at(-9*h), at(-m), "c0@s"
		for i := range st.Ranks {
			st.Ranks[i].ServedUnder = "c0@s"
		}
	case Booting:
		st.Since, st.Seen = at(-5*m), at(-5*m)
		for i := range st.Ranks {
			st.Ranks[i].Container.Age, st.Ranks[i].FirstSeen = 5*m, at(-5*m)
		}
	case GivenUp:
		st.Since, st.Seen = at(-30*m), at(-30*m)
	case None:
		for i := range st.Ranks {
			st.Ranks[i] = Known{Answered: true, Clock: at(-m).Wall}
		}
	}
	for _, f := range facts {
		f(&st)
	}
	return st
}

func lastLook(d time.Duration) fact { return func(s *State) { s.Last = at(d) } }
func lastClock(c Clock) fact        { return func(s *State) { s.Last = c } }
func servedAt(d time.Duration) fact { return func(s *State) { s.Served = at(d) } }
func notArmed(s *State)             { s.Arm = nil }
func neverLooked(s *State)          { *s = State{Arm: s.Arm} }
func armedAt(d time.Duration) fact  { return func(s *State) { s.Arm.At = at(d) } }
func armedFor(id string) fact       { return func(s *State) { s.Arm.Identity = id } }
func wishAt(d time.Duration) fact {
	return func(s *State) { s.Arm.At, s.Arm.Launch = at(d), true }
}
func resetAt(d time.Duration) fact       { return func(s *State) { s.Reset = at(d) } }
func personStartAt(d time.Duration) fact { return func(s *State) { s.PersonStart = at(d) } }
func earlyDeathAt(d time.Duration) fact  { return func(s *State) { s.EarlyDeath = at(d) } }
func seenAt(d time.Duration) fact        { return func(s *State) { s.Seen = at(d) } }

// begunInWrongTime: the start and the first sight of the ranks carry a time of an earlier boot that
// has not come yet.
func begunInWrongTime(s *State) {
	s.Since = Clock{Wall: noon.Wall.AddDate(3, 0, 0), Boot: 5, BootID: "boot-0"}
	for i := range s.Ranks {
		s.Ranks[i].FirstSeen = s.Since
	}
}

func sinceAt(d time.Duration) fact { return func(s *State) { s.Since = at(d) } }

// died: the look before has seen that rank's die, and its container still running.
func died(rank int) fact { return knows(rank, func(k *Known) { k.Died = fmt.Sprintf("c%d@s", rank) }) }

func busyFrom(d time.Duration) fact { return func(s *State) { s.BusyFrom = at(d) } }
func dockerStarted(n int) fact {
	return func(s *State) { s.DockerStarts, s.Ranks[1].DockerStarts = n, n }
}
func saidDeadAt(d time.Duration) fact { return func(s *State) { s.SaidDead = at(d) } }
func wasTold(keys ...string) fact     { return func(s *State) { s.Told = append(s.Told, keys...) } }
func gaveUpIn(p Phase) fact           { return func(s *State) { s.GaveUpIn = p } }
func engineWas(e Engine) fact         { return func(s *State) { s.Engine = e } }

// bootFrom sets the start of a boot and our first look at it.
func bootFrom(d time.Duration) fact {
	return func(s *State) {
		s.Since, s.Seen = at(d), at(d)
		for i := range s.Ranks {
			s.Ranks[i].FirstSeen = at(d)
		}
	}
}

func graceFrom(d time.Duration) fact {
	return func(s *State) { s.Grace = &Grace{From: at(d), Why: "rank 1 (n2) was stopped by someone else"} }
}

// struck is a streak, its last strike a minute ago.
func struck(term Term, looks int, first time.Duration) fact {
	return struckUntil(term, looks, first, -m)
}

func struckUntil(term Term, looks int, first, last time.Duration) fact {
	return func(s *State) {
		s.Strikes = append(s.Strikes, Strike{Term: term, Looks: looks, First: at(first), Last: at(last), What: "it fails"})
	}
}

func blindly(s *State) { s.Strikes[len(s.Strikes)-1].Blind = true }

// live says that the counters are known a minute back and an answered canary has moved them.
func live(s *State) { notLive(s); s.Live = "c0@s" }

func notLive(s *State) {
	s.Baseline = Baseline{At: at(-m), Head: "c0@s", Engines: engines(100)}
	s.Engine = VLLM
}

func baselineAt(d time.Duration) fact { return func(s *State) { s.Baseline.At = at(d) } }

func engines(n float64) []EngineCounter {
	return []EngineCounter{{Label: "0", Iterations: n, Prompt: n, Generation: n}}
}

// knows changes what is known of one rank.
func knows(rank int, f func(*Known)) fact { return func(s *State) { f(&s.Ranks[rank]) } }

func knownStatus(rank int, status string) fact {
	return knows(rank, func(k *Known) { k.Container.Status = status })
}

// neverRan: the rank has never been seen in this start.
func neverRan(rank int) fact { return knows(rank, func(k *Known) { k.Container, k.Ran = nil, "" }) }

// goneBefore: the rank ran in this start and was already gone at the last look.
func goneBefore(rank int) fact { return knows(rank, func(k *Known) { k.Container = nil }) }

// Attempts.

type deed func(*Attempt)

// tried adds an attempt; it began at the given time and was told to destroy c0, c1, c2.
func tried(began time.Duration, deeds ...deed) fact {
	return func(s *State) {
		a := Attempt{ID: len(s.Attempts) + 1, Why: "rank 1 (n2) exited 1", Started: at(began), Tries: 1}
		for _, d := range deeds {
			d(&a)
		}
		s.Attempts = append(s.Attempts, a)
	}
}

func committed(a *Attempt) {
	a.Committed, a.Destroy = a.Started.Add(10*s), []string{"c0", "c1", "c2"}
}

func launching(a *Attempt) { committed(a); a.Removed, a.Launching = true, a.Started.Add(30*s) }

func launched(ids ...string) deed {
	return func(a *Attempt) {
		launching(a)
		for i, id := range ids {
			a.Launched = append(a.Launched, Launched{Rank: i, ID: id, StartedAt: "s"})
		}
		ended(80*s, OutcomeLaunched)(a)
	}
}

// ended sets the end, so long after the beginning.
func ended(after time.Duration, o AttemptOutcome) deed {
	return func(a *Attempt) {
		a.Ended, a.Outcome, a.Step, a.Error = a.Started.Add(after), o, "memory is back", "n2 has 3 GiB free"
	}
}

func byAnna(a *Attempt) { a.By = "anna" }
func stops(a *Attempt)  { committed(a); a.By, a.Stop = "anna", true }

// stopped is a person's stop that removed every rank and has ended.
func stopped(a *Attempt) { stops(a); a.Removed = true; ended(20*s, OutcomeStopped)(a) }

func destroysFailed(n int) deed {
	return func(a *Attempt) { a.DestroyFailed, a.Step, a.Error = n, "remove containers", "cannot kill" }
}
func flusher(a *Attempt)      { a.Flusher = true }
func flusherEnded(a *Attempt) { a.FlusherEnded = true }

// counted is an attempt that used up the budget; the group has served since.
func counted(began time.Duration) fact {
	return func(s *State) {
		tried(began, launching, ended(80*time.Second, OutcomeLaunched))(s)
		s.Since, s.Seen = at(-5*m), at(-5*m)
	}
}

// What a look sees.

type sight func(*Observation)

// sees is a look at noon at which all ranks run as known and nothing else was asked.
func sees(sights ...sight) Observation {
	o := Observation{At: at(0)}
	for i, n := range nodes {
		c := box(i)
		o.Ranks = append(o.Ranks, Rank{Node: n, SSH: ReachOK, Docker: ReachOK, Container: &c, Clock: at(0).Wall})
	}
	for _, f := range sights {
		f(&o)
	}
	return o
}

// all joins several sights into one word.
func all(sights ...sight) sight {
	return func(o *Observation) {
		for _, f := range sights {
			f(o)
		}
	}
}

func lookClock(c Clock) sight   { return func(o *Observation) { o.At = c } }
func storeFault(o *Observation) { o.StoreFault = "the state volume is full" }
func ranksOnly(o *Observation)  { o.RanksOnly = true }
func nothingAtAll(o *Observation) {
	o.Ranks = nil
	for _, n := range nodes {
		o.Ranks = append(o.Ranks, Rank{Node: n, SSH: ReachTimeout, Err: "timeout"})
	}
	o.Canary.Outcome, o.Health.Outcome = Unreachable, Unreachable
}

// The canary.

func serves(o *Observation) {
	o.Canary = Canary{HTTP: HTTP{Outcome: Answered, Status: 200}, WellFormed: true, Choices: 1, Tokens: 1, Finish: "length"}
	o.Health = HTTP{Outcome: Answered, Status: 200}
}

func canary(outcome Outcome) sight {
	return func(o *Observation) { o.Canary = Canary{HTTP: HTTP{Outcome: outcome, Took: 30 * s, Err: "no route"}} }
}

func answers(status int) sight {
	return func(o *Observation) {
		o.Canary = Canary{HTTP: HTTP{Outcome: Answered, Status: status}, WellFormed: true, Error: "no"}
	}
}

// skipped: the canary was not asked, since others are served.
func skipped(o *Observation) { o.Canary = Canary{Skipped: true} }

// broken: the canary cannot be asked, and a person can mend that.
func broken(f Fault) sight {
	return func(o *Observation) {
		o.Canary = Canary{HTTP: HTTP{Outcome: Unreachable, Err: "it does not fit", Fault: f}}
	}
}

// saying is what the engine says in its body.
func saying(text string) sight { return func(o *Observation) { o.Canary.Error = text } }

func sleeps(how Sleep) sight { return func(o *Observation) { o.Sleep = how } }

// body changes the body of an answered canary with status 200.
func body(f func(*Canary)) sight {
	return func(o *Observation) {
		o.Canary = Canary{HTTP: HTTP{Outcome: Answered, Status: 200}, WellFormed: true}
		f(&o.Canary)
	}
}

func health(status int) sight {
	return func(o *Observation) { o.Health = HTTP{Outcome: Answered, Status: status} }
}

// counts are the counters before and after the canary; known are 100.
func counts(before, after float64) sight {
	return func(o *Observation) {
		o.Before = Counters{HTTP: HTTP{Outcome: Answered, Status: 200}, Engine: VLLM, Engines: engines(before)}
		o.After = Counters{HTTP: HTTP{Outcome: Answered, Status: 200}, Engine: VLLM, Engines: engines(after)}
	}
}

// twoEngines are the counters of a server with two engines; each is iterations, running, waiting.
func twoEngines(zero, one [3]float64) sight {
	return func(o *Observation) {
		two := []EngineCounter{engine("0", zero), engine("1", one)}
		o.Before = Counters{HTTP: HTTP{Outcome: Answered, Status: 200}, Engine: VLLM, Engines: two}
		o.After = o.Before
	}
}

func engine(label string, n [3]float64) EngineCounter {
	return EngineCounter{Label: label, Iterations: n[0], Prompt: n[0], Generation: n[0], Running: n[1], Waiting: n[2]}
}

// baseOfTwo is the baseline for twoEngines: both at 100, both with one request.
func baseOfTwo(s *State) {
	s.Baseline.Engines = []EngineCounter{engine("0", [3]float64{100, 1, 0}), engine("1", [3]float64{100, 1, 0})}
}

// oneStuck: the second of two engines stands still with a request, the first moves.
var oneStuck = twoEngines([3]float64{150, 1, 0}, [3]float64{100, 1, 0})

// noIterations: the engine does not count its steps.
func noIterations(o *Observation) {
	for _, c := range []*Counters{&o.Before, &o.After} {
		for i := range c.Engines {
			c.Engines[i].Iterations = -1
		}
	}
}

func sglang(o *Observation) { o.Before.Engine, o.After.Engine = SGLang, SGLang }
func noCounters(o *Observation) {
	o.Before = Counters{HTTP: HTTP{Outcome: Answered, Status: 404}}
	o.After = o.Before
}

// wedged: no completion and counters that stand still; working: no completion, they move.
var (
	wedged  = all(canary(Unanswered), counts(100, 100), health(200))
	working = all(canary(Unanswered), counts(150, 150), health(200))
)

// Ranks.

func seen(rank int, f func(*Rank)) sight { return func(o *Observation) { f(&o.Ranks[rank]) } }

func gone(rank int) sight { return seen(rank, func(r *Rank) { r.Container = nil }) }
func silent(rank int) sight {
	return seen(rank, func(r *Rank) { *r = Rank{Node: r.Node, SSH: ReachTimeout, Err: "dial: timeout"} })
}
func dockerSilent(rank int) sight {
	return seen(rank, func(r *Rank) { *r = Rank{Node: r.Node, SSH: ReachOK, Docker: ReachDenied, Err: "permission denied"} })
}
func status(rank int, status string) sight {
	return seen(rank, func(r *Rank) { r.Container.Status = status })
}

// dies: the rank exits by itself, as its node's history tells.
func dies(rank, code int) sight {
	return all(exited(rank, code), event(rank, "die", -30*s))
}

// exited: it no longer runs, and nothing tells how that came.
func exited(rank, code int) sight {
	return seen(rank, func(r *Rank) { r.Container.Status, r.Container.ExitCode = "exited", code })
}

func event(rank int, action string, ago time.Duration) sight { return signal(rank, action, "", ago) }

func signal(rank int, action, name string, ago time.Duration) sight {
	return seen(rank, func(r *Rank) {
		r.Events = append(r.Events, Event{At: at(ago).Wall, ID: fmt.Sprintf("c%d", rank), Action: action, Signal: name})
		r.EventsSeen++
	})
}

// started: a new container of that age runs under the name.
func started(rank int, id string, age time.Duration) sight {
	return seen(rank, func(r *Rank) {
		r.Container = &Container{ID: id, Status: "running", StartedAt: "s", Age: age, ImageID: "image"}
	})
}

// launchedStopped: a container that our launch has started does not run any more, after that event.
func launchedStopped(rank int, id, action string) sight {
	return seen(rank, func(r *Rank) {
		r.Container = &Container{ID: id, Status: "exited", StartedAt: "s", ExitCode: 143}
		r.Events = append(r.Events, Event{At: at(-10 * s).Wall, ID: id, Action: action})
		r.EventsSeen++
	})
}

// restarted: the same container, started again; count is Docker's RestartCount, 0 after a hand.
func restarted(rank, count int, age time.Duration) sight {
	return seen(rank, func(r *Rank) { r.Container.StartedAt, r.Container.RestartCount, r.Container.Age = "s2", count, age })
}

func autoRemove(s *State) {
	for i := range s.Ranks {
		s.Ranks[i].Container.AutoRemove = true
	}
}

// The switch.

func flag(f Flag) sight {
	f.Present = true
	return func(o *Observation) { o.Flag = f }
}

// flagUntil is a disarm with an end, as the command writes it; the checks pass where it is over.
func flagUntil(d time.Duration) sight {
	return all(checks(""), flagOnly(d))
}

func checks(failed string) sight { return func(o *Observation) { o.Checks = &Checks{Failed: failed} } }

func flagOnly(d time.Duration) sight {
	return flag(Flag{Who: "bert", Reason: "new model", Until: at(d).Wall, Ends: at(d)})
}
