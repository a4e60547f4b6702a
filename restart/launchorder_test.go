package restart

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// launchSettings are the four ways to launch.
func launchSettings(t *testing.T) []Settings {
	var all []Settings
	for _, headFirst := range []bool{false, true} {
		for _, sequential := range []bool{false, true} {
			s := rackSettings(t, 4)
			s.HeadFirst, s.Sequential = headFirst, sequential
			all = append(all, s)
		}
	}
	return all
}

func nameOf(s Settings) string {
	return fmt.Sprintf("head first %v, sequential %v", s.HeadFirst, s.Sequential)
}

// stepsFor returns the steps that a plan of these settings has.
func stepsFor(set Settings) []Step {
	return slices.DeleteFunc(Steps(), func(s Step) bool { return s.When != nil && !s.When(set) })
}

// What the plan of each way looks like to a person.
func TestLaunchesOfThePlan(t *testing.T) {
	want := []string{
		"launch workers 3, launch head 1, verify 4",
		"launch workers 3 one by one, launch head 1, verify 4",
		"launch head 1, launch workers 3, verify 4",
		"launch head 1, launch workers 3 one by one, verify 4",
	}
	base := time.Duration(0)
	for i, set := range launchSettings(t) {
		p, err := NewPlan(set, Steps())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.of(scripts.Launch) {
			line := fmt.Sprintf("%s %d", s.Name, len(set.ranksOf(s)))
			if s.OneByOne {
				line += " one by one"
			}
			got = append(got, line)
		}
		if line := strings.Join(got, ", "); line != want[i] {
			t.Errorf("%s: %s", nameOf(set), line)
		}
		longer := time.Duration(0)
		if set.Sequential {
			longer = 2 * (set.LaunchTimeout + launchSlack) // three launches in a row where there was one
		}
		if i == 0 {
			base = p.Longest()
		}
		if p.Longest() != base+longer {
			t.Errorf("%s: takes %s at most, side by side %s", nameOf(set), p.Longest(), base)
		}
	}
}

// The side that waits for the other is never launched before it, no rank twice, none not at all.
func TestPlanRefusesLaunchesInAnotherOrder(t *testing.T) {
	launch := func(on Where, oneByOne bool) Step {
		return Step{Name: "launch", Script: "launch/launch", On: on, OneByOne: oneByOne, Timeout: time.Minute}
	}
	verify := Step{Name: "verify", Script: "launch/verify", On: All, Timeout: time.Minute}
	head, workers := launch(Head, false), launch(Workers, false)
	for _, row := range []struct {
		name       string
		headFirst  bool
		sequential bool
		steps      []Step
		want       string
	}{
		{"as told", false, false, []Step{workers, head, verify}, ""},
		{"as told, head first", true, false, []Step{head, workers, verify}, ""},
		{"as told, one by one", false, true, []Step{launch(Workers, true), head, verify}, ""},
		{"nothing is launched", false, false, []Step{{Name: "x", Script: "destroy/remove", On: All, Timeout: 1}}, ""},
		{"the head too early", false, false, []Step{head, workers, verify}, "the head before its workers"},
		{"the head too late", true, false, []Step{workers, head, verify}, "workers before the head"},
		{"all in one step", false, false, []Step{launch(All, false), verify}, "have no order"},
		{"all in one step, head first", true, false, []Step{launch(All, false), verify}, "have no order"},
		{"no head", false, false, []Step{workers, verify}, "3 of 4 ranks"},
		{"no workers", true, false, []Step{head, verify}, "1 of 4 ranks"},
		{"the head twice", false, false, []Step{workers, head, head, verify}, "rank 0 is launched twice"},
		{"nobody verifies", false, false, []Step{workers, head}, "nothing verifies"},
		{"verified too early", false, false, []Step{workers, verify, head}, "after the verification"},
		{"side by side though told otherwise", false, true, []Step{workers, head, verify}, "launch.sequential"},
		{"one by one though told otherwise", false, false, []Step{launch(Workers, true), head, verify}, "launch.sequential"},
	} {
		set := rackSettings(t, 4)
		set.HeadFirst, set.Sequential = row.headFirst, row.sequential
		_, err := NewPlan(set, row.steps)
		switch {
		case (err == nil) != (row.want == ""):
			t.Errorf("%s: err = %v", row.name, err)
		case err != nil && !strings.Contains(err.Error(), row.want):
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// Each side begins when the other runs; the verification comes when all do.
func TestLaunchesInTheirOrder(t *testing.T) {
	for _, set := range launchSettings(t) {
		t.Run(nameOf(set), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRack(t, set)
				r.takes = func(_ string, rank int) time.Duration { return time.Duration(4-rank) * time.Second } // the last is the fastest
				if a := r.restart(watchdog.Attempt{}); a.Outcome != watchdog.OutcomeLaunched || len(a.Launched) != 4 || len(r.disk.Launched) != 4 {
					t.Fatalf("attempt = %+v", a)
				}
				order := "launched n4, launched n3, launched n2"
				if set.Sequential {
					order = "launched n2, launch n3, launched n3, launch n4, launched n4"
				}
				if !strings.Contains(r.story(), order) {
					t.Errorf("workers: %s", r.story())
				}
				head, workers := slices.Index(r.began, "launch n1"), []string{"n2", "n3", "n4"}
				for _, w := range workers {
					if late := slices.Index(r.began, "launched "+w) < head; late == set.HeadFirst {
						t.Errorf("%s against the head: %s", w, r.story())
					}
					if set.HeadFirst && slices.Index(r.began, "launch "+w) < slices.Index(r.began, "launched n1") {
						t.Errorf("%s begins before the head runs: %s", w, r.story())
					}
				}
				want := 3
				if set.Sequential {
					want = 1
				}
				if r.most != want {
					t.Errorf("%d launches at once, want %d", r.most, want)
				}
			})
		})
	}
}

// A failed launch is the last one, whatever the order; what runs where is told.
func TestAFailedLaunchIsTheLast(t *testing.T) {
	want := map[string]string{ // which node's launch fails, and what runs then
		"false false n1": "rank 1 (n2), rank 2 (n3), rank 3 (n4)", "false false n3": "rank 1 (n2), rank 3 (n4)",
		"false true n1": "rank 1 (n2), rank 2 (n3), rank 3 (n4)", "false true n3": "rank 1 (n2)",
		"true false n1": "no rank was started", "true false n3": "rank 0 (n1), rank 1 (n2), rank 3 (n4)",
		"true true n1": "no rank was started", "true true n3": "rank 0 (n1), rank 1 (n2)",
	}
	for _, set := range launchSettings(t) {
		for _, bad := range []int{0, 2} {
			name := fmt.Sprintf("%v %v %s", set.HeadFirst, set.Sequential, set.Nodes[bad])
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newRack(t, set)
					r.takes = func(_ string, rank int) time.Duration { return time.Duration(1+rank) * time.Second }
					r.fault = func(script string, rank int) error {
						if script == "launch/launch" && rank == bad {
							return &NodeError{Node: set.Nodes[bad], Reach: watchdog.ReachOK, Exit: 1, Err: errors.New("no such image")}
						}
						return nil
					}
					a := r.restart(watchdog.Attempt{})
					if a.Outcome != watchdog.OutcomeLaunchFailed || !a.Counted() || !strings.HasSuffix(a.Error, want[name]) {
						t.Errorf("attempt %s: %s", a.Outcome, a.Error)
					}
				})
			})
		}
	}
}

// The switch is read before every launch that follows another.
func TestSwitchStopsBeforeTheNextLaunch(t *testing.T) {
	for i, want := range []string{
		"launch n2, launch n3, launch n4, launched n2, launched n3, launched n4",
		"launch n2, launched n2",
		"launch n1, launched n1",
		"launch n1, launched n1",
	} {
		set := launchSettings(t)[i]
		t.Run(nameOf(set), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRack(t, set)
				r.takes = func(_ string, rank int) time.Duration { return time.Duration(1+rank) * time.Second }
				r.flag = func() watchdog.Flag {
					r.mu.Lock()
					defer r.mu.Unlock()
					return watchdog.Flag{Present: len(r.began) > 0, Who: "anna"}
				}
				a := r.restart(watchdog.Attempt{})
				slices.SortStableFunc(r.began, func(a, b string) int { // which of several begins first is nobody's business
					if strings.HasPrefix(a, "launch ") && strings.HasPrefix(b, "launch ") {
						return strings.Compare(a, b)
					}
					return 0
				})
				if a.Outcome != watchdog.OutcomeSwitch || a.Counted() || r.story() != want {
					t.Errorf("attempt %s, counted %v: %s", a.Outcome, a.Counted(), r.story())
				}
			})
		})
	}
}

// Any effect may be the last one, in every order of launching.
func TestKilledAnywhereInEveryOrder(t *testing.T) {
	for _, set := range launchSettings(t) {
		clean := newRack(t, set)
		clean.restart(watchdog.Attempt{})
		for n := 1; n <= clean.effects; n++ {
			r := newRack(t, set)
			r.killAt = n
			r.restart(watchdog.Attempt{})
			r.killAt = 0
			if r.disk.ID == 0 || !r.disk.Launching.IsZero() {
				continue // nothing was begun, or a boot of ours that the next look judges
			}
			if a := r.restart(r.disk); a.Outcome != watchdog.OutcomeLaunched {
				t.Errorf("%s, killed at %d: the next try ends %s: %s", nameOf(set), n, a.Outcome, a.Error)
			}
		}
	}
}
