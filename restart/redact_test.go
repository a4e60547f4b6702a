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
