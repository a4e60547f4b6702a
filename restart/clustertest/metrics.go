package clustertest

import (
	"fmt"
	"net/http"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// promptTokens is how long every prompt is.
const promptTokens = 5

// busyRate is how many tokens a second a busy server makes for others.
const busyRate = 50

// counts are what the server has counted since its start.
type counts struct {
	of         string // the start of the head
	whole      bool   // every rank lives
	done       int
	prompt     float64
	generation float64
	iterations float64
	held       int       // requests that never end
	busySince  time.Time // zero: nobody else asks
}

// follow forgets everything when the head was started anew. Requests that are held belong to
// clients and end by themselves.
func (c *counts) follow(head fakenode.Start) {
	if of := head.ID + "@" + head.Started.String(); of != c.of {
		*c = counts{of: of, held: c.held, busySince: c.busySince}
	}
}

// moved adds what a busy server has done for others meanwhile.
func (c *counts) moved(now time.Time) {
	if c.busySince.IsZero() || !c.whole {
		return
	}
	more := now.Sub(c.busySince).Seconds() * busyRate
	c.generation += more
	c.iterations += more
	c.busySince = now
}

func (e *engine) count(change func(*counts)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.counts)
}

func (e *engine) metrics(w http.ResponseWriter, _ *http.Request) {
	var c counts
	e.count(func(all *counts) {
		all.moved(time.Now())
		c = *all
	})
	running := float64(c.held)
	if !c.busySince.IsZero() {
		running++
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	family(w, "num_requests_running", "gauge", "Number of requests in model execution batches.", running)
	family(w, "num_requests_waiting", "gauge", "Number of requests waiting to be processed.", 0)
	family(w, "kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", 0)
	family(w, "prompt_tokens_total", "counter", "Number of prefill tokens processed.", c.prompt)
	family(w, "generation_tokens_total", "counter", "Number of generation tokens processed.", c.generation)
	histogram(w, "iteration_tokens_total", "Histogram of number of tokens per engine_step.", c.iterations, c.generation)
}

const labels = `engine="0",model_name="` + Model + `"`

func family(w http.ResponseWriter, name, kind, help string, value float64) {
	fmt.Fprintf(w, "# HELP vllm:%s %s\n# TYPE vllm:%[1]s %[3]s\nvllm:%[1]s{%[4]s} %[5]s\n", name, help, kind, labels, number(value))
}

// histogram writes one whose own name ends as counters do: a trap that real servers set.
func histogram(w http.ResponseWriter, name, help string, count, sum float64) {
	fmt.Fprintf(w, "# HELP vllm:%s %s\n# TYPE vllm:%[1]s histogram\n", name, help)
	for _, le := range []string{"1.0", "8.0", "+Inf"} {
		fmt.Fprintf(w, "vllm:%s_bucket{%s,le=%q} %s\n", name, labels, le, number(count))
	}
	fmt.Fprintf(w, "vllm:%s_count{%s} %s\nvllm:%[1]s_sum{%[2]s} %[4]s\n", name, labels, number(count), number(sum))
}

// number writes a value as Prometheus clients in Python do.
func number(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%g", v)
}
