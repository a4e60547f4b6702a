package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestWhatMoves(t *testing.T) {
	for _, row := range []struct {
		name                string
		mood                mood
		held                int
		iterations          float64
		running, waitingNow int
	}{
		{"idle", healthy, 0, 0, 0, 0},
		{"E02 wedged: requests run, nothing moves", hung, 1, 0, 3, 0},
		{"E11 running 0, waiting > 0", queueing, 1, 0, 0, 4},
		{"E06 idle when a worker died", lost, 0, 0, 0, 0},
		{"a canary after that", lost, 1, 0, 1, 0},
		{"E10 busy with others", crowded, 1, 50, 5, 0},
		{"a slow answer under way", laggard, 1, 50, 1, 0},
		{"nothing asked of a slow one", laggard, 0, 0, 0, 0},
		{"calls itself dead", sick, 1, 0, 1, 0},
	} {
		begin := time.Unix(1000, 0)
		c := counts{held: row.held}
		c.advance(begin, row.mood)
		c.advance(begin.Add(2*time.Second), row.mood)
		if c.iterations != row.iterations || c.running(row.mood) != row.running || c.waiting(row.mood) != row.waitingNow {
			t.Errorf("%s: iterations %g, running %d, waiting %d; want %g, %d, %d", row.name,
				c.iterations, c.running(row.mood), c.waiting(row.mood), row.iterations, row.running, row.waitingNow)
		}
	}
}

func TestMetricsPage(t *testing.T) {
	e := newEngine("fake/model", func() fault { return fault{word: wedgeWaiting} }, nil, time.Now)
	e.counts.serve(5, 3)
	e.counts.iterations += 0.9
	e.counts.generation = 4879232
	w := httptest.NewRecorder()
	e.routes().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`# TYPE vllm:iteration_tokens_total histogram`,
		`vllm:iteration_tokens_total_bucket{engine="0",model_name="fake/model",le="+Inf"} 3.0`,
		`vllm:iteration_tokens_total_count{engine="0",model_name="fake/model"} 3.0`,
		`vllm:prompt_tokens_total{engine="0",model_name="fake/model"} 5.0`,
		`vllm:generation_tokens_total{engine="0",model_name="fake/model"} 4.879232e+06`,
		`vllm:num_requests_running{engine="0",model_name="fake/model"} 0.0`,
		`vllm:num_requests_waiting{engine="0",model_name="fake/model"} 3.0`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, w.Body)
		}
	}
}
