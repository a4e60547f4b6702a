package probe

import (
	"context"
	"encoding/json"
	"net/http"

	"cluster-watchdog/watchdog"
)

// firstModel returns a canary that is yet to be asked: with the name of the first model that is
// served, or with why there is none.
func (p *Prober) firstModel(ctx context.Context, k key) (c watchdog.Canary) {
	if k.err != "" {
		c.HTTP = k.unread()
		return c
	}
	ctx, cancel := within(ctx, p.config.Models)
	defer cancel()
	a := p.ask(ctx, question{method: http.MethodGet, url: p.config.BaseURL + "/v1/models", accept: "application/json", key: k})
	c.HTTP = a.HTTP
	if a.Outcome != watchdog.Answered {
		return c
	}
	if a.Status != http.StatusOK {
		if fields, ok := parseObject(a.body); ok {
			c.Error = clean(engineError(fields, false), k.secret)
		}
		return c
	}
	if c.Model = parseModels(a.body); c.Model == "" {
		// A 200 without a model is no answer to a completion: there is nobody to ask for one.
		c.HTTP = watchdog.HTTP{Outcome: watchdog.Unreachable, Took: a.Took, Err: "/v1/models names no model", Fault: watchdog.FaultNoModel}
	}
	return c
}

// parseModels returns the first model that is no adapter of another, else the first; "" where
// there is none.
func parseModels(body []byte) string {
	var list struct {
		Data []struct {
			ID     string          `json:"id"`
			Parent json.RawMessage `json:"parent"` // of a LoRA adapter: its base model
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return ""
	}
	first := ""
	for _, m := range list.Data {
		if m.ID != "" && absent(m.Parent) {
			return m.ID
		}
		if first == "" {
			first = m.ID
		}
	}
	return first
}
