package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

func (e *engine) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	m := e.mood()
	c := e.count(nil).whole()
	p := page{w: w, labels: fmt.Sprintf(`engine="0",model_name=%q`, e.model)}
	p.one("num_requests_running", "gauge", "Number of requests in model execution batches.", float64(c.running(m)))
	p.one("num_requests_waiting", "gauge", "Number of requests waiting to be processed.", float64(c.waiting(m)))
	p.one("kv_cache_usage_perc", "gauge", "KV-cache usage. 1 means 100 percent usage.", float64(c.running(m))/64)
	p.one("prompt_tokens_total", "counter", "Number of prefill tokens processed.", c.prompt)
	p.one("generation_tokens_total", "counter", "Number of generation tokens processed.", c.generation)
	p.one("request_success_total", "counter", "Count of successfully processed requests.", float64(c.served))
	p.histogram("iteration_tokens_total", "Histogram of number of tokens per engine_step.", c.iterations, c.prompt+c.generation)
}

// page is a page of metrics in Prometheus' text form.
type page struct {
	w      io.Writer
	labels string
}

func (p page) head(name, kind, help string) {
	fmt.Fprintf(p.w, "# HELP vllm:%s %s\n# TYPE vllm:%[1]s %[3]s\n", name, help, kind)
}

func (p page) one(name, kind, help string, value float64) {
	p.head(name, kind, help)
	fmt.Fprintf(p.w, "vllm:%s{%s} %s\n", name, p.labels, number(value))
}

// histogram writes one whose own name ends as counters do: a trap that the real server sets.
func (p page) histogram(name, help string, count, sum float64) {
	p.head(name, "histogram", help)
	for _, le := range []string{"1.0", "8.0", "16.0", "+Inf"} {
		fmt.Fprintf(p.w, "vllm:%s_bucket{%s,le=%q} %s\n", name, p.labels, le, number(count))
	}
	fmt.Fprintf(p.w, "vllm:%s_count{%s} %s\nvllm:%[1]s_sum{%[2]s} %[4]s\n", name, p.labels, number(count), number(sum))
}

// number writes a value as Python's client does: 14588.0, 4.879232e+06.
func number(v float64) string {
	if v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if v >= 1e6 {
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	return fmt.Sprintf("%.1f", v)
}
