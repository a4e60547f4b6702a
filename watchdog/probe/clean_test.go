package probe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"a plain sentence: 5 tokens of max_tokens=5", "a plain sentence: 5 tokens of max_tokens=5"},
		{"two\n\tlines\x00\x1b[2J\u202e", "two lines [2J"},
		{"\xff\xfe", "?"},
		{"the key hush is wrong", "the key [redacted] is wrong"},
		{"Authorization: Bearer abcdefghijklmnopqrstuvwx", "Authorization: [redacted]"},
		{"bearer token missing", "bearer token missing"},
		{"Incorrect API key provided: sk-proj-abcdefgh", "Incorrect API key provided: [redacted]"},
		{"api_key=12345", "[redacted]"},
		{`{"password": "12345"}`, `{"[redacted]"}`},
		{"runc: HF_TOKEN=12345 VLLM_API_KEY=67890", "runc: [redacted] [redacted]"},
		{`exec: "vllm serve --api-key 12345 --port 8000": not found`, `exec: "vllm serve [redacted] --port 8000": not found`},
		{"--tokenizer-mode auto --max-tokens 5", "--tokenizer-mode auto --max-tokens 5"},
		{"http://user:pass@host/v1", "http[redacted]host/v1"},
		{strings.Repeat("é", 300), strings.Repeat("é", 199) + "…"},
	} {
		if got := clean(row.in, "", "hush"); got != row.want {
			t.Errorf("%q: got %q, want %q", row.in, got, row.want)
		}
	}
}

func checkClean(t *testing.T, s string) {
	t.Helper()
	if utf8.RuneCountInString(s) > maxWords || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, "hush") {
		t.Errorf("not clean: %q", s)
	}
}
