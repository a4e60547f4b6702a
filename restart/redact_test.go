package restart

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

func gunzip(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRedact(t *testing.T) {
	secretIn := []string{
		`non-default args: {'api_key': ['s3cr3t-value'], 'port': 8000}`,
		`"Cmd":["serve","--api-key","s3cr3t-value","--port","8000"]`,
		`vllm serve --api-key s3cr3t-value --port 8000`,
		`vllm serve --api-key=s3cr3t-value`,
		`Authorization: Bearer s3cr3t-value`,
		`{"authorization": "Basic s3cr3t-value"}`,
		`HF_TOKEN=s3cr3t-value`,
		`"Env":["HF_TOKEN=s3cr3t-value","MY_THING=s3cr3t-value\"quoted"]`,
		`WANDB_API_KEY: 's3cr3t-value'`,
		`proxy http://user:s3cr3t-value@10.0.0.1:8080/`,
		`"password": "s3cr3t-value"`,
		`non-default args: {'api_key': ['s3cr3t-one', 's3cr3t-two'], 'port': 8000}`,
		`Namespace(api_key=('s3cr3t-one', 's3cr3t-two'), port=8000)`,
		`vllm serve --api-key s3cr3t-one s3cr3t-two --port 8000`,
		`"Cmd":["serve","--api-key","s3cr3t-one","s3cr3t-two","--port","8000"]`,
	}
	for _, line := range secretIn {
		if got := string(redact([]byte(line))); strings.Contains(got, "s3cr3t") {
			t.Errorf("%s\n  became %s", line, got)
		}
	}
	kept := []string{
		`Avg prompt throughput: 12.0 tokens/s, Running: 1 reqs, KV cache usage: 0.0%`,
		`"Cmd":["serve","--max-num-batched-tokens","8192","--tokenizer","auto"]`,
		`vllm serve --max-num-batched-tokens 8192 --tokenizer-mode auto`,
		`http://10.0.0.1:8000/health@once`,
		`"Env":["PATH=/usr/bin:/bin","NCCL_DEBUG=INFO"]`,
		`max_tokens=1, prompt_token_ids: None`,
	}
	for _, line := range kept {
		if got := string(redact([]byte(line))); got != line {
			t.Errorf("%s\n  became %s", line, got)
		}
	}
}

// The quick look at a line leaves no line out that the patterns would change.
func TestRedactTriesEveryLineThatMatters(t *testing.T) {
	words := []string{"api_key", "API-KEY", "--api-key", "hf_token", "TOKEN", "tokens", "tokenizer", "secret_key", "password", "passphrase", "credentials",
		"authKey", "private-key", "Authorization", "Bearer", "hf_abcdefghijklmnopqrst", "sk-abcdefghijklmnopqrst", "ghp_abcdefghijklmnopqrstuvwx", "nvapi-abcdefghijklmnopq",
		"AKIAABCDEFGHIJKLMNOP", "http://user:pw@host", "NAME=value", "value"}
	joints := []string{" ", "=", ": ", `"`, `":"`, "', '", "[", "]", `","`, "-", "_", `"NAME=`, ""}
	for _, word := range words {
		for _, joint := range joints {
			for _, before := range []string{"", "x ", `"`, "--"} {
				line := before + word + joint + `abcdefghij"`
				quick, slow := redact([]byte(line)), redactSlowly([]byte(line))
				if !bytes.Equal(quick, slow) {
					t.Errorf("%s\n  became %s, want %s", line, quick, slow)
				}
			}
		}
	}
}

// Most of a log is such lines, and 15 s are all there is for 50,000 of them.
func BenchmarkRedact(b *testing.B) {
	line := "2026-03-01T12:00:00.123456789Z (APIServer pid=1) INFO 03-01 12:00:00 [loggers.py:123] Engine 000: Avg prompt throughput: 12.0 tokens/s, " +
		"Avg generation throughput: 33.2 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%\n"
	text := []byte(strings.Repeat(line, 4000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r := newRedactor(io.Discard)
		if _, err := r.Write(text); err != nil {
			b.Fatal(err)
		}
	}
}

// docker inspect prints each argument on a line of its own.
func TestRedactArgumentsOnTheirOwnLines(t *testing.T) {
	var out bytes.Buffer
	r := newRedactor(&out)
	text := `    "Args": [
        "serve",
        "--api-key",
        "s3cr3t-one",
        "s3cr3t-\"two",
        "--port",
        "8000",
        "--hf-token",
        "s3cr3t-value"
    ],
    "Name": "vllm"
`
	if _, err := r.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	want := `    "Args": [
        "serve",
        "--api-key",
        "REDACTED",
        "REDACTED",
        "--port",
        "8000",
        "--hf-token",
        "REDACTED"
    ],
    "Name": "vllm"
`
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
}

func TestRedactAcrossWrites(t *testing.T) {
	var out bytes.Buffer
	r := newRedactor(&out)
	for _, b := range []byte("a --api-key s3cr3t-value\nlast token=s3cr3t-value") {
		if _, err := r.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "a --api-key REDACTED\nlast token=REDACTED"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
