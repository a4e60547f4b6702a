package probe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// engineIDs are the cases of what engines and their APIs really do, as known from reports.
var engineIDs = strings.Fields("E01 E02 E03 E04 E05 E06 E08 E09 E10 E11 E12 E13 E14 E16 E17 E18 E19 E22 E23 E24")

// engineElsewhere are the cases that are not about asking an engine: where they are covered.
var engineElsewhere = map[string]struct{ file, has, why string }{
	"E03": {"watchdog/judge_test.go", "E03: a head that exited with 0", "docker inspect tells that the head has exited"},
	"E05": {"watchdog/judge_test.go", "E05: a boot of 74 min", "log lines are evidence, never a sign of failure; a boot has its limit"},
	"E23": {"scripts/settle_test.go", "// E23: an engine that outlived its container", "leftovers hold the launch back"},
	"E24": {"scripts/preserve/logs.sh", "docker logs", "the first cause stands in the logs of some rank: those of all are kept"},
}

// sees is what one look meets. What is left out is an engine in good health.
type sees struct {
	health, sleeping, paused, models string
	metrics, after                   string // before and after the canary
	canary                           string
}

func (s sees) script(api string) script {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	path := "POST /v1/completions"
	if api == "chat" {
		path = "POST /v1/chat/completions"
	}
	all := script{
		"GET /health":      {or(s.health, "health-200")},
		"GET /is_sleeping": {or(s.sleeping, "not-found")},
		"GET /is_paused":   {or(s.paused, "not-found")},
		"GET /v1/models":   {or(s.models, "models")},
		"GET /metrics":     {s.metrics, or(s.after, s.metrics)},
		path:               strings.Split(or(s.canary, "completion"), ", "),
	}
	if s.canary == "never" { // the script then knows no such question
		delete(all, path)
	}
	return all
}

// engineCase is what a look meets a minute after one at which all was well, and what it concludes.
type engineCase struct {
	name      string // begins with the id of the case it belongs to
	now       sees
	reading   watchdog.Reading // of progress
	cause     watchdog.Cause
	condition watchdog.Condition
	words     string // in what is said of progress
	more      []caseOption
}

// set-up of a case beside what the look meets.
type setup struct {
	api     string
	base    string // the metrics at the look before
	booting bool   // it has not served yet
	elsehow func(*testing.T, *Config)
	engine  watchdog.Reading
}

type caseOption func(*setup)

func chat(s *setup)                   { s.api = "chat" }
func booting(s *setup)                { s.booting = true }
func based(metrics string) caseOption { return func(s *setup) { s.base = metrics } }
func engineReads(r watchdog.Reading) caseOption {
	return func(s *setup) { s.engine = r }
}

// apiAt puts the API elsewhere: its engine is asked where it was.
func apiAt(url func(*testing.T) string) caseOption {
	return func(s *setup) {
		s.elsehow = func(t *testing.T, c *Config) { c.MetricsURL, c.BaseURL = c.BaseURL+"/metrics", url(t) }
	}
}

// allAt has the engine itself there too.
func allAt(url func(*testing.T) string) caseOption {
	return func(s *setup) {
		s.elsehow = func(t *testing.T, c *Config) { c.BaseURL = url(t) }
	}
}

func engineCases() []engineCase {
	const (
		unknown, healthy, busy, failing = watchdog.Unknown, watchdog.Healthy, watchdog.Busy, watchdog.Failing
		flat, moving, wrong             = watchdog.CauseFlat, watchdog.CauseMoving, watchdog.CauseMisconfigured
		vllm, moved                     = "metrics-vllm", "metrics-vllm iterations=705 generation=15088"
		two                             = "metrics-vllm-two-engines"
	)
	c := func(name string, now sees, r watchdog.Reading, cause watchdog.Cause, cond watchdog.Condition, words string, more ...caseOption) engineCase {
		return engineCase{name, now, r, cause, cond, words, more}
	}
	sglang := based("metrics-sglang")
	return []engineCase{
		c("a completion", sees{metrics: vllm, after: moved}, healthy, watchdog.CauseServed, watchdog.CondServing, ""),
		c("E01 the engine core is dead and /health says 200", sees{canary: "!hang"}, failing, flat, watchdog.CondWedged, "stand still"),
		c("E01 and /health says 500", sees{health: "health-500", canary: "!hang"}, failing, flat, watchdog.CondDead, "", engineReads(failing)),
		c("E01 and /health says 503", sees{health: "health-503", canary: "!hang"}, failing, flat, watchdog.CondDead, "", engineReads(failing)),
		c("E01 requests wait for ever", sees{metrics: vllm + " waiting=3", canary: "!hang"}, failing, flat, watchdog.CondWedged, "with 0 running and 3 waiting"),
		c("E02 alive and hung for hours", sees{metrics: vllm + " running=2", canary: "!hang"}, failing, flat, watchdog.CondWedged, "with 2 running and 0 waiting"),
		c("E04 it boots, /v1/models answers and completions are errors", sees{canary: "engine-dead-500"}, unknown, watchdog.CauseNoBaseline, watchdog.CondLoading, "EngineCore encountered an issue", booting),
		c("E04 it served, and now completions are errors", sees{canary: "engine-dead-500"}, failing, watchdog.CauseFails, watchdog.CondWedged, "answered 500: EngineCore"),
		c("E06 idle, and the first request hangs", sees{metrics: vllm, canary: "!hang"}, failing, flat, watchdog.CondWedged, ""),
		c("E08 SGLang's health generates nothing", sees{metrics: "metrics-sglang", canary: "!hang"}, failing, flat, watchdog.CondWedged, "", sglang),
		c("E09 SGLang is busy and says 503", sees{health: "health-503", metrics: "metrics-sglang iterations=999999", canary: "!hang"}, busy, moving, watchdog.CondBusy, "", sglang, engineReads(busy)),
		c("E09 SGLang says 503 and stands still", sees{health: "health-503", canary: "!hang"}, failing, flat, watchdog.CondWedged, "", sglang, engineReads(unknown)),
		c("E10 it works and has no time for us", sees{metrics: moved, canary: "!hang"}, busy, moving, watchdog.CondBusy, ""),
		c("E10 its accept queue is full and it works", sees{metrics: moved, canary: "never"}, busy, moving, watchdog.CondBusy, "", apiAt(fullPort)),
		c("E10 its accept queue is full and it stands still", sees{canary: "never"}, failing, flat, watchdog.CondWedged, "found no connection", apiAt(fullPort)),
		c("E10 its port is closed", sees{canary: "never"}, failing, watchdog.CausePortClosed, watchdog.CondDead, "port is refused", allAt(closedPort)),
		c("E10 a proxy's port is closed, the engine answers", sees{canary: "never"}, unknown, watchdog.CauseCannotAsk, watchdog.CondBlind, "look at what stands at server.url", apiAt(closedPort)),
		c("E10 the connection is reset and it works", sees{metrics: moved, canary: "!reset"}, busy, moving, watchdog.CondBusy, ""),
		c("E11 a long prefill: only its steps count up", sees{metrics: vllm + " iterations=701 running=1", canary: "!hang"}, busy, moving, watchdog.CondBusy, ""),
		c("E11 nothing runs and four wait", sees{metrics: vllm + " waiting=4", canary: "!hang"}, failing, flat, watchdog.CondWedged, "with 0 running and 4 waiting"),
		c("E11 nothing runs, nothing waits, our own request hangs", sees{canary: "!hang"}, failing, flat, watchdog.CondWedged, ""),
		c("E12 one of two engines moves", sees{metrics: two + " generation@1=21 iterations@1=4 running@0=0", canary: "!hang"}, busy, moving, watchdog.CondBusy, "", based(two+" running@0=0")),
		c("E12 one of two engines stands still with a request", sees{metrics: two + " generation@1=21 iterations@1=4", canary: "!hang"}, failing, flat, watchdog.CondWedged, "engine 0 stands still", based(two)),
		c("E12 vllm_ for vllm:", sees{metrics: "metrics-vllm-underscore", canary: "!hang"}, failing, flat, watchdog.CondWedged, "", based("metrics-vllm-underscore")),
		c("E12 counters that fell", sees{metrics: vllm + " prompt=5 generation=7 iterations=9", canary: "!hang"}, unknown, watchdog.CauseNoBaseline, watchdog.CondBlind, ""),
		c("E12 no metrics", sees{metrics: "not-found", canary: "!hang"}, failing, watchdog.CauseBlind, watchdog.CondBlind, "no counters can tell"),
		c("E12 metrics of something else", sees{metrics: "metrics-other", canary: "!hang"}, failing, watchdog.CauseBlind, watchdog.CondBlind, "no counters can tell"),
		c("E13 a reasoning model has no text yet", sees{canary: "chat-reasoning"}, healthy, watchdog.CauseServed, watchdog.CondServing, "", chat),
		c("E13 empty text, cut at its length", sees{canary: "chat-reasoning-empty"}, healthy, watchdog.CauseServed, watchdog.CondServing, "", chat),
		c("E13 no choices", sees{canary: "no-choices"}, failing, watchdog.CauseFails, watchdog.CondWedged, "without a completion", chat),
		c("E14 no chat template", sees{canary: "no-template-400"}, unknown, wrong, watchdog.CondMisconfigured, "set server.api to completions", chat),
		c("E14 no chat template, said at the top", sees{canary: "no-template-400-flat"}, unknown, wrong, watchdog.CondMisconfigured, "set server.api to completions", chat),
		c("E16 it wants a key", sees{models: "unauthorized-401", canary: "never"}, unknown, wrong, watchdog.CondMisconfigured, "(Unauthorized): put the server's key into server.api_key_file"),
		c("E16 it wants a key, and works for others", sees{models: "unauthorized-401", metrics: moved, canary: "never"}, unknown, wrong, watchdog.CondMisconfigured, "api_key_file"),
		c("E17 headers, then silence", sees{canary: "!headers"}, failing, flat, watchdog.CondWedged, ""),
		c("E17 200 and an error", sees{canary: "error-200"}, failing, watchdog.CauseFails, watchdog.CondWedged, "internal error"),
		c("E17 200 and half a value", sees{canary: "half-json"}, failing, watchdog.CauseFails, watchdog.CondWedged, "without a completion"),
		c("E17 200 and a body that ends too soon", sees{canary: "!half"}, failing, flat, watchdog.CondWedged, "dropped"),
		c("E17 finish_reason error", sees{canary: "finish-error"}, failing, watchdog.CauseFails, watchdog.CondWedged, ""),
		c("E17 an error in the stream", sees{canary: "chat-stream-error"}, failing, watchdog.CauseFails, watchdog.CondWedged, "EngineCore", chat),
		c("E17 a stream without an end", sees{canary: "chat-stream-broken"}, failing, watchdog.CauseFails, watchdog.CondWedged, "", chat),
		c("E18 it sleeps, and is not asked", sees{sleeping: "is-sleeping", canary: "never"}, unknown, watchdog.CauseAsleep, watchdog.CondPaused, "the engine sleeps: a person's doing"),
		c("E18 its metrics say that it sleeps", sees{metrics: vllm + " offloaded=1", canary: "never"}, unknown, watchdog.CauseAsleep, watchdog.CondPaused, "sleeps"),
		c("E18 it is paused", sees{sleeping: "is-awake", paused: "is-paused", canary: "never"}, unknown, watchdog.CauseAsleep, watchdog.CondPaused, "is paused"),
		c("E18 it is paused, and says so to the completion", sees{canary: "paused-503"}, unknown, watchdog.CauseAsleep, watchdog.CondPaused, "is paused"),
		c("E18 it is awake and hangs", sees{sleeping: "is-awake", canary: "!hang"}, failing, flat, watchdog.CondWedged, ""),
		c("E18 it aborts what it has", sees{canary: "finish-abort"}, failing, watchdog.CauseFails, watchdog.CondWedged, ""),
		c("E19 429 while it works", sees{metrics: moved, canary: "busy-429"}, busy, moving, watchdog.CondBusy, ""),
		c("E19 429 over counters that stand still", sees{canary: "busy-429"}, unknown, watchdog.CauseOverloaded, watchdog.CondBusy, "No deployments available"),
		c("E19 an overload 503 while it works", sees{metrics: moved, canary: "overloaded-503"}, busy, moving, watchdog.CondBusy, ""),
		c("E19 503 while it stands still", sees{canary: "overloaded-503"}, failing, watchdog.CauseFails, watchdog.CondWedged, "server_overloaded"),
		c("E22 the launcher is done and the port never opens", sees{canary: "never"}, failing, watchdog.CausePortClosed, watchdog.CondLoading, "", booting, allAt(closedPort)),

		// A question that is wrong.
		c("403", sees{canary: "forbidden-403"}, unknown, wrong, watchdog.CondMisconfigured, "server.api_key_file"),
		c("404 of the model", sees{canary: "model-404"}, unknown, wrong, watchdog.CondMisconfigured, "set server.model to a name that /v1/models lists"),
		c("404 of the route", sees{canary: "not-found"}, unknown, wrong, watchdog.CondMisconfigured, "set server.url"),
		c("405", sees{canary: "method-405"}, unknown, wrong, watchdog.CondMisconfigured, "set server.url"),
		c("413 of a proxy", sees{canary: "too-large-413"}, unknown, wrong, watchdog.CondMisconfigured, "the proxy at server.url"),
		c("422", sees{canary: "fields-422"}, unknown, wrong, watchdog.CondMisconfigured, "set server.api"),
		c("a redirect is not followed", sees{canary: "redirect-308"}, unknown, wrong, watchdog.CondMisconfigured, "redirects are not followed"),
		c("no model is listed", sees{models: "models-none", canary: "never"}, unknown, wrong, watchdog.CondMisconfigured, "set server.model"),
		c("a compressed answer is not opened", sees{canary: "compressed"}, unknown, wrong, watchdog.CondMisconfigured, "compressed"),

		// A proxy of which the engine behind it is silent.
		c("502 while the engine stands still", sees{canary: "bad-gateway-502"}, failing, watchdog.CauseFails, watchdog.CondWedged, ""),
		c("504 while the engine works", sees{metrics: moved, canary: "gateway-timeout-504"}, busy, moving, watchdog.CondBusy, ""),

		// Ways of being asked.
		c("a path-like id behind its adapters", sees{models: "models-lora"}, healthy, watchdog.CauseServed, watchdog.CondServing, ""),
		c("it streams without being asked", sees{canary: "chat-stream"}, healthy, watchdog.CauseServed, watchdog.CondServing, "", chat),
		c("it only streams", sees{canary: "only-streams-400, chat-stream"}, healthy, watchdog.CauseServed, watchdog.CondServing, "", chat),
	}
}

func TestEngineCases(t *testing.T) {
	for _, row := range engineCases() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := setup{base: "metrics-vllm"}
			for _, more := range row.more {
				more(&s)
			}
			policy := watchdog.DefaultPolicy()
			before := watchdog.State{}
			first := aRank(watchdog.Observation{At: atTime(0)})
			if !s.booting {
				well := sees{metrics: s.base + " generation=1", after: s.base}
				first = lookAt(t, atTime(0), well, setup{}, long)
			}
			before = watchdog.Decide(policy, before, first).Next
			if row.now.metrics == "" {
				row.now.metrics = s.base
			}
			limit := long
			if strings.HasPrefix(row.now.canary, "!h") || row.now.canary == "never" { // hang, headers, a full queue
				limit = short
			}
			d := watchdog.Decide(policy, before, lookAt(t, atTime(time.Minute), row.now, s, limit))
			p := d.Readings.Progress
			if p.Reading != row.reading || p.Cause != row.cause || d.Condition() != row.condition || !strings.Contains(p.What, row.words) {
				t.Errorf("progress reads %v (cause %d: %s), in all %v; want %v (cause %d: %s), %v",
					p.Reading, p.Cause, p.What, d.Condition(), row.reading, row.cause, row.words, row.condition)
			}
			if s.engine != watchdog.Unknown && d.Readings.Engine.Reading != s.engine {
				t.Errorf("the engine reads %v, want %v", d.Readings.Engine.Reading, s.engine)
			}
			if d.Action != watchdog.ActNone {
				t.Errorf("one look is enough to %v", d.Action)
			}
		})
	}
}

// lookAt looks once at a server that answers as said, at the given time.
func lookAt(t *testing.T, when watchdog.Clock, s sees, how setup, limit time.Duration) watchdog.Observation {
	t.Helper()
	c := Config{BaseURL: play(t, s.script(how.api)), API: how.api, Look: long, Models: long, Counters: long, Canary: limit, Health: long}
	if how.elsehow != nil {
		how.elsehow(t, &c)
		c.Model = "m"
	}
	o := New(c, noNodes{}).Look(t.Context(), Questions{})
	o.At = when
	return aRank(o)
}

// aRank adds what a node said: its rank runs.
func aRank(o watchdog.Observation) watchdog.Observation {
	o.Ranks = []watchdog.Rank{{Node: "n0", SSH: watchdog.ReachOK, Docker: watchdog.ReachOK,
		Container: &watchdog.Container{ID: idA, Status: "running", StartedAt: "2026-01-01T00:00:00Z", Age: time.Hour}}}
	return o
}

func atTime(d time.Duration) watchdog.Clock {
	return watchdog.Clock{Wall: time.Date(2026, 3, 3, 10, 0, 0, 0, time.UTC).Add(d), Boot: 100*time.Hour + d, BootID: "boot"}
}

// Each known case has a row above, or is said to be covered elsewhere, and is.
func TestEngineCasesAreComplete(t *testing.T) {
	have := map[string]bool{}
	for _, row := range engineCases() {
		id, _, _ := strings.Cut(row.name, " ")
		have[id] = true
		if strings.HasPrefix(id, "E") && !slices.Contains(engineIDs, id) {
			t.Errorf("row %q is of no known case", row.name)
		}
	}
	for _, id := range engineIDs {
		where, elsewhere := engineElsewhere[id]
		if have[id] == elsewhere {
			t.Errorf("%s has a row: %v, is covered elsewhere: %v", id, have[id], elsewhere)
		}
		if !elsewhere {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", where.file))
		if err != nil || !strings.Contains(string(text), where.has) || where.why == "" {
			t.Errorf("%s: %s does not hold %q: %v", id, where.file, where.has, err)
		}
	}
}

// No captured answer lies there unused.
func TestEachCapturedAnswerIsUsed(t *testing.T) {
	used := map[string]bool{"not-found": true, "models": true, "completion": true, "health-200": true, "metrics-vllm": true}
	for _, row := range engineCases() {
		s := setup{}
		for _, more := range row.more {
			more(&s)
		}
		for _, answers := range row.now.script(s.api) {
			for _, what := range answers {
				name, _, _ := strings.Cut(what, " ")
				used[name] = true
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(capturedHTTP, "*.txt"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d captured answers, %v", len(files), err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".txt"); !used[name] {
			t.Errorf("%s is not used", name)
		}
	}
}
