package watchdog

import (
	goflag "flag"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// holds checks a property on n cases; fewer under -race, where each takes ten times as long.
func holds(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	if underRace {
		n /= 20
	}
	const name = "rapid.checks"
	f := goflag.Lookup(name)
	was := f.Value.String()
	if was == f.DefValue { // a number given by hand stands
		if err := goflag.Set(name, strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = goflag.Set(name, was) }()
	}
	rapid.Check(t, property)
}

// draw is a source of states and looks that may be anything the types allow, near the limits that
// matter.
type draw struct{ t *rapid.T }

func pick[T any](d draw, name string, of ...T) T {
	return of[rapid.IntRange(0, len(of)-1).Draw(d.t, name)]
}

func (d draw) often(name string) bool  { return rapid.IntRange(0, 3).Draw(d.t, name) > 0 }
func (d draw) seldom(name string) bool { return rapid.IntRange(0, 7).Draw(d.t, name) == 0 }

// past is an instant before noon, near a limit of some rule.
func (d draw) past(name string) Clock {
	if d.seldom(name + " in another boot") {
		return Clock{Wall: noon.Wall.Add(-pick(d, name, m, h, 9*h, -24*h)), Boot: pick(d, name, s, 500*h), BootID: "boot-0"}
	}
	return at(-pick(d, name, 0, s, 20*s, 49*s, 50*s, m, 2*m, 5*m, 5*m+s, 6*m, 10*m, 10*m+s, 15*m, 30*m, 75*m+s, 2*h, 6*h, 6*h+s, 9*h))
}

func (d draw) mayPast(name string) Clock {
	if d.often(name + " never") {
		return Clock{}
	}
	return d.past(name)
}

func (d draw) container(rank int) *Container {
	if d.seldom("no container") {
		return nil
	}
	c := box(rank)
	c.ID = pick(d, "id", c.ID, c.ID, c.ID, "new"+c.ID)
	c.StartedAt = pick(d, "started", "s", "s", "s", "s2", neverStarted)
	c.Status = pick(d, "status", "running", "running", "running", "exited", "dead", "created", "paused", "restarting", "removing")
	c.RestartCount = pick(d, "restarts", 0, 0, 0, 1, 3)
	c.Age = pick(d, "age", s, m, 11*m, 10*h)
	c.AutoRemove = d.seldom("auto remove")
	return &c
}

func (d draw) state() State {
	st := State{
		Phase: pick(d, "phase", None, Booting, Booting, Serving, Serving, Serving, GivenUp),
		Since: d.past("since"), Seen: d.past("seen"), Last: at(-pick(d, "last", 20*s, m, m, m, 5*m, 5*m+s)),
		Config: "config", Identity: "id",
		Served: d.mayPast("served"), ServedBy: pick(d, "served by", "", "c0@s", "c0@s"), BusyFrom: d.mayPast("busy from"),
		PersonStart: d.mayPast("person start"), EarlyDeath: d.mayPast("early death"), Reset: d.mayPast("reset"),
		DockerStarts: pick(d, "docker starts", 0, 0, 0, 2, 3), Live: pick(d, "live", "", "c0@s"), Engine: pick(d, "engine", EngineUnknown, VLLM, SGLang),
	}
	for i := range nodes {
		k := Known{Container: d.container(i), Answered: d.often("answered"), Clock: at(-m).Wall, Ran: pick(d, "ran", "", fmt.Sprintf("c%d@s", i), fmt.Sprintf("c%d@s", i), "old@s"),
			ServedUnder: pick(d, "served under", "", "c0@s", "c0@s", "old@s"), FirstSeen: d.past("first seen")}
		if !k.Answered {
			k.Container, k.Ran = nil, ""
		}
		st.Ranks = append(st.Ranks, k)
	}
	if d.often("baseline") {
		st.Baseline = Baseline{At: d.past("baseline"), Head: "c0@s", Engines: engines(100)}
		if d.seldom("two engines") {
			baseOfTwo(&st)
		}
	}
	for _, term := range []Term{TermRank, TermEngine, TermProgress, TermBoot} {
		if d.seldom("strike") {
			last := d.past("last strike")
			st.Strikes = append(st.Strikes, Strike{Term: term, Looks: rapid.IntRange(1, 5).Draw(d.t, "looks"), First: last.Add(-pick(d, "first strike", 0, 20*s, 6*m, 15*m)), Last: last,
				Blind: d.seldom("blind"), Cause: CauseRankDead, What: "it fails"})
		}
	}
	if d.often("armed") {
		st.Arm = &Arm{Who: "anna", At: d.past("armed"), Identity: pick(d, "armed for", "id", "id", "id", "other"), Launch: d.seldom("wish")}
	}
	if d.seldom("grace") {
		st.Grace = &Grace{From: d.past("grace"), Why: "it"}
	}
	if d.seldom("incident") {
		st.Incident = &Incident{ID: 1, Opened: d.past("incident"), What: "it"}
	}
	if d.seldom("doubt") {
		st.ClockDoubt, st.Earlier = true, Clock{Wall: noon.Wall.Add(-pick(d, "doubt", h, -h)), BootID: "boot-0"}
	}
	if d.seldom("other config") {
		st.Config, st.Identity = "other", pick(d, "identity", "id", "other")
	}
	if d.seldom("never looked") {
		st = State{Arm: st.Arm}
	}
	for i := range rapid.IntRange(0, 3).Draw(d.t, "attempts") {
		st.Attempts = append(st.Attempts, d.attempt(i+1))
	}
	return st
}

func (d draw) attempt(id int) Attempt {
	began := d.past("began")
	a := Attempt{ID: id, By: pick(d, "by", "", "", "anna"), Why: "it", Started: began, Tries: 1, Outcome: AttemptOutcome(rapid.IntRange(0, int(OutcomeStopped)).Draw(d.t, "outcome")),
		DestroyFailed: pick(d, "destroy failed", 0, 0, 1, 3), Flusher: d.seldom("flusher"), Step: "step"}
	if d.often("committed") {
		a.Committed, a.Destroy = began, []string{"c0", "c1", "c2"}
		if d.often("launching") {
			a.Launching = began
			for i := range rapid.IntRange(0, 3).Draw(d.t, "launched") {
				a.Launched = append(a.Launched, Launched{Rank: i, ID: fmt.Sprintf("newc%d", i), StartedAt: "s"})
			}
		}
	}
	if a.By != "" && a.Launching.IsZero() {
		a.Stop = d.seldom("stop")
	}
	if a.Outcome != OutcomeNone {
		a.Ended = began.Add(pick(d, "took", 0, m))
	}
	return a
}

func (d draw) look() Observation {
	o := Observation{At: at(0), RanksOnly: d.seldom("ranks only")}
	if d.seldom("another boot") {
		o.At = Clock{Wall: noon.Wall.Add(pick(d, "jump", 0, -24*h, 24*h, 20*365*24*h)), Boot: m, BootID: "boot-2"}
	}
	for i, n := range nodes {
		r := Rank{Node: n, SSH: ReachOK, Docker: ReachOK, Clock: o.At.Wall}
		switch {
		case d.seldom("silent"):
			r = Rank{Node: n, SSH: ReachTimeout, Err: "timeout"}
		case d.seldom("no docker"):
			r.Docker, r.Err = ReachDenied, "denied"
		default:
			r.Container = d.container(i)
			d.events(i, &r)
		}
		o.Ranks = append(o.Ranks, r)
	}
	if !o.RanksOnly {
		pick(d, "canary", serves, canary(Unanswered), canary(Unanswered), canary(Refused), canary(Unreachable), canary(Dropped), answers(500), answers(401), answers(429), skipped, broken(FaultTLS), func(*Observation) {})(&o)
		pick(d, "health", health(200), health(200), health(503), health(500), func(*Observation) {})(&o)
		pick(d, "counters", counts(100, 100), counts(100, 100), counts(100, 101), counts(150, 150), counts(7, 7), oneStuck, noCounters, func(*Observation) {})(&o)
		if d.seldom("asleep") {
			o.Sleep = pick(d, "how", Asleep, SleepPaused)
		}
		if d.seldom("sglang") {
			sglang(&o)
		}
	}
	if d.seldom("flag") {
		o.Checks = pick(d, "checks", nil, &Checks{}, &Checks{Failed: "disk on n2: full"})
		pick(d, "which flag", flag(Flag{}), flagUntil(m), flagUntil(-m), flag(Flag{Err: "short"}))(&o)
	}
	if d.seldom("store fault") {
		storeFault(&o)
	}
	return o
}

func (d draw) events(i int, r *Rank) {
	for range rapid.IntRange(0, 2).Draw(d.t, "events") {
		r.Events = append(r.Events, Event{At: r.Clock.Add(-pick(d, "event", s, m, 3*m, 11*m)), ID: fmt.Sprintf("c%d", i),
			Action: pick(d, "action", "die", "die", "kill", "stop", "destroy", "start"), Signal: pick(d, "signal", "", "TERM", "HUP")})
	}
	r.EventsSeen = pick(d, "events seen", len(r.Events), len(r.Events), 256)
}

// copied returns a value that shares nothing with v.
func copied[T any](v T) T {
	out := reflect.New(reflect.TypeOf(v)).Elem()
	deepCopy(out, reflect.ValueOf(v))
	return out.Interface().(T)
}

func deepCopy(to, from reflect.Value) {
	to.Set(from)
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			deepCopy(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				deepCopy(to.Index(i), from.Index(i))
			}
		}
	case reflect.Struct:
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				deepCopy(to.Field(i), from.Field(i))
			}
		}
	}
}
