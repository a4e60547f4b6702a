package watchdog

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Each property of a single look, on anything the types allow.
func TestEachLook(t *testing.T) {
	holds(t, 20000, func(t *rapid.T) {
		st, o := draw{t}.state(), draw{t}.look()
		d := unchanged(t, st, o)
		forbidden(t, st, o, d)
		streakBehind(t, d)
		phaseEdges(t, st, o, d)
		hasWords(t, d)
	})
}

// unchanged: no argument changes, and the same question has the same answer.
func unchanged(t *rapid.T, st State, o Observation) Decision {
	p := rowPolicy()
	wasP, wasState, wasLook := p, copied(st), copied(o)
	first := Decide(p, st, o)
	answer := copied(first)
	second := Decide(p, st, o)
	if p != wasP || !reflect.DeepEqual(st, wasState) || !reflect.DeepEqual(o, wasLook) {
		t.Fatalf("an argument changed:\n%s\n%s", cmp.Diff(wasState, st), cmp.Diff(wasLook, o))
	}
	if !reflect.DeepEqual(answer, second) || !reflect.DeepEqual(answer, first) {
		t.Fatalf("two answers:\n%s", cmp.Diff(answer, second))
	}
	return first
}

// forbidden: what the gate forbids does not happen, whatever the rest says. The conditions are told here in
// other words than in gate.go.
func forbidden(t *rapid.T, s State, o Observation, d Decision) {
	why := map[string]bool{
		"the store is at fault":       o.StoreFault != "",
		"a flag without end":          o.Flag.Present && o.Flag.Until.IsZero(),
		"never armed":                 s.Arm == nil,
		"armed for another identity":  s.Arm != nil && s.Arm.Identity != "id",
		"never looked":                s.Last.IsZero(),
		"another boot":                s.Last.BootID != o.At.BootID,
		"another config":              s.Config != "config",
		"a gap":                       o.At.Since(s.Last) > 5*time.Minute,
		"armed since":                 s.Arm != nil && s.Arm.At.BootID == o.At.BootID && s.Arm.At.Boot > s.Last.Boot,
		"a completion was served":     d.Readings.Served,
		"the budget, for a restart":   d.Action == ActRestart && rowPolicy().Used(s, o.At) >= 2,
		"given up":                    d.Next.Phase == GivenUp && !(d.Action == ActResume && s.Attempts[len(s.Attempts)-1].By != ""),
		"a person's time":             d.Action == ActRestart && d.Next.Grace != nil && o.At.Since(d.Next.Grace.From) < 10*time.Minute,
		"nothing fails":               d.Action == ActRestart && d.Readings.Rank.Reading != Failing && d.Readings.Engine.Reading != Failing && d.Readings.Progress.Reading != Failing && d.Readings.Boot.Reading != Failing,
		"nobody wished a launch":      d.Action == ActLaunch && (s.Arm == nil || !s.Arm.Launch),
		"no open attempt to resume":   d.Action == ActResume && (len(s.Attempts) == 0 || s.Attempts[len(s.Attempts)-1].Stop || s.Attempts[len(s.Attempts)-1].Committed.IsZero() || !s.Attempts[len(s.Attempts)-1].Launching.IsZero()),
		"a restart over an open one":  d.Action == ActRestart && d.Next.Phase == None,
		"an engine put to rest":       o.Sleep != SleepUnknown && !d.Readings.Served && d.Readings.Rank.Reading != Failing && (d.Readings.Engine.Reading == Failing || d.Readings.Progress.Reading == Failing),
		"a wrong question, no more":   o.Canary.Status == 401 && d.Readings.Rank.Reading != Failing && d.Readings.Engine.Reading != Failing && d.Action == ActRestart,
		"second look of a ranks look": d.Action == ActLookAgain && o.RanksOnly,
	}
	for why, is := range why {
		if is && d.Action != ActNone {
			t.Fatalf("%v although: %s\n%s", d.Action, why, d.Sentence())
		}
	}
	if d.EndFlag && (o.Checks == nil || o.Checks.Failed != "" || o.StoreFault != "" || o.Flag.Until.IsZero() || o.Flag.Err != "") {
		t.Fatalf("the flag ends although it may not")
	}
}

// streakBehind: a restart has a streak of at least two looks.
func streakBehind(t *rapid.T, d Decision) {
	if d.Action != ActRestart {
		return
	}
	for _, k := range d.Next.Strikes {
		if k.Looks >= 2 {
			return
		}
	}
	t.Fatalf("restart without a streak: %s", d.Sentence())
}

// What cannot be told neither adds to a streak nor ends one; only age does.
func TestUnknownChangesNoStreak(t *testing.T) {
	holds(t, 20000, func(t *rapid.T) {
		st := draw{t}.state()
		st.Config, st.Identity, st.Attempts, st.Reset, st.Arm = "config", "id", nil, Clock{}, nil
		st.Last = at(-m)
		st.DockerStarts = 0
		o := sees(nothingAtAll)
		d := Decide(rowPolicy(), st, o)
		want := slices.DeleteFunc(slices.Clone(st.Strikes), func(s Strike) bool { return o.At.Since(s.Last) > 10*time.Minute })
		if len(want)+len(d.Next.Strikes) > 0 && !cmp.Equal(want, d.Next.Strikes) {
			t.Fatalf("strikes changed:\n%s", cmp.Diff(want, d.Next.Strikes))
		}
		if d.Action == ActRestart {
			t.Fatalf("restart of what cannot be seen: %s", d.Sentence())
		}
	})
}

// phaseEdges: the phase changes only along these edges, and for these causes.
func phaseEdges(t *rapid.T, s State, o Observation, d Decision) {
	from, to := s.Phase, d.Next.Phase
	if from == to || s.Identity == "other" {
		return
	}
	if d.Readings.Served {
		if to != Serving {
			t.Fatalf("%v -> %v with a served completion", from, to)
		}
		return
	}
	launched := slices.ContainsFunc(s.Attempts, func(a Attempt) bool { return !a.Launching.IsZero() })
	started := d.Next.PersonStart.Equal(o.At)
	byDocker := slices.ContainsFunc(o.Ranks[:1], func(r Rank) bool { return r.Container != nil && r.Container.RestartCount > 0 })
	reset := !s.Reset.IsZero()
	ok := false
	switch {
	case to == None:
		ok = slices.ContainsFunc(s.Attempts, func(a Attempt) bool { return a.Stop && !a.Committed.IsZero() })
	case to == GivenUp:
		ok = d.Reason == ReasonBudget || d.Reason == ReasonDestroyFailed
	case from == GivenUp:
		ok = reset || started || (launched && to == Booting)
	case to == Booting:
		ok = started || launched || byDocker
	}
	if !ok {
		t.Fatalf("%v -> %v: %s", from, to, d.Sentence())
	}
}

// hasWords: every decision can be said.
func hasWords(t *rapid.T, d Decision) {
	said := d.Sentence() + d.Reason.String() + d.Why.String()
	for _, n := range d.Notices {
		said += n.Kind.String() + n.Text
	}
	if strings.Contains(said, "internal error") || strings.Contains(said, "%!") || d.Reason == 0 || d.Why == 0 {
		t.Fatalf("no words: %s", said)
	}
	if d.Action != ActNone && (d.Action != d.Wanted || d.Reason != d.Why) {
		t.Fatalf("acts on another rule than the one that wanted it: %+v", d)
	}
}

// Explain decides as Decide does, and the last rules it names are those that decided.
func TestExplainSaysWhatDecided(t *testing.T) {
	holds(t, 5000, func(t *rapid.T) {
		st, o := draw{t}.state(), draw{t}.look()
		want := Decide(rowPolicy(), st, o)
		got, rulings := Explain(rowPolicy(), st, o)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("decides otherwise:\n%s", cmp.Diff(want, got))
		}
		applied := map[string][]Ruling{}
		parts := []string{}
		for _, r := range rulings {
			if r.Applied {
				applied[r.Part] = append(applied[r.Part], r)
			}
			if n := len(parts); n == 0 || parts[n-1] != r.Part {
				parts = append(parts, r.Part)
			}
			if r.Rule == "" || strings.Contains(r.Rule+r.Words, "internal error") || strings.Contains(r.Rule+r.Words, "%!") {
				t.Fatalf("no words: %+v", r)
			}
		}
		if !slices.Equal(parts, []string{"advance", "judge"}) && !slices.Equal(parts, []string{"advance", "judge", "gate"}) {
			t.Fatalf("parts %q", parts)
		}
		if j := applied["judge"]; len(j) != 1 || (j[0].Rule != got.Why.String() && got.Reason != ReasonFailing) {
			t.Fatalf("judge answered %v, the decision says %q", j, got.Why)
		}
		if g := applied["gate"]; len(g) > 1 || (len(g) == 1 && g[0].Rule != got.Reason.String() && got.Reason != ReasonFailing) {
			t.Fatalf("gate answered %v, the decision says %q", g, got.Reason)
		}
		if got.Next.Phase != st.Phase && !slices.ContainsFunc(applied["advance"], func(r Ruling) bool { return strings.Contains(r.Words, "phase ") }) && got.Next.Phase != GivenUp && st.Identity == "id" {
			t.Fatalf("no rule says why %v became %v: %v", st.Phase, got.Next.Phase, rulings)
		}
	})
}
