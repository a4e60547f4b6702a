package probe

import (
	"context"
	"encoding/json"
	"net/http"

	"cluster-watchdog/watchdog"
)

// firstModel asks for the name of the first model that is served; "" where there is none. The
// base model comes before its adapters.
func (p *Prober) firstModel(ctx context.Context, k key) (string, watchdog.HTTP) {
	if k.err != "" {
		return "", watchdog.HTTP{Outcome: watchdog.Unreachable, Err: k.err}
	}
	ctx, cancel := within(ctx, p.config.Models)
	defer cancel()
	a := p.ask(ctx, question{method: http.MethodGet, url: p.config.BaseURL + "/v1/models", accept: "application/json", key: k})
	if a.Outcome != watchdog.Answered || a.Status != http.StatusOK {
		return "", a.HTTP
	}
	model := parseModels(a.body)
	if model == "" {
		// A 200 without a model is no answer to a completion: there is nobody to ask for one.
		a.HTTP = watchdog.HTTP{Outcome: watchdog.Unreachable, Took: a.Took,
			Err: "/v1/models names no model; set the model in the config"}
	}
	return model, a.HTTP
}

func parseModels(body []byte) string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return ""
	}
	for _, m := range list.Data {
		if m.ID != "" {
			return m.ID
		}
	}
	return ""
}
