package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

// quick is how soon a reset connection counts as an accident of connecting, worth a second try.
const quick = 3 * time.Second

// canary asks for one token. What the server wants otherwise it is asked again in its own way, all
// within one deadline.
func (p *Prober) canary(ctx context.Context, k key, model string) watchdog.Canary {
	c := watchdog.Canary{Model: clean(model)}
	if k.err != "" {
		c.HTTP = k.unread()
		return c
	}
	ctx, cancel := within(ctx, p.config.Canary)
	defer cancel()
	start := time.Now()
	for r, again := p.oneToken(model), true; again; {
		a := p.askTwice(ctx, p.canaryQuestion(k, r))
		c = watchdog.Canary{Model: c.Model, HTTP: a.HTTP}
		if a.Outcome == watchdog.Answered {
			parseCompletion(&c, a.body, k.secret)
		}
		r, again = r.asWanted(c)
	}
	c.Took = time.Since(start)
	return c
}

// askTwice asks once more where the connection was reset at once, before any byte. A refused one is
// not asked again: that is an answer.
func (p *Prober) askTwice(ctx context.Context, q question) answer {
	a := p.ask(ctx, q)
	if a.Outcome == watchdog.Dropped && a.silent && a.Took < quick {
		a = p.ask(ctx, q)
	}
	return a
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type completionRequest struct {
	Model         string    `json:"model"`
	Prompt        string    `json:"prompt,omitempty"`
	Messages      []message `json:"messages,omitempty"`
	MaxTokens     int       `json:"max_tokens,omitempty"`
	MaxCompletion int       `json:"max_completion_tokens,omitempty"`
	Temperature   float64   `json:"temperature"`
	Stream        bool      `json:"stream"`
}

func (p *Prober) oneToken(model string) completionRequest {
	const hi = "Hi"
	if p.config.API == "chat" {
		return completionRequest{Model: model, MaxTokens: 1, Messages: []message{{Role: "user", Content: hi}}}
	}
	return completionRequest{Model: model, MaxTokens: 1, Prompt: hi}
}

// asWanted returns the request as a server wants it that only streams, or that knows max_tokens
// under its newer name. again is false where it did not ask for either.
func (r completionRequest) asWanted(c watchdog.Canary) (next completionRequest, again bool) {
	if c.Outcome != watchdog.Answered || c.Status != http.StatusBadRequest && c.Status != http.StatusUnprocessableEntity {
		return r, false
	}
	switch text := strings.ToLower(c.Error); {
	case r.MaxTokens > 0 && strings.Contains(text, "max_completion_tokens"):
		r.MaxTokens, r.MaxCompletion = 0, r.MaxTokens
	case !r.Stream && strings.Contains(text, "stream"):
		r.Stream = true
	default:
		return r, false
	}
	return r, true
}

func (p *Prober) canaryQuestion(k key, r completionRequest) question {
	path := "/v1/completions"
	if r.Messages != nil {
		path = "/v1/chat/completions"
	}
	body, err := json.Marshal(r)
	if err != nil {
		panic("internal error: cannot marshal the canary: " + err.Error())
	}
	return question{method: http.MethodPost, url: p.config.BaseURL + path, accept: "application/json, text/event-stream", body: body, key: k}
}
