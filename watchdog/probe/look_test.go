package probe

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cluster-watchdog/watchdog"
)

// engine is a server of one model that serves.
type engine struct {
	mu      sync.Mutex
	asked   []string // paths, without those asked at any time
	keys    []string // paths that came with a key
	open    int      // connections
	metrics []byte
}

// aside are the paths that are asked beside the others.
var aside = map[string]bool{"/health": true, "/is_sleeping": true, "/is_paused": true}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	if !aside[r.URL.Path] {
		e.asked = append(e.asked, r.URL.Path)
	}
	asked := len(e.asked)
	if r.Header.Get("Authorization") != "" {
		e.keys = append(e.keys, r.URL.Path)
	}
	e.mu.Unlock()
	switch r.URL.Path {
	case "/health":
	case "/metrics":
		w.Write(e.metrics)
		fmt.Fprintf(w, "vllm:generation_tokens_total{engine=\"asked\"} %d\n", asked)
	case "/v1/models":
		w.Write([]byte(`{"data":[{"id":"m"}]}`))
	case "/v1/completions":
		w.Write([]byte(served))
	default:
		http.NotFound(w, r)
	}
}

func (e *engine) start(t testing.TB) string {
	var err error
	if e.metrics, err = os.ReadFile("testdata/metrics/vllm.txt"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(e)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		e.mu.Lock()
		defer e.mu.Unlock()
		switch state {
		case http.StateNew:
			e.open++
		case http.StateClosed:
			e.open--
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

func quiet(t testing.TB) fakeNodes {
	out := captured(t, "running")
	return func(context.Context, int, map[string]string) (string, error) { return out, nil }
}

func TestLook(t *testing.T) {
	e := &engine{}
	p := New(Config{BaseURL: e.start(t), Nodes: []string{"n0", "n1"}, Container: name, APIKey: func() (string, error) { return "hush", nil }}, quiet(t))
	o := p.Look(t.Context(), Questions{Known: []watchdog.Known{knownAs(idA), knownAs(idA)}})
	if got, want := strings.Join(e.asked, " "), "/metrics /v1/models /v1/completions /metrics"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if got, want := strings.Join(e.keys, " "), "/v1/models /v1/completions"; got != want {
		t.Errorf("the key went to %s, want %s", got, want)
	}
	if o.At.IsZero() || o.RanksOnly || o.Health.Status != 200 || !o.Canary.WellFormed || o.Canary.Model != "m" ||
		o.Before.Engine != watchdog.VLLM || len(o.After.Engines) != 3 || len(o.Ranks) != 2 || o.Ranks[1].Node != "n1" || o.Ranks[1].Container == nil {
		t.Errorf("got %+v", o)
	}
	if o.Before.Engines[2].Generation != 1 || o.After.Engines[2].Generation != 4 {
		t.Errorf("the counters are not those before and after: %+v, %+v", o.Before.Engines[2], o.After.Engines[2])
	}
	for tries := 0; ; tries++ { // the server hears of the last close a moment later
		e.mu.Lock()
		open := e.open
		e.mu.Unlock()
		if open == 0 {
			break
		}
		if tries > 5000 {
			t.Fatalf("%d connections are left open", open)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLookAtRanksAsksNoHTTP(t *testing.T) {
	e := &engine{}
	o := New(Config{BaseURL: e.start(t), Nodes: []string{"n0"}, Container: name}, quiet(t)).LookAtRanks(t.Context(), Questions{})
	if len(e.asked) > 0 || !o.RanksOnly || o.At.IsZero() || o.Ranks[0].Container == nil || o.Health.Outcome != watchdog.NotAsked || o.Canary.Outcome != watchdog.NotAsked {
		t.Errorf("asked %v, got %+v", e.asked, o)
	}
}

// A look that may skip its canary asks for no model and no completion, and reads the counters once.
func TestLookThatSkips(t *testing.T) {
	e := &engine{}
	var asked watchdog.Counters
	skip := func(_ watchdog.Clock, before watchdog.Counters) bool { asked = before; return true }
	o := New(Config{BaseURL: e.start(t)}, noNodes{}).Look(t.Context(), Questions{Skip: skip})
	if got := strings.Join(e.asked, " "); got != "/metrics" {
		t.Errorf("asked %s", got)
	}
	if !o.Canary.Skipped || o.Canary.Outcome != watchdog.NotAsked || o.Canary.Served() || len(o.Before.Engines) != 3 || len(asked.Engines) != 3 || len(o.After.Engines) != 0 {
		t.Errorf("got %+v", o)
	}
}

// Without a model nobody is asked for a completion: the canary says how the question for one ended.
func TestLookWithoutAModel(t *testing.T) {
	for _, row := range []struct {
		name string
		h    http.HandlerFunc
		want watchdog.HTTP
	}{
		{"E16", answering(401, `{"error":"Unauthorized"}`), watchdog.HTTP{Outcome: watchdog.Answered, Status: 401}},
		{"none", answering(200, `{}`), watchdog.HTTP{Outcome: watchdog.Unreachable, Err: "/v1/models names no model", Fault: watchdog.FaultNoModel}},
	} {
		var completions atomic.Int32
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				completions.Add(1)
			}
			row.h(w, r)
		})
		o := New(Config{BaseURL: base}, noNodes{}).Look(t.Context(), Questions{})
		o.Canary.Took = 0
		if o.Canary.HTTP != row.want || o.Canary.Model != "" || completions.Load() > 0 {
			t.Errorf("%s: got %+v, %d completions asked", row.name, o.Canary, completions.Load())
		}
	}
}

// A cluster in which everything hangs is looked at within the look's own deadline.
func TestLookEndsWhenAllHangs(t *testing.T) {
	base, _ := listen(t, say("", hold))
	hang := fakeNodes(func(ctx context.Context, _ int, _ map[string]string) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	o := New(Config{BaseURL: base, Model: "m", Look: short, Nodes: []string{"n0"}}, hang).Look(t.Context(), Questions{})
	if o.Health.Outcome != watchdog.Unanswered || o.Before.Outcome != watchdog.Unanswered || o.Ranks[0].SSH != watchdog.ReachTimeout {
		t.Errorf("got %+v", o)
	}
}

func TestDeadlinesFitTheLook(t *testing.T) {
	c := Config{}.DefaultDeadlines()
	if sum := c.Models + 2*c.Counters + c.Canary; sum > c.Look || c.Health > c.Look || c.Ranks > c.Look || c.Look != 45*time.Second {
		t.Errorf("the questions take %s, the look %s", sum, c.Look)
	}
	if c.Models != 5*time.Second || c.Canary != 30*time.Second || c.Ranks != 40*time.Second || c.Script != 15*time.Second || c.Health <= 20*time.Second {
		t.Errorf("got %+v", c)
	}
}

// The server runs in the same process, so half of the CPU time is its.
func BenchmarkLook(b *testing.B) {
	e := &engine{}
	base := e.start(b)
	var big strings.Builder
	for range 60 { // about as many lines as a real server has
		big.Write([]byte(strings.ReplaceAll(string(e.metrics), "vllm:", "vllm:other_")))
	}
	e.metrics = append(e.metrics, big.String()...)
	p := New(Config{BaseURL: base, Nodes: []string{"n0", "n1", "n2", "n3"}, Container: name}, quiet(b))
	known := []watchdog.Known{knownAs(idA), knownAs(idA), knownAs(idA), knownAs(idA)}
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		if o := p.Look(b.Context(), Questions{Known: known}); !o.Canary.WellFormed {
			b.Fatalf("not served: %+v", o)
		}
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/1e6, "cpu-ms/op")
}

func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
