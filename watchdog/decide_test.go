package watchdog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) { run(t, rowPolicy(), allRows()) }

// Where workers join a head that runs, an older worker has joined the new head, or ends by itself.
func TestDecideHeadFirst(t *testing.T) {
	p := rowPolicy()
	p.HeadFirst = true
	older := knows(1, func(k *Known) { k.ServedUnder = "old@s" })
	run(t, p, []row{
		r("a worker that served under an earlier head is alive", known(Booting, bootFrom(-30*m), older), sees(), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("a dead one is dead", known(Booting, bootFrom(-30*m), struck(TermRank, 1, -m), older), sees(status(1, "exited")), ActRestart, ReasonRankDead),
		r("one that has gone is dead", known(Booting, bootFrom(-30*m), struck(TermRank, 1, -m), older), sees(gone(1)), ActRestart, ReasonRankDead),
	})
}

func allRows() []row {
	return slices.Concat(advanceRows(), judgeRows(), progressRows(), gateRows(), personRows(), workRows(), clockRows())
}

// Each Reason has at least one row that ends in it. The reasons are read from the source, so that a
// new one without a row is noticed.
func TestEveryReasonHasARow(t *testing.T) {
	have := map[Reason]bool{}
	for _, r := range allRows() {
		have[r.reason] = true
	}
	names := reasonConstants(t)
	for i, name := range names {
		if !have[Reason(i+1)] {
			t.Errorf("%s has no row", name)
		}
		if strings.HasPrefix(Reason(i+1).String(), "internal error") {
			t.Errorf("%s has no words", name)
		}
	}
	if len(reasonWords) != len(names) {
		t.Errorf("reasonWords has %d entries for %d reasons", len(reasonWords), len(names))
	}
}

// reasonConstants returns the names of the constants of type Reason in their order, which is iota+1.
func reasonConstants(t *testing.T) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				if strings.HasPrefix(n.Name, "Reason") {
					names = append(names, n.Name)
				}
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d reasons found", len(names))
	}
	return names
}

// Only attempts that reached their launch use up the budget. Two restarts that a check refused, and
// one that committed and could not go on, once made the first hand-written watchdog give up.
func TestOnlyAttemptsThatReachLaunchCount(t *testing.T) {
	for _, c := range []struct {
		name  string
		deeds []deed
		want  bool
	}{
		{"refused by a check", []deed{ended(20*s, OutcomeRefused)}, false},
		{"served meanwhile", []deed{ended(20*s, OutcomeRecovered)}, false},
		{"committed, a destroy step failed", []deed{committed, ended(60*s, OutcomeBroken)}, false},
		{"committed, a settle step refuses", []deed{committed, ended(60*s, OutcomeRefused)}, false},
		{"committed, interrupted", []deed{committed, ended(60*s, OutcomeInterrupted)}, false},
		{"committed, killed", []deed{committed}, false},
		{"launching, killed", []deed{launching}, true},
		{"launching, interrupted", []deed{launching, ended(60*s, OutcomeInterrupted)}, true},
		{"launch failed", []deed{launching, ended(60*s, OutcomeLaunchFailed)}, true},
		{"launched", []deed{launched("a", "b", "c")}, true},
		{"launching, ended by the switch", []deed{launching, ended(60*s, OutcomeSwitch)}, false},
		{"launched, asked for by a person", []deed{byAnna, launched("a", "b", "c")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := known(Serving, tried(-halfHour, c.deeds...))
			if got := st.Attempts[0].Counted(); got != c.want {
				t.Errorf("counted %v, want %v", got, c.want)
			}
			used := rowPolicy().Used(st, at(0))
			if (used == 1) != c.want {
				t.Errorf("uses %d of the budget, counted should be %v", used, c.want)
			}
		})
	}
}

// Nothing is written behind the end of a slice that the caller may go on using.
func TestDecideWritesOnlyItsOwn(t *testing.T) {
	st := known(Serving)
	st.Told = append(make([]string, 0, 4), "x")
	st.Strikes = make([]Strike, 0, 4)
	st.Ranks = append(make([]Known, 0, 9), st.Ranks...)
	o := sees(answers(401), dies(1, 1))
	o.Ranks = append(o.Ranks, Rank{Node: "n4"})
	Decide(rowPolicy(), st, o)
	if st.Told[:2][1] != "" || st.Strikes[:1][0].Looks != 0 || st.Ranks[:4][3].Answered {
		t.Errorf("written: %q %v %v", st.Told[:2], st.Strikes[:1], st.Ranks[:4])
	}
}

// The words of the switch are those that Decide goes by.
func TestSwitch(t *testing.T) {
	st := known(Serving, func(s *State) { s.Earlier, s.ClockDoubt, s.Arm.At.BootID = at(h), true, "boot-0" })
	if armed, words := rowPolicy().Switch(st, Flag{Present: true, Who: "bert", Until: at(-m).Wall}, at(0)); armed || !strings.HasPrefix(words, "disarmed: by bert, until 2026-03-01 11:59:00, which is over, and stays: the head's clock says ") {
		t.Errorf("armed %v: %s", armed, words)
	}
	if armed, words := rowPolicy().Switch(known(Serving, notArmed), Flag{}, at(0)); armed || words != "not armed: `cluster-watchdog arm` arms it" {
		t.Errorf("armed %v: %s", armed, words)
	}
	if armed, _ := rowPolicy().Switch(known(Serving), Flag{}, at(0)); !armed {
		t.Error("not armed")
	}
}

const halfHour = 30 * m

// Two refused attempts, then a third that is free to go: what the first hand-written watchdog got wrong.
func TestRefusedAttemptsDoNotGiveUp(t *testing.T) {
	for _, deeds := range [][]deed{{ended(20*s, OutcomeRefused)}, {committed, ended(60*s, OutcomeSwitch)}} {
		st := known(Serving, goneBefore(1), struck(TermRank, 1, -m), armedAt(-2*m), seenAt(-9*h),
			tried(-10*m, deeds...), tried(-9*m, deeds...), tried(-8*m, deeds...))
		if d := Decide(rowPolicy(), st, sees(gone(1))); d.Action != ActRestart {
			t.Errorf("got %v: %s", d.Action, d.Sentence())
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	p, st := rowPolicy(), known(Serving, live, counted(-8*h), counted(-5*h))
	looks := []Observation{sees(serves, counts(100, 101)), sees(wedged), sees(dies(2, 1))}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Decide(p, st, looks[i%len(looks)])
	}
}
