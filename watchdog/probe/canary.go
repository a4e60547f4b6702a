package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"cluster-watchdog/watchdog"
)

// quick is how soon a reset connection counts as an accident of connecting, worth a second try.
const quick = 3 * time.Second

// canary asks for one token. A connection that is reset at once, before any byte, is tried once
// more; a refused one is not: that is an answer.
func (p *Prober) canary(ctx context.Context, k key, model string) watchdog.Canary {
	c := watchdog.Canary{Model: clean(model)}
	if k.err != "" {
		c.HTTP = watchdog.HTTP{Outcome: watchdog.Unreachable, Err: k.err}
		return c
	}
	ctx, cancel := within(ctx, p.config.Canary)
	defer cancel()
	q := p.canaryQuestion(k, model)
	start := time.Now()
	a := p.ask(ctx, q)
	if a.Outcome == watchdog.Dropped && a.silent && a.Took < quick {
		a = p.ask(ctx, q)
	}
	a.Took = time.Since(start)
	c.HTTP = a.HTTP
	if a.Outcome == watchdog.Answered {
		parseCompletion(&c, a.body, k.secret)
	}
	return c
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type completionRequest struct {
	Model       string    `json:"model"`
	Prompt      string    `json:"prompt,omitempty"`
	Messages    []message `json:"messages,omitempty"`
	MaxTokens   int       `json:"max_tokens"`
	Temperature float64   `json:"temperature"`
	Stream      bool      `json:"stream"`
}

func (p *Prober) canaryQuestion(k key, model string) question {
	const hi = "Hi"
	path := "/v1/completions"
	r := completionRequest{Model: model, MaxTokens: 1}
	if p.config.API == "chat" {
		path = "/v1/chat/completions"
		r.Messages = []message{{Role: "user", Content: hi}}
	} else {
		r.Prompt = hi
	}
	body, err := json.Marshal(r)
	if err != nil {
		panic("internal error: cannot marshal the canary: " + err.Error())
	}
	return question{method: http.MethodPost, url: p.config.BaseURL + path, accept: "application/json", body: body, key: k}
}
