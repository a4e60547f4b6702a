package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// The objects that answer the two kinds of completion.
const (
	text = "text_completion"
	chat = "chat.completion"
)

// biggestBody is far above any prompt.
const biggestBody = 64 << 20

// promptTokens is how long every prompt is.
const promptTokens = 5

// asked is what is understood of a completion.
type asked struct {
	Model     string          `json:"model"`
	Prompt    json.RawMessage `json:"prompt"`
	Messages  json.RawMessage `json:"messages"`
	MaxTokens *int            `json:"max_tokens"`
	Stream    bool            `json:"stream"`
}

func (e *engine) complete(object string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, problem := read(w, r, object)
		switch m := e.mood(); {
		case problem != "":
			refuse(w, refusal{Message: problem, Type: "BadRequestError", Param: json.RawMessage("null"), Code: http.StatusBadRequest})
		case m == stranger || a.Model != "" && a.Model != e.model:
			refuse(w, refusal{Message: fmt.Sprintf("The model `%s` does not exist.", a.Model), Type: "NotFoundError",
				Param: json.RawMessage(`"model"`), Code: http.StatusNotFound})
		case m == healthy && e.fault().word == poison && a.poisonous():
			e.kill()
			refuse(w, killed)
		case m == dead || m == failing:
			refuse(w, killed)
		default:
			e.generate(w, r, object, a, m)
		}
	}
}

var killed = refusal{Message: engineDead, Type: "InternalServerError", Code: http.StatusInternalServerError}

// read reads a body to its end: only then does the server notice a client that leaves.
func read(w http.ResponseWriter, r *http.Request, object string) (a asked, problem string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, biggestBody))
	if err != nil || json.Unmarshal(body, &a) != nil {
		return a, "There was an error parsing the body"
	}
	needed := a.Prompt
	if object == chat {
		needed = a.Messages
	}
	switch {
	case len(needed) == 0:
		return a, "Field required"
	case a.Stream:
		return a, "this server does not stream"
	}
	return a, ""
}

func (a asked) poisonous() bool {
	return bytes.Contains(a.Prompt, []byte("POISON")) || bytes.Contains(a.Messages, []byte("POISON"))
}

// generate answers if and when the mood lets it.
func (e *engine) generate(w http.ResponseWriter, r *http.Request, object string, a asked, m mood) {
	e.count(func(c *counts) { c.held++ })
	defer e.count(func(c *counts) { c.held-- })
	if m == laggard {
		select {
		case <-e.after(e.fault().delay):
			m = e.mood() // it may have died meanwhile
		case <-r.Context().Done():
			return
		}
	}
	if m == healthy || m == laggard {
		e.tell(w, object, a)
		return
	}
	select {
	case <-e.poisoned:
		refuse(w, killed)
	case <-r.Context().Done():
	}
}

func (e *engine) tell(w http.ResponseWriter, object string, a asked) {
	tokens := 16
	if a.MaxTokens != nil {
		tokens = max(1, min(*a.MaxTokens, 4096))
	}
	c := e.count(func(c *counts) { c.serve(promptTokens, tokens) })
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": "length", "stop_reason": nil}
	if object == chat {
		choice["message"] = map[string]any{"role": "assistant", "content": "ok", "reasoning_content": nil}
	} else {
		choice["text"] = " ok"
	}
	answer(w, http.StatusOK, map[string]any{
		"id": fmt.Sprintf("cmpl-%d", c.served), "object": object, "created": e.clock().Unix(), "model": e.model, "choices": []any{choice},
		"usage": map[string]any{"prompt_tokens": promptTokens, "completion_tokens": tokens, "total_tokens": promptTokens + tokens},
	})
}
