package probe

import (
	"context"
	"net/http"

	"cluster-watchdog/watchdog"
)

// sleep asks whether somebody has put the engine to sleep or paused it. vLLM says so in its
// developer mode, where others answer 404; it needs no key.
func (p *Prober) sleep(ctx context.Context) watchdog.Sleep {
	ctx, cancel := within(ctx, p.config.Counters)
	defer cancel()
	for _, q := range []struct {
		path, field string
		means       watchdog.Sleep
	}{
		{"/is_sleeping", "is_sleeping", watchdog.Asleep},
		{"/is_paused", "is_paused", watchdog.SleepPaused},
	} {
		a := p.ask(ctx, question{method: http.MethodGet, url: p.engine + q.path, accept: "application/json"})
		if a.Outcome != watchdog.Answered { // neither will the next be
			return watchdog.SleepUnknown
		}
		if a.Status == http.StatusOK && parseYes(a.body, q.field) {
			return q.means
		}
	}
	return watchdog.SleepUnknown
}

// parseYes says whether a body is an object whose field is true.
func parseYes(body []byte, field string) bool {
	fields, ok := parseObject(body)
	return ok && string(fields[field]) == "true"
}
