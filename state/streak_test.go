package state

import (
	"fmt"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// runs are runs of the program: each opens the state, judges one look, and saves what it knows then.
type runs struct {
	t   *testing.T
	dir string
	now watchdog.Clock
	p   watchdog.Policy

	worked float64 // what the engine has counted
}

func newRuns(t *testing.T) *runs {
	p := watchdog.DefaultPolicy()
	p.Identity, p.Config, p.Engine = "id", "config", watchdog.VLLM
	r := &runs{t: t, dir: t.TempDir(), now: at(0), p: p}
	check(t, r.store().SaveArm(&watchdog.Arm{Who: "anna", At: at(-time.Hour), Identity: "id"}))
	return r
}

func (r *runs) store() *Store {
	s, err := Open(r.dir, examined)
	check(r.t, err)
	return s
}

// look is one run after that time. The engine has stood still since ever; served says whether it answers.
func (r *runs) look(after time.Duration, head string, served bool, workerRuns bool) watchdog.Decision {
	r.t.Helper()
	r.now = r.now.Add(after)
	s := r.store()
	st, err := s.Load()
	check(r.t, err)
	count := func() watchdog.Counters {
		return watchdog.Counters{HTTP: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200}, Engine: watchdog.VLLM,
			Engines: []watchdog.EngineCounter{{Label: "0", Iterations: r.worked, Prompt: r.worked, Generation: r.worked}}}
	}
	o := watchdog.Observation{At: r.now, Before: count(), Health: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200}}
	o.Canary.HTTP = watchdog.HTTP{Outcome: watchdog.Unanswered, Took: 30 * time.Second}
	if served {
		o.Canary = watchdog.Canary{HTTP: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200}, WellFormed: true, Choices: 1}
		r.worked++
	}
	o.After = count()
	for rank, id := range []string{head, "worker"} {
		c := &watchdog.Container{ID: id, Status: "running", StartedAt: "2026-03-04T10:00:00Z", Age: 10 * time.Second}
		if rank == 1 && !workerRuns {
			c.Status, c.ExitCode = "exited", 1
		}
		o.Ranks = append(o.Ranks, watchdog.Rank{Node: fmt.Sprintf("n%d", rank+1), SSH: watchdog.ReachOK, Docker: watchdog.ReachOK, Container: c, Clock: r.now.Wall})
	}
	d := watchdog.Decide(r.p, st, o)
	check(r.t, s.SaveLook(d.Next, Row{At: o.At, Phase: d.Next.Phase.String()}, nil))
	return d
}

func streakOf(d watchdog.Decision, term watchdog.Term) int {
	for _, s := range d.Next.Strikes {
		if s.Term == term {
			return s.Looks
		}
	}
	return 0
}

// Y10: windows are seconds between observations, whatever the number of runs: three failing ones within
// 15 s are one, and only time makes them more.
func TestWindowsAreSecondsY10(t *testing.T) {
	for _, row := range []struct {
		name       string
		term       watchdog.Term
		workerRuns bool
		more       time.Duration // until the rule is met
		reason     watchdog.Reason
	}{
		{"a wedge", watchdog.TermProgress, true, 6 * time.Minute, watchdog.ReasonNoProgress},
		{"a dead rank", watchdog.TermRank, false, 20 * time.Second, watchdog.ReasonRankDead},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := newRuns(t)
			r.look(0, "A", true, true)
			r.look(time.Minute, "A", true, true)
			first := r.look(time.Minute, "A", false, row.workerRuns)
			for _, after := range []time.Duration{5 * time.Second, 10 * time.Second} {
				d := r.look(after, "A", false, row.workerRuns)
				if d.Action == watchdog.ActRestart || streakOf(d, row.term) != 1 {
					t.Fatalf("after %s: %s", r.now.Since(first.Next.Last), d.Sentence())
				}
			}
			end := first.Next.Last.Add(row.more)
			step := end.Since(r.now) / 5
			var d watchdog.Decision
			for d.Action != watchdog.ActRestart && end.After(r.now) {
				d = r.look(step, "A", false, row.workerRuns)
				if d.Action == watchdog.ActRestart && end.After(r.now) {
					t.Errorf("%s too early: %s", end.Since(r.now), d.Sentence())
				}
			}
			if d.Action != watchdog.ActRestart || d.Reason != row.reason {
				t.Errorf("after %s: %s", row.more, d.Sentence())
			}
		})
	}
}

// Y11: a streak outlives the process, with its times and the start it belongs to: one of another container
// begins anew.
func TestStreaksOutliveTheProcessY11(t *testing.T) {
	r := newRuns(t)
	r.look(0, "A", true, true)
	r.look(time.Minute, "A", true, true)
	began := r.now.Add(time.Minute)
	for want := 1; want <= 2; want++ {
		if d := r.look(time.Minute, "A", false, true); streakOf(d, watchdog.TermProgress) != want {
			t.Fatalf("%d. look: %s", want, d.Sentence())
		}
	}
	st, err := r.store().Load()
	check(t, err)
	if s := st.Strikes; len(s) != 1 || !s[0].First.Equal(began) || !s[0].Last.Equal(r.now) || st.Ranks[0].Ran != "A@2026-03-04T10:00:00Z" {
		t.Fatalf("kept: %+v, %s", s, st.Ranks[0].Ran)
	}
	if d := r.look(time.Minute, "B", false, true); d.Next.Phase != watchdog.Booting || len(d.Next.Strikes) != 0 {
		t.Errorf("id B: %s, %+v", d.Sentence(), d.Next.Strikes)
	}
	r.look(time.Minute, "B", true, true)
	if d := r.look(time.Minute, "B", false, true); d.Action != watchdog.ActNone || streakOf(d, watchdog.TermProgress) != 1 {
		t.Errorf("the first failing look of B: %s, %+v", d.Sentence(), d.Next.Strikes)
	}
}
