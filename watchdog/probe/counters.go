package probe

import (
	"context"
	"net/http"

	"cluster-watchdog/watchdog"
)

// counters reads the engine's metrics. They need no key, and may stand on another host: it must
// not get one.
func (p *Prober) counters(ctx context.Context) watchdog.Counters {
	ctx, cancel := within(ctx, p.config.Counters)
	defer cancel()
	a := p.ask(ctx, question{
		method: http.MethodGet, url: p.config.MetricsURL, sift: siftMetrics,
		accept: "text/plain;version=0.0.4", // the form without exemplars
	})
	c := watchdog.Counters{HTTP: a.HTTP}
	if a.Outcome != watchdog.Answered || a.Status != http.StatusOK {
		return c
	}
	err := parseMetrics(&c, a.body)
	switch {
	case err != nil:
		c.Err = clean("cannot read the metrics: "+err.Error(), p.hidden...)
	case len(c.Engines) == 0:
		c.Err = "the metrics name no counter of vLLM or SGLang"
	}
	return c
}
