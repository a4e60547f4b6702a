package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

const silence = "" // what a hanging request says to a client that leaves

const (
	body401 = `401 {"error":"Unauthorized"}`
	body404 = "404 {\"error\":{\"message\":\"The model `fake/model` does not exist.\",\"type\":\"NotFoundError\",\"param\":\"model\",\"code\":404}}"
	body500 = `500 {"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","code":500}}`
	detail  = `404 {"detail":"Not Found"}`
)

func TestAnswers(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	for _, row := range []struct {
		name, fault       string
		broken            <-chan struct{}
		health, completes string // the beginning of the answer
	}{
		{"healthy", "", nil, "200 ", `200 {"choices":[{`},
		{"E01 worker dead", "", gone, "200 ", silence},
		{"a death is above every fault", "401", gone, "200 ", silence},
		{"E02", "wedge", nil, "200 ", silence},
		{"E11", "wedge-waiting", nil, "200 ", silence},
		{"E10", "busy", nil, "200 ", silence},
		{"slow", "slow:1h", nil, "200 ", silence},
		{"slow is over", "slow:1ns", nil, "200 ", `200 {"choices":[{`},
		{"E16", "401", nil, "200 ", body401},
		{"model not found", "404", nil, "200 ", body404},
		{"E04", "500", nil, "200 ", body500},
		{"E01 says it", "health-503", nil, "503 ", silence},
		{"poison not taken", "poison", nil, "200 ", `200 {"choices":[{`},
		{"a worker's fault", "shell", nil, "200 ", `200 {"choices":[{`},
	} {
		e := engineWith(t, row.fault, row.broken)
		expect(t, row.name, e, "GET /health", "", row.health)
		for path, body := range map[string]string{
			"/v1/completions":      `{"model":"fake/model","prompt":"hi","max_tokens":1}`,
			"/v1/chat/completions": `{"model":"fake/model","messages":[{"role":"user","content":"hi"}],"max_tokens":1}`,
		} {
			expect(t, row.name, e, "POST "+path, body, row.completes)
		}
	}
}

func TestOtherQuestions(t *testing.T) {
	e := engineWith(t, "", nil)
	expect(t, "models", e, "GET /v1/models", "", `200 {"data":[{"created":`)
	expect(t, "version", e, "GET /version", "", `200 {"version":"0.19.0"}`)
	expect(t, "no developer mode", e, "GET /is_sleeping", "", detail)
	expect(t, "unknown", e, "GET /health_generate", "", detail)
	expect(t, "other model", e, "POST /v1/completions", `{"model":"other","prompt":"hi"}`, strings.Replace(body404, "fake/model", "other", 1))
	expect(t, "not JSON", e, "POST /v1/completions", `{`, `400 {"error":{"message":"There was`)
	expect(t, "no prompt", e, "POST /v1/chat/completions", `{"prompt":"hi"}`, `400 {"error":{"message":"Field required"`)
	expect(t, "stream", e, "POST /v1/completions", `{"prompt":"hi","stream":true}`, `400 {"error":{"message":"this server does not stream"`)
	e = engineWith(t, "401", nil)
	expect(t, "E16 models want a key", e, "GET /v1/models", "", body401)
	expect(t, "E16 version does not", e, "GET /version", "", "200 ")
}

func TestPoison(t *testing.T) {
	const deadly = `{"prompt":"drink POISON"}`
	e := engineWith(t, "", nil)
	expect(t, "no fault, no poison", e, "POST /v1/completions", deadly, "200 ")
	e = engineWith(t, "poison", nil)
	expect(t, "kills", e, "POST /v1/completions", deadly, body500)
	expect(t, "twice", e, "POST /v1/completions", deadly, body500)
	expect(t, "dead for all", e, "POST /v1/completions", `{"prompt":"hi"}`, body500)
	expect(t, "and says so", e, "GET /health", "", "503 ")
}

// What is held when the engine dies under it is told.
func TestHeldWhenKilled(t *testing.T) {
	e := engineWith(t, "wedge", nil)
	w, done := hold(context.Background(), e)
	e.kill()
	<-done
	if w.Code != 500 {
		t.Errorf("a held request got %d %s", w.Code, w.Body)
	}
	if c := e.count(nil); c.held != 0 {
		t.Errorf("%d requests are still held", c.held)
	}
}

// A slow answer does not outlive the worker that was to make it.
func TestSlowWhenWorkerDies(t *testing.T) {
	gone, delay := make(chan struct{}), make(chan time.Time)
	e := engineWith(t, "slow:1h", gone)
	e.after = func(time.Duration) <-chan time.Time { return delay }
	ctx, leave := context.WithCancel(context.Background())
	w, done := hold(ctx, e)
	close(gone)
	delay <- time.Now()
	leave()
	<-done
	if w.Body.Len() > 0 {
		t.Errorf("it answers %s", w.Body)
	}
}

// hold asks for a completion, and returns when it is held.
func hold(ctx context.Context, e *engine) (*httptest.ResponseRecorder, <-chan struct{}) {
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		e.routes().ServeHTTP(w, httptest.NewRequest("POST", "/v1/completions", strings.NewReader(`{"prompt":"hi"}`)).WithContext(ctx))
	}()
	for e.count(nil).held == 0 {
		runtime.Gosched()
	}
	return w, done
}

func engineWith(t *testing.T, word string, broken <-chan struct{}) *engine {
	f, err := parseFault(word)
	if err != nil {
		t.Fatal(err)
	}
	return newEngine("fake/model", func() fault { return f }, broken, time.Now)
}

// expect asks as a client that has left already, unless an answer is due: what hangs says nothing.
func expect(t *testing.T, name string, e *engine, question, body, want string) {
	t.Helper()
	method, path, _ := strings.Cut(question, " ")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if want == silence {
		cancel()
	}
	w := httptest.NewRecorder()
	e.routes().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)).WithContext(ctx))
	got := silence
	if w.Body.Len() > 0 || want != silence {
		got = fmt.Sprint(w.Code, " ", w.Body)
	}
	whole := strings.HasSuffix(want, "}")
	if whole && got != want || !strings.HasPrefix(got, want) || want == silence && got != silence {
		t.Errorf("%s: %s answers %q, want %q", name, question, got, want)
	}
}
