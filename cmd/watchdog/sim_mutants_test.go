package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var simMutants = flag.String("mutants", "", "break the core and the hands on purpose: the mutants whose names match this")

// mutant is one rule broken on purpose. Its old text stands exactly once in the file. What a plan refuses to
// be made of – launches out of order, or that nothing verifies – is none: it never runs.
type mutant struct{ name, file, old, new string }

var mutants = []mutant{
	{"destroy before the commit", "restart/runner.go",
		"	if err := t.commit(clearance); err != nil {\n		return err\n	}\n	if err := t.destroy(ctx); err != nil {",
		"	if err := t.destroy(ctx); err != nil {\n		return err\n	}\n	if err := t.commit(clearance); err != nil {"},
	{"count at the commit", "restart/runner.go", "	t.begin(stageCommit)\n", "	t.begin(stageCommit)\n	a.Launching = now\n"},
	{"destroy something else than was named", "restart/runner.go", "			a.Destroy[rank] = id\n", "			a.Destroy[rank] = \"\"\n"},
	{"ignore the switch between steps", "restart/runner.go", "	if thrown(t.world.Switch()) {\n		return errSwitch\n	}\n	return nil", "	return nil"},
	{"ignore errors of the removal", "restart/runner.go", "			return &Broken{Step: s.Name, Err: err}\n", "			continue\n"},
	{"go on after a failed launch", "restart/runner.go", "			return t.launchFailed(s, err)\n", "			continue\n"},
	{"no checks for an attempt that goes on", "restart/runner.go", "	if len(failures) > 0 {\n		return &Refusal{Failures: failures}\n	}\n	if err := t.claim",
		"	if !a.Committed.IsZero() {\n		failures, clearance = nil, &Clearance{at: t.world.Clock(), ids: t.o.Seen, ok: true}\n	}\n	if len(failures) > 0 {\n		return &Refusal{Failures: failures}\n	}\n	if err := t.claim"},
	{"no check of the identity", "restart/steps.go", `{Name: "identity", Script: "check/identity"`, `{Name: "identity", Script: "check/shell"`},
	{"launch without waiting for the names to go", "restart/steps.go", `{Name: "names gone", Script: "destroy/gone"`, `{Name: "names gone", Script: "destroy/remove"`},
	{"forget to keep what a look concludes", "cmd/watchdog/look.go", "s.store.SaveLook(d.Next, row, full)", "s.store.SaveLook(before, row, full)"},
	{"act in the look that is first", "watchdog/gate.go", "	if l.first {\n		return ReasonLookFirst, \"\"\n	}", ""},
	{"ignore the switch in the gate", "watchdog/gate.go", "if r, detail := l.disarmed(); r != 0 {\n		return r, detail", "if r, detail := l.disarmed(); r != 0 && detail == \"never\" {\n		return r, detail"},
	{"no grace for a person", "watchdog/gate.go", "l.o.At.Since(g.From) < l.p.Grace {", "l.o.At.Since(g.From) < 0 {"},
	{"ignore the budget", "watchdog/gate.go", "used >= l.p.BudgetCount {", "used >= 1000*l.p.BudgetCount {"},
	{"a budget window of an hour", "watchdog/policy.go", "BudgetWindow:    6 * time.Hour", "BudgetWindow:    1 * time.Hour"},
	{"count what never reached its launch", "watchdog/gate.go", "return a.Counted() && p.launchedAgo(a, s, now) < p.BudgetWindow", "return a.By == \"\" && now.Since(a.Started) < p.BudgetWindow"},
	{"never end a flusher", "watchdog/gate.go", "return found && !a.FlusherEnded &&", "return found && a.ID < 0 &&"},
	{"leave GIVEN_UP by arm", "watchdog/advance.go", "n.Phase != GivenUp || l.prev.Reset.Equal(n.GaveUpAfter) || !l.o.At.Later(l.prev.Reset, n.Since) {",
		"n.Phase != GivenUp || (l.prev.Reset.Equal(n.GaveUpAfter) || !l.o.At.Later(l.prev.Reset, n.Since)) && (l.prev.Arm == nil || !l.o.At.Later(l.prev.Arm.At, n.Since)) {"},
	{"judge a dead rank on one look", "watchdog/policy.go", "Dead:            Rule{Looks: 2", "Dead:            Rule{Looks: 1"},
	{"a Docker that does not answer is a dead rank", "watchdog/ranks.go", "return say(Unknown, CauseDockerSilent, \"cannot be asked", "return say(Failing, CauseRankGone, \"cannot be asked"},
	{"a boot has no limit", "watchdog/progress.go", "	case age <= l.p.BootLimit:\n", "	case age <= 1000*l.p.BootLimit:\n"},
	{"flat counters say nothing", "watchdog/progress.go", "v.Reading, v.Cause, v.Blind, v.Stuck = Failing, CauseFlat, !l.live() || !wholeCounters(now), labels(now)", "v.Cause = CauseFlat"},
	{"a boot is judged as if it served", "watchdog/judge.go", "	case Booting:\n		return l.judgeBooting()", "	case Booting:\n		return l.judgeServing()"},
	{"Docker's start ends a person's time", "watchdog/starts.go", "		l.next.Grace = grace\n", "		_ = grace\n"},
	{"no look asks about what was just launched", "cmd/watchdog/look.go", "LookAtRanks(ctx, probe.Questions{Known: st.Asked()})\n	} else {\n		o = s.prober.Look(ctx, probe.Questions{Known: st.Asked(),", "LookAtRanks(ctx, probe.Questions{Known: st.Ranks})\n	} else {\n		o = s.prober.Look(ctx, probe.Questions{Known: st.Ranks,"},
}

// TestMutantsApply keeps the list in step with the code.
func TestMutantsApply(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join(moduleRoot, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), m.old); n != 1 || names[m.name] {
			t.Errorf("mutant %q: its text stands %d times in %s", m.name, n, m.file)
		}
		names[m.name] = true
	}
}

// TestMutants breaks one rule at a time in a copy of the tree and lets the simulation find it.
func TestMutants(t *testing.T) {
	if *simMutants == "" {
		t.Skip("takes minutes: make mutants")
	}
	const workers = 2
	work := make(chan mutant, len(mutants))
	for _, m := range mutants {
		if regexp.MustCompile(*simMutants).MatchString(m.name) {
			work <- m
		}
	}
	close(work)
	for range workers {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			dir := copyOfTree(t)
			if said, err := (mutant{file: "go.mod"}).play(dir); said != "" || err != nil {
				t.Fatalf("the simulation fails without any mutant: %s, %v", said, err)
			}
			for m := range work {
				began := time.Now()
				said, err := m.play(dir)
				switch {
				case err != nil:
					t.Errorf("%s: %v", m.name, err)
				case said == "":
					t.Errorf("SURVIVED  %s (%s)", m.name, time.Since(began).Round(time.Second))
				default:
					t.Logf("caught    %s (%s): %s", m.name, time.Since(began).Round(time.Second), said)
				}
			}
		})
	}
}

// copyOfTree copies what is needed to build the program and its tests.
func copyOfTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"cmd", "restart", "scripts", "state", "systemd", "watchdog"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(moduleRoot, name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// play returns what the simulation says of the mutant, "" where it sees nothing.
func (m mutant) play(dir string) (said string, err error) {
	path := filepath.Join(dir, m.file)
	whole, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(whole), m.old); n != 1 && m.old != "" {
		return "", fmt.Errorf("cannot apply it: its text stands %d times in %s", n, m.file)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(whole), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	defer os.WriteFile(path, whole, 0o600)
	binary := filepath.Join(dir, "mutant.test")
	build := exec.Command("go", "test", "-vet=off", "-c", "-o", binary, "./cmd/watchdog")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build it: %w: %s", err, out)
	}
	for _, run := range [][]string{
		{"-test.run", "TestKilledAtEveryInstant|TestKilledByNothing|TestSimulationStories"},
		{"-test.run", "TestSimulation$", "-days", "150"},
	} {
		test := exec.Command(binary, append(run, "-test.timeout", "10m")...)
		test.Dir = filepath.Join(dir, "cmd", "watchdog")
		out, err := test.CombinedOutput()
		if err == nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			if _, rule, found := strings.Cut(line, "BROKEN: "); found {
				return strings.TrimSpace(rule), nil
			}
		}
		return "", fmt.Errorf("it fails in no way that a rule names: %s", out[max(0, len(out)-2000):])
	}
	return "", nil
}
