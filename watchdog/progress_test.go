package watchdog

import (
	"slices"
	"strings"
	"testing"
)

// progressRows are about what the canary and the counters say together.
func progressRows() []row {
	wedging := func(facts ...fact) State {
		return known(Serving, append([]fact{live, struck(TermProgress, 2, -6*m)}, facts...)...)
	}
	stuckAs := func(names ...string) fact { return func(s *State) { s.Strikes[0].Stuck = names } }
	two := func(facts ...fact) State { return wedging(append([]fact{baseOfTwo}, facts...)...) }
	serves := func(o *Observation) {
		o.Canary = Canary{HTTP: HTTP{Outcome: Answered, Status: 200}, WellFormed: true, Choices: 1}
	}
	return []row{
		// Each engine is judged by itself.
		r("one engine stands still with a request while the other moves", two(), sees(canary(Unanswered), oneStuck), ActRestart, ReasonNoProgress, cond(CondWedged),
			says("no progress (phase=SERVING) → restart: the canary was not answered within 30s, and engine 1 stands still, with 1 running and 0 waiting, while others move")),
		r("one that stands still with nothing in hand is idle", two(), sees(canary(Unanswered), twoEngines([3]float64{150, 1, 0}, [3]float64{100, 0, 0})), ActNone, ReasonBusy, strikes(TermProgress, 0)),
		r("one that got its first request since the last look may be slow", two(func(s *State) { s.Baseline.Engines[1].Running = 0 }), sees(canary(Unanswered), oneStuck), ActNone, ReasonBusy),
		r("one with requests that only wait stands still too", two(), sees(canary(Unanswered), twoEngines([3]float64{150, 0, 0}, [3]float64{100, 0, 3})), ActRestart, ReasonNoProgress),
		r("an answer is no wedge: 503 while another engine moves is Busy", two(), sees(answers(503), oneStuck), ActNone, ReasonBusy),
		r("a served canary is good news whatever stands still", two(), sees(serves, oneStuck), ActNone, ReasonServed),
		r("less than 50 s tell nothing of an engine", two(baselineAt(-49*s)), sees(canary(Unanswered), oneStuck), ActNone, ReasonBusy),
		r("an engine that does not count its steps may be in a long prefill", two(func(s *State) {
			for i := range s.Baseline.Engines {
				s.Baseline.Engines[i].Iterations = -1
			}
		}), sees(canary(Unanswered), oneStuck, noIterations), ActNone, ReasonBusy),
		r("first one engine slow, then another: a new streak", two(stuckAs("0")), sees(canary(Unanswered), oneStuck), ActNone, ReasonFailing, strikes(TermProgress, 1)),
		r("all stood still before, now one of them: it has all along", two(stuckAs("0", "1")), sees(canary(Unanswered), oneStuck), ActRestart, ReasonNoProgress),
		r("one stood still, now all do: it has all along", two(stuckAs("1")), sees(canary(Unanswered), twoEngines([3]float64{100, 1, 0}, [3]float64{100, 1, 0})), ActRestart, ReasonNoProgress,
			that("stuck", func(d Decision) bool { return slices.Equal(d.Next.Strikes[0].Stuck, []string{"1"}) })),
		r("a paused rank is a person's doing, also for one engine", two(), sees(canary(Unanswered), oneStuck, status(1, "paused")), ActNone, ReasonBusy),

		// Wedged has required terms.
		r("E11: running 0, waiting 4 is wedged, not idle", wedging(), sees(canary(Unanswered), counts(100, 100), waiting(4)), ActRestart, ReasonNoProgress,
			says("no progress (phase=SERVING) → restart: the canary was not answered within 30s, and its counters stand still, with 0 running and 4 waiting")),
		r("flat counters of which one is missing: 6 min are not enough", wedging(func(s *State) { s.Baseline.Engines[0].Iterations = -1 }), sees(wedged, noIterations), ActNone, ReasonFailing),
		r("an answer 500 with flat counters has its own cause", wedging(), sees(answers(500), counts(100, 100)), ActRestart, ReasonNoProgress,
			that("cause", func(d Decision) bool { return d.Readings.Progress.Cause == CauseFails })),
		r("an engine that aborts what it has serves nothing", known(Serving, live), sees(body(func(c *Canary) { c.Choices, c.Finish = 1, "abort" }), counts(100, 100)), ActNone, ReasonFailing),
		r("a proxy whose patience has ended is no refusal: 408", wedging(), sees(answers(408), counts(100, 100)), ActRestart, ReasonNoProgress),
		r("a proxy whose upstream is silent: 504", wedging(), sees(answers(504), counts(100, 100)), ActRestart, ReasonNoProgress),
		r("504 while counters move is Busy", wedging(), sees(answers(504), counts(150, 150)), ActNone, ReasonBusy, cond(CondBusy)),

		// A skipped canary.
		r("a skipped canary is no served completion", known(Serving, live, servedAt(-4*m)), sees(skipped, counts(150, 0), before), ActNone, ReasonSkipped, cond(CondBusy),
			says("phase=SERVING works for others: its generation counters move, and a canary was served 4m ago"),
			that("served 4 min ago", func(d Decision) bool { return d.Next.Served.Equal(at(-4*m)) && !d.Readings.Served })),
		r("nor does it make BOOTING anything else", known(Booting, live), sees(skipped, counts(150, 0), before), ActNone, ReasonBooting, phase(Booting)),
		r("nor does it end an incident", known(Serving, live, servedAt(-4*m), incident), sees(skipped, counts(150, 0), before), ActNone, ReasonSkipped, that("open", func(d Decision) bool { return d.Next.Incident != nil })),
		r("nor does it hide a dead rank", known(Serving, live, servedAt(-4*m), struck(TermRank, 1, -m)), sees(skipped, counts(150, 0), before, dies(1, 1)), ActRestart, ReasonRankDead),
		r("nor a silent node", known(Serving, live, servedAt(-4*m)), sees(skipped, counts(150, 0), before, silent(2)), ActNone, ReasonSkipped,
			says("phase=SERVING works for others: its generation counters move, and a canary was served 4m ago; rank 2 (n3) cannot be asked: dial: timeout")),
		r("skipped for half an hour, it is told as any silence", known(Serving, live, servedAt(-40*m), busyFrom(-30*m)), sees(skipped, counts(150, 0), before), ActNone, ReasonSkipped, told(NoticeTrouble)),

		// Misconfigured.
		r("E16: a wrong key is misconfigured, also while the counters move for others", known(Serving, live), sees(answers(401), counts(150, 150)), ActNone, ReasonMisconfigured, cond(CondMisconfigured), told(NoticeTrouble),
			says("phase=SERVING probe misconfigured: the engine answers 401 to the canary (no): put the server's key into server.api_key_file")),
		r("no chat template", known(Serving, live), sees(answers(400), saying("you must provide a chat template"), counts(100, 100)), ActNone, ReasonMisconfigured, told(NoticeTrouble),
			says("phase=SERVING probe misconfigured: the engine answers 400 to the canary (you must provide a chat template): set server.api to completions, or launch the server with a chat template")),
		r("a redirect is not followed", known(Serving, live), sees(answers(308), counts(100, 100)), ActNone, ReasonMisconfigured, told(NoticeTrouble)),
		r("no such name", known(Serving, live), sees(broken(FaultName), counts(100, 100)), ActNone, ReasonMisconfigured, told(NoticeTrouble),
			says("phase=SERVING probe misconfigured: the completion cannot be asked: it does not fit: set server.url to a name or an address that this machine can resolve")),
		r("TLS that does not fit", known(Serving, live), sees(broken(FaultTLS)), ActNone, ReasonMisconfigured, told(NoticeTrouble)),
		r("TLS that does not fit is told once", known(Serving, live, wasTold("canary fault 2")), sees(broken(FaultTLS)), ActNone, ReasonMisconfigured, told()),
		r("a boot says so too", known(Booting), sees(answers(401)), ActNone, ReasonBooting, cond(CondMisconfigured), told(NoticeTrouble),
			says("phase=BOOTING loading: 5m so far, limit 1h15m; the engine answers 401 to the canary (no): put the server's key into server.api_key_file")),

		// Put to rest by somebody.
		r("E18: asleep while it was about to fail", wedging(), sees(canary(NotAsked), counts(100, 100), sleeps(Asleep)), ActNone, ReasonFailing, cond(CondPaused), told(NoticeTrouble), strikes(TermProgress, 2),
			says("phase=SERVING failing: it fails (failing 2/3 over 5m/6m); the engine sleeps: a person's doing, nothing is done until it is woken")),
		r("E18: asleep, its /health 503", known(Serving, live), sees(canary(NotAsked), counts(100, 100), health(503), sleeps(Asleep)), ActNone, ReasonAsleep, cond(CondPaused), told(NoticeTrouble), strikes(TermEngine, 0),
			says("phase=SERVING asleep: the engine sleeps: a person's doing, nothing is done until it is woken")),
		r("E18: its metrics alone say so", known(Serving, live), sees(canary(Unanswered), counts(100, 100), asleepByMetrics), ActNone, ReasonAsleep),
		r("paused", known(Serving, live, wasTold("asleep")), sees(canary(NotAsked), counts(100, 100), sleeps(SleepPaused)), ActNone, ReasonAsleep, told()),
		r("paused, by its own word", known(Serving, live), sees(answers(503), saying("generation is paused for a weight update; retry shortly"), counts(100, 100)), ActNone, ReasonAsleep),
		r("asleep past the boot limit", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(canary(NotAsked), sleeps(Asleep)), ActNone, ReasonBooting),
		r("asleep does not hide a dead rank", known(Serving, live, struck(TermRank, 1, -m)), sees(canary(NotAsked), sleeps(Asleep), dies(1, 1)), ActRestart, ReasonRankDead),
	}
}

func cond(want Condition) check {
	return func(t *testing.T, d Decision) {
		t.Helper()
		if d.Condition() != want {
			t.Errorf("condition %v, want %v", d.Condition(), want)
		}
	}
}

func waiting(n float64) sight {
	return func(o *Observation) { o.After.Engines = []EngineCounter{engine("0", [3]float64{100, 0, n})} }
}

// before: the counters after the canary were not read, for there was none.
func before(o *Observation) { o.After = Counters{} }

func asleepByMetrics(o *Observation) { o.Before.Asleep = true }

func incident(s *State) { s.Incident = &Incident{ID: 1, Opened: at(-2 * m)} }

func TestSkipCanary(t *testing.T) {
	skip := func(facts ...fact) State {
		return known(Serving, append([]fact{live, servedAt(-5*m + s)}, facts...)...)
	}
	moved := sees(counts(150, 150)).Before
	for _, row := range []struct {
		name string
		st   State
		now  Counters
		want bool
	}{
		{"it generates, and served 4:59 ago", skip(), moved, true},
		{"served 5 min ago", skip(servedAt(-5 * m)), moved, false},
		{"it generates nothing", skip(), sees(counts(100, 100)).Before, false},
		{"only its prompt counter moves", skip(), Counters{Engines: []EngineCounter{{Label: "0", Iterations: 100, Prompt: 150, Generation: 100}}}, false},
		{"its counters fell", skip(), sees(counts(7, 7)).Before, false},
		{"no counters", skip(), Counters{}, false},
		{"no generation counter", skip(), Counters{Engines: []EngineCounter{{Label: "0", Iterations: 150, Prompt: 150, Generation: -1}}}, false},
		{"a new engine", skip(), sees(oneStuck).Before, false},
		{"another start served", skip(func(s *State) { s.ServedBy = "old@s" }), moved, false},
		{"the baseline is of another start", skip(func(s *State) { s.Baseline.Head = "old@s" }), moved, false},
		{"a boot", known(Booting, live, servedAt(-m)), moved, false},
		{"an incident is open", skip(incident), moved, false},
		{"a strike", skip(struck(TermRank, 1, -m)), moved, false},
		{"a gap", skip(lastLook(-5*m - s)), moved, false},
		{"another config", skip(func(s *State) { s.Config = "other" }), moved, false},
		{"never looked", State{}, moved, false},
	} {
		if got := rowPolicy().SkipCanary(row.st, at(0), row.now); got != row.want {
			t.Errorf("%s: skip %v", row.name, got)
		}
	}
}

// Every word that a person is told for a wrong question says what to change.
func TestEachMisconfigurationSaysWhatToChange(t *testing.T) {
	key := map[int]string{
		301: "server.url", 400: "server.api", 401: "server.api_key_file", 403: "server.api_key_file", 404: "server.url",
		405: "server.url", 413: "proxy", 415: "server.api", 422: "server.api",
	}
	for status, want := range key {
		if got := misconfigured(sees(answers(status)).Canary); !strings.Contains(got, want) {
			t.Errorf("%d: %s", status, got)
		}
	}
	for _, status := range []int{200, 408, 429, 499, 500, 502, 503, 504} {
		if got := misconfigured(sees(answers(status)).Canary); got != "" {
			t.Errorf("%d: %s", status, got)
		}
	}
	noModel := sees(answers(404), saying("The model `x` does not exist.")).Canary
	if got := misconfigured(noModel); !strings.Contains(got, "server.model") {
		t.Errorf("404 of the model: %s", got)
	}
	for f := FaultName; f <= FaultEncoding; f++ {
		if got := mendFault(f); !strings.Contains(got, "server.") && f != FaultFile {
			t.Errorf("fault %d: %s", f, got)
		}
	}
}

func TestConditionsHaveWords(t *testing.T) {
	for c := CondBlind; c <= CondPaused; c++ {
		if strings.HasPrefix(c.String(), "internal") {
			t.Errorf("condition %d has no word", c)
		}
	}
}
