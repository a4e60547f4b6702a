package probe

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cluster-watchdog/watchdog"
)

func TestParseCompletion(t *testing.T) {
	yes := func(choices, tokens int, finish string) watchdog.Canary {
		return watchdog.Canary{WellFormed: true, Choices: choices, Tokens: tokens, Finish: finish}
	}
	fails := func(message string) watchdog.Canary { return watchdog.Canary{Error: message} }
	const template = "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template"
	for _, row := range []struct {
		name, body string
		want       watchdog.Canary
	}{
		{"completion", served, yes(1, 1, "length")},
		{"E13 reasoning, no text", `{"choices":[{"message":{"role":"assistant","content":null,"reasoning_content":"O"},"finish_reason":"length"}],"usage":{"completion_tokens":1}}`, yes(1, 1, "length")},
		{"E13 empty text, no usage", `{"choices":[{"text":"","finish_reason":"stop"}]}`, yes(1, 0, "stop")},
		{"E13 no choices", `{"choices":[]}`, yes(0, 0, "")},
		{"tokens only", `{"usage":{"completion_tokens":1,"prompt_tokens":2}}`, yes(0, 1, "")},
		{"finish is null", `{"choices":[{"finish_reason":null}]}`, yes(1, 0, "")},
		{"finish is an object", `{"choices":[{"finish_reason":{"type":"length"}}]}`, yes(1, 0, "")},
		{"error is null", `{"choices":[{}],"error":null}`, yes(1, 0, "")},
		{"E17 finish_reason error", `{"choices":[{"text":"","finish_reason":"error"}],"usage":{"completion_tokens":0}}`, yes(1, 0, "error")},
		{"E17 choices and an error", `{"choices":[{"text":"x"}],"error":{"message":"boom"}}`, watchdog.Canary{WellFormed: true, Choices: 1, Error: "boom"}},
		{"choices and a message", `{"choices":[{}],"message":"hello"}`, yes(1, 0, "")},
		{"E17 error only", `{"error":{"message":"boom","code":500}}`, fails("boom")},
		{"E17 half JSON", `{"choices":[{"te`, fails("")},
		{"E17 streamed error", "data: {\"choices\":[]}\n\ndata: {\"error\":{\"message\":\"boom\"}}\n\ndata: [DONE]\n", fails("boom")},
		{"E14 nested", `{"error":{"object":"error","message":"` + template + `","type":"BadRequestError","code":400}}`, fails(template)},
		{"E14 at the top", `{"object":"error","message":"` + template + `","type":"BadRequestError","param":null,"code":400}`, fails(template)},
		{"E16", `{"error":"Unauthorized"}`, fails("Unauthorized")},
		{"E19", `{"error":{"code":"server_overloaded"}}`, fails("server_overloaded")},
		{"E04", `{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","code":500}}`, fails("EngineCore encountered an issue. See stack trace (above) for the root cause.")},
		{"no such path", `{"detail":"Not Found"}`, fails("Not Found")},
		{"error of an unknown shape", `{"error":{"why":1}}`, fails(`{"why":1}`)},
		{"streamed without being asked", "data: {\"choices\":[{\"text\":\"!\",\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"completion_tokens\":1}}\n\ndata: [DONE]\n\n", yes(1, 1, "length")},
		{"streamed, kept alive by comments", ": ping\r\n\r\ndata:{\"choices\":[{\"delta\":{\"reasoning_content\":\"O\"},\"finish_reason\":\"length\"}]}\r\n\r\n", yes(1, 0, "length")},
		{"E17 a stream without an end", "data: {\"choices\":[{\"delta\":{\"content\":\"O\"},\"finish_reason\":null}]}\n\n", watchdog.Canary{Choices: 1}},
		{"E17 a stream that breaks", "data: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\ndata: {\"cho", watchdog.Canary{Choices: 1, Finish: "length"}},
		{"a stream of nothing", "data: [DONE]\n", fails("")},
		{"two values", served + served, fails("")},
		{"a list", `[]`, fails("")},
		{"null", `null`, fails("")},
		{"nothing", ``, fails("")},
		{"HTML", `<html>502 Bad Gateway</html>`, fails("")},
		{"choices are no list", `{"choices":{"a":1},"usage":{"completion_tokens":1}}`, watchdog.Canary{Tokens: 1}},
		{"a choice is null", `{"choices":[null]}`, watchdog.Canary{}},
		{"tokens are no number", `{"choices":[{}],"usage":{"completion_tokens":"1"}}`, watchdog.Canary{Choices: 1}},
		{"tokens are absurd", `{"usage":{"completion_tokens":-3}}`, yes(0, 0, "")},
		{"keys in another case", `{"Choices":[{}]}`, watchdog.Canary{}},
		{"control characters and secrets", `{"error":"bad\u001b[31m key sk-abcdefghijklmnop hidden\u202e\n"}`, fails("bad [31m key [redacted] [redacted]")},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got watchdog.Canary
			parseCompletion(&got, []byte(row.body), "hidden")
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCanaryRequest(t *testing.T) {
	for _, row := range []struct{ api, path, body string }{
		{"completions", "/v1/completions", `{"model":"m/1","prompt":"Hi","max_tokens":1,"temperature":0,"stream":false}`},
		{"chat", "/v1/chat/completions", `{"model":"m/1","messages":[{"role":"user","content":"Hi"}],"max_tokens":1,"temperature":0,"stream":false}`},
	} {
		var path, body, auth, encoding string
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			path, body, auth, encoding = r.URL.Path, string(b), r.Header.Get("Authorization"), r.Header.Get("Accept-Encoding")
			w.Write([]byte(served))
		})
		p := at(base+"/", func(c *Config) { c.API = row.api })
		c := p.canary(t.Context(), key{secret: "hush"}, "m/1")
		if !c.WellFormed || c.Model != "m/1" || c.Took <= 0 {
			t.Errorf("%s: got %+v", row.api, c)
		}
		if path != row.path || body != row.body || auth != "Bearer hush" || encoding != "" {
			t.Errorf("%s: sent %s %s, key %q, encoding %q", row.api, path, body, auth, encoding)
		}
	}
}

func TestCanaryRetry(t *testing.T) {
	const ok = "HTTP/1.0 200 OK\r\n\r\n" + served
	for _, row := range []struct {
		name string
		f    func(n int32, c *net.TCPConn)
		want watchdog.Outcome
		asks int32
	}{
		{"reset once", func(n int32, c *net.TCPConn) {
			if n == 1 {
				reset(c)
				return
			}
			say(ok, hangUp)(n, c)
		}, watchdog.Answered, 2},
		{"reset each time", say("", reset), watchdog.Dropped, 2},
		{"reset after a byte", say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", reset), watchdog.Dropped, 1},
		{"answered", say(ok, hangUp), watchdog.Answered, 1},
		{"an error answered", say("HTTP/1.0 500 Oops\r\n\r\n", hangUp), watchdog.Answered, 1},
		{"silence", say("", hold), watchdog.Unanswered, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			base, count := listen(t, row.f)
			limit := long
			if row.want == watchdog.Unanswered {
				limit = short
			}
			c := at(base, func(c *Config) { c.Canary = limit }).canary(t.Context(), key{}, "m")
			if c.Outcome != row.want || count.Load() != row.asks {
				t.Errorf("got %s after %d requests, want %s after %d", outcomeNames[c.Outcome], count.Load(), outcomeNames[row.want], row.asks)
			}
		})
	}
}

func TestModel(t *testing.T) {
	hold := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, row := range []struct {
		name   string
		h      http.HandlerFunc
		model  string
		want   watchdog.Outcome
		status int
		says   string
	}{
		{"the first", answering(200, `{"object":"list","data":[{"id":"m/1"},{"id":"adapter"}]}`), "m/1", watchdog.Answered, 200, ""},
		{"LoRA adapters before their base", answering(200, `{"data":[{"id":"sql","parent":"/models/base"},{"id":"/models/base","parent":null}]}`), "/models/base", watchdog.Answered, 200, ""},
		{"only an adapter", answering(200, `{"data":[{"id":"sql","parent":"base"}]}`), "sql", watchdog.Answered, 200, ""},
		{"E16", answering(401, `{"error":"Unauthorized"}`), "", watchdog.Answered, 401, "Unauthorized"},
		{"engine says dead", answering(503, ``), "", watchdog.Answered, 503, ""},
		{"W05 none", answering(200, `{"data":[]}`), "", watchdog.Unreachable, 0, ""},
		{"no JSON", answering(200, `hello`), "", watchdog.Unreachable, 0, ""},
		{"silence", hold, "", watchdog.Unanswered, 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			limit := long
			if row.want == watchdog.Unanswered {
				limit = short
			}
			c := at(serve(t, row.h), func(c *Config) { c.Models = limit }).firstModel(t.Context(), key{})
			if c.Model != row.model || c.Outcome != row.want || c.Status != row.status || c.Error != row.says {
				t.Errorf("got %+v", c)
			}
		})
	}
}

func TestKey(t *testing.T) {
	for _, row := range []struct{ name, file, err, secret, problem string }{
		{"line end", "hush\n", "", "hush", ""},
		{"empty", "\n", "", "", ""},
		{"two lines", "hush\nhush2\n", "", "", "holds control characters"},
		{"unreadable", "", "open /etc/key: permission denied", "", "cannot read the API key: open /etc/key"},
	} {
		p := at("http://127.0.0.1:1", func(c *Config) {
			c.APIKey = func() (string, error) {
				if row.err != "" {
					return "", errors.New(row.err)
				}
				return row.file, nil
			}
		})
		k := p.readKey()
		if k.secret != row.secret || !strings.Contains(k.err, row.problem) || (k.err == "") != (row.problem == "") {
			t.Errorf("%s: got %+v", row.name, k)
		}
		if k.err == "" {
			continue
		}
		h := p.firstModel(t.Context(), k)
		c := p.canary(t.Context(), k, "m")
		if h.Outcome != watchdog.Unreachable || c.Outcome != watchdog.Unreachable || c.Err != k.err || c.Fault != watchdog.FaultFile || h.Fault != watchdog.FaultFile {
			t.Errorf("%s: asked without the key: %+v %+v", row.name, h, c)
		}
	}
}

// A server that only streams, and one that wants the newer name, are asked once more in their way.
func TestCanaryAsWanted(t *testing.T) {
	const streams = `{"error":{"message":"Only streaming is supported: set \"stream\" to true","code":400}}`
	const newer = `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`
	const whole = "data: {\"choices\":[{\"delta\":{\"content\":\"!\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n"
	for _, row := range []struct {
		name, says string
		wants      string // in the request, or says is answered
		body       string
		asks       int
		served     bool
	}{
		{"it streams only", streams, `"stream":true`, whole, 2, true},
		{"it knows the newer name only", newer, `"max_completion_tokens":1,"temperature":0`, served, 2, true},
		{"it wants what we do not know", `{"error":"no such thing"}`, "never", served, 1, false},
		{"it says the same again", streams, "never", served, 2, false},
	} {
		asks := 0
		base := serve(t, func(w http.ResponseWriter, r *http.Request) {
			asks++
			b, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(b), row.wants) {
				answering(400, row.says)(w, r)
				return
			}
			w.Write([]byte(row.body))
		})
		c := at(base, func(c *Config) { c.API = "chat" }).canary(t.Context(), key{}, "m")
		if c.Served() != row.served || asks != row.asks || c.Model != "m" {
			t.Errorf("%s: %d asks, %+v", row.name, asks, c)
		}
	}
}
