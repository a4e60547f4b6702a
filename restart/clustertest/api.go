package clustertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

func (e *engine) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", e.fresh(e.health))
	mux.HandleFunc("GET /metrics", e.fresh(e.metrics))
	mux.HandleFunc("GET /version", e.fresh(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"version": "0.19.0"})
	}))
	mux.HandleFunc("GET /is_sleeping", http.NotFound) // as without the server's developer mode
	mux.HandleFunc("GET /is_paused", http.NotFound)
	mux.HandleFunc("GET /v1/models", e.fresh(e.withKey(e.models)))
	mux.HandleFunc("POST /v1/completions", e.fresh(e.withKey(e.completion("text_completion"))))
	mux.HandleFunc("POST /v1/chat/completions", e.fresh(e.withKey(e.completion("chat.completion"))))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		e.cluster.servers[0].node.NoteUnknown(fmt.Sprintf("engine: unknown request %s %s", r.Method, r.URL.Path))
		answer(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	return mux
}

// fresh looks at the world before each request: what died a moment ago must not answer.
func (e *engine) fresh(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.cluster.mustRefresh()
		e.mu.Lock()
		closed := e.server == nil
		e.mu.Unlock()
		if closed {
			panic(http.ErrAbortHandler) // the connection breaks without an answer
		}
		next(w, r)
	}
}

func (e *engine) withKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if e.now() == Unauthorized {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
			return
		}
		next(w, r)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // the client may be gone
}

// refusal is an error in the words of such a server.
func refusal(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": status}})
}

func (e *engine) health(w http.ResponseWriter, _ *http.Request) {
	switch e.now() {
	case Health500:
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
	case Health503:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusOK)
	}
}

func (e *engine) models(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": Model, "object": "model", "owned_by": "vllm", "max_model_len": 131072},
	}})
}

// asked is what is understood of a completion.
type asked struct {
	Model     string           `json:"model"`
	Prompt    any              `json:"prompt"`
	Messages  []map[string]any `json:"messages"`
	MaxTokens int              `json:"max_tokens"`
	Stream    bool             `json:"stream"`
}

func (e *engine) completion(object string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var a asked
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || a.Stream || (a.Prompt == nil && len(a.Messages) == 0) {
			refusal(w, http.StatusBadRequest, "BadRequestError", "cannot understand this request")
			return
		}
		if a.Model != "" && a.Model != Model {
			refusal(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist.", a.Model))
			return
		}
		switch mode := e.now(); mode {
		case Hang, Health500, Health503, Busy:
			e.hold(r)
		case Error500:
			refusal(w, http.StatusInternalServerError, "InternalServerError",
				"EngineCore encountered an issue. See stack trace (above) for the root cause.")
		default:
			e.complete(w, object, max(1, min(a.MaxTokens, 64)))
		}
	}
}

// hold never answers: until the client gives up, or the head is gone.
func (e *engine) hold(r *http.Request) {
	e.count(func(c *counts) { c.held++ })
	defer e.count(func(c *counts) { c.held-- })
	<-r.Context().Done()
}

func (e *engine) complete(w http.ResponseWriter, object string, tokens int) {
	var number int
	e.count(func(c *counts) {
		c.done++
		c.prompt += promptTokens
		c.generation += float64(tokens)
		c.iterations += float64(tokens)
		number = c.done
	})
	choice := map[string]any{"index": 0, "finish_reason": "length", "text": " ok"}
	if object == "chat.completion" {
		delete(choice, "text")
		choice["message"] = map[string]any{"role": "assistant", "content": "ok"}
	}
	answer(w, http.StatusOK, map[string]any{
		"id": fmt.Sprintf("cmpl-%d", number), "object": object, "created": time.Now().Unix(), "model": Model,
		"choices": []any{choice},
		"usage":   map[string]any{"prompt_tokens": promptTokens, "completion_tokens": tokens, "total_tokens": promptTokens + tokens},
	})
}
