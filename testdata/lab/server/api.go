package main

import (
	"encoding/json"
	"net/http"
)

func (e *engine) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", e.health)
	mux.HandleFunc("GET /metrics", e.metrics)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"version": version})
	})
	mux.HandleFunc("GET /v1/models", e.withKey(e.models))
	mux.HandleFunc("POST /v1/completions", e.withKey(e.complete(text)))
	mux.HandleFunc("POST /v1/chat/completions", e.withKey(e.complete(chat)))
	mux.HandleFunc("/v1/", e.withKey(unknown))
	mux.HandleFunc("/", unknown) // /is_sleeping too: this server is not in developer mode
	return mux
}

func unknown(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
}

func (e *engine) withKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if e.mood() == closed {
			answer(w, http.StatusUnauthorized, map[string]string{"error": "Unauthorized"})
			return
		}
		next(w, r)
	}
}

// health has no body, whatever it says.
func (e *engine) health(w http.ResponseWriter, _ *http.Request) {
	if m := e.mood(); m == sick || m == dead {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (e *engine) models(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{
		"id": e.model, "object": "model", "created": e.created.Unix(), "owned_by": "vllm",
		"root": e.model, "parent": nil, "max_model_len": 131072,
	}}})
}

// refusal is an error in vLLM's shape.
type refusal struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Param   json.RawMessage `json:"param,omitempty"`
	Code    int             `json:"code"`
}

func refuse(w http.ResponseWriter, r refusal) {
	answer(w, r.Code, map[string]refusal{"error": r})
}

func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // all that is sent here can be
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Server", "uvicorn")
	w.WriteHeader(status)
	w.Write(body) // the client may be gone
}
