package restart

import (
	"bytes"
	"io"
	"regexp"
	"sync"
)

// redactor masks what looks like a secret, line by line, before anything reaches a disk: what is
// captured is what may be shared. Engines print their own arguments and users' words.
type redactor struct {
	w      io.Writer
	held   []byte
	secret bool // the last line named one: what follows is its value
	err    error
}

const (
	mask        = "REDACTED"
	longestLine = 64 << 10 // longer ones are cut into pieces
)

// secretName is how a thing that holds a secret is called: api_key, hf-token, token, password.
// Token counters ("max_tokens", "--tokenizer") are not.
const secretName = `[a-z0-9_-]*(?:api[_-]?keys?|auth[_-]?key|private[_-]?key|secret(?:[_-]?key)?|token|passwd|password|passphrase|credentials?)`

// manyKeys is the one option that takes several values.
const manyKeys = `--api[_-]?keys?`

// secrets are the shapes of secrets; what the first group matches stays. Compiled when first needed:
// a tick of a healthy group needs none of them.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)(` + secretName + `["']?\s*[:=]\s*[\[(])[^\])]+`),                         // 'key': ['one', 'two']
		regexp.MustCompile(`(?i)(` + manyKeys + `["']\s*,\s*["'])[^"']+(?:["']\s*,\s*["'][^"'-][^"']*)*`), // "--api-key","one","two"
		regexp.MustCompile(`(?i)(` + manyKeys + `\s+["']?)[^\s"']+(?:["']?\s+["']?[^\s"'-][^\s"']*)*`),    // --api-key one two
		regexp.MustCompile(`(?i)(` + secretName + `["']?\s*[:=]\s*[\[("']*)[^\s"'\[\](),}]+`),             // key=value, 'key': ['value']
		regexp.MustCompile(`(?i)(` + secretName + `["']\s*,\s*["'])[^"']+`),                               // "--api-key","value"
		regexp.MustCompile(`(?i)(--` + secretName + `\s+["']?)[^\s"']+`),                                  // --api-key value
		regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*["']?(?:bearer\s+|basic\s+)?)[^\s"',}]+`),
		regexp.MustCompile(`(?i)(bearer\s+)[a-z0-9._~+/=-]{8,}`),
		regexp.MustCompile(`()\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|nvapi-[A-Za-z0-9_-]{16,}|AKIA[A-Z0-9]{16})`),
		regexp.MustCompile(`(://[^/\s:@"']*:)[^@\s/"']*[^@\s/"'0-9][^@\s/"']*`), // the password in a URL; a port is only digits
	}
})

// environment finds one variable in the JSON of an inspect; all but these few are dropped.
var (
	environment = regexp.MustCompile(`"([A-Za-z_][A-Za-z0-9_]*)=((?:[^"\\]|\\.)*)"`)
	harmless    = regexp.MustCompile(`^(PATH|HOME|HOSTNAME|LANG|LC_[A-Z]+|TZ|WATCHDOG_(RANK|NODE|ROLE|HEAD_ADDR|GROUP)|CUDA_[A-Z_]+|NVIDIA_[A-Z_]+|NCCL_[A-Z0-9_]+|VLLM_(LOGGING_LEVEL|USE_[A-Z0-9_]+|ATTENTION_BACKEND|WORKER_[A-Z_]+|HOST_IP)|RAY_(ADDRESS|[a-z_]+)|OMP_NUM_THREADS|PYTORCH_[A-Z_]+|TORCH_[A-Z_]+|GLOO_[A-Z_]+)$`)
)

// An inspect has each argument on a line of its own.
var (
	secretOption = regexp.MustCompile(`(?i)^\s*"--?` + secretName + `",?\s*$`)
	argument     = regexp.MustCompile(`^(\s*")(?:[^"\\-]|\\.)(?:[^"\\]|\\.)*(",?\s*)$`) // and no option
)

func newRedactor(w io.Writer) *redactor { return &redactor{w: w} }

// Write masks whole lines as they are complete.
func (r *redactor) Write(p []byte) (int, error) {
	r.held = append(r.held, p...)
	for {
		end := bytes.IndexByte(r.held, '\n')
		if end < 0 && len(r.held) > longestLine {
			end = longestLine - 1
		}
		if end < 0 {
			return len(p), r.err
		}
		r.emit(r.held[:end+1])
		r.held = r.held[end+1:]
	}
}

// Close masks the last line, that may have no end.
func (r *redactor) Close() error {
	r.emit(r.held)
	r.held = nil
	return r.err
}

func (r *redactor) emit(line []byte) {
	if r.err != nil || len(line) == 0 {
		return
	}
	if r.secret = r.secret && argument.Match(line); r.secret {
		line = argument.ReplaceAll(line, []byte("${1}"+mask+"${2}"))
	}
	r.secret = r.secret || secretOption.Match(line)
	_, r.err = r.w.Write(redact(line))
}

// redact masks one line. An engine prints megabytes within the time there is for saving them, and
// the patterns are slow: they are tried only where a word of theirs stands.
func redact(line []byte) []byte {
	if !suspicious(line) {
		return line
	}
	return redactSlowly(line)
}

func redactSlowly(line []byte) []byte {
	line = environment.ReplaceAllFunc(line, func(m []byte) []byte {
		name := environment.FindSubmatch(m)[1]
		if harmless.Match(name) {
			return m
		}
		return append(append([]byte(`"`), name...), []byte(`=`+mask+`"`)...)
	})
	for _, s := range secrets() {
		line = s.ReplaceAll(line, []byte("${1}"+mask))
	}
	return line
}

// hints are in lower case: each pattern holds at least one of them. Throughput is told in
// "tokens/s", in most lines of a log: those are not meant.
var hints = [][]byte{
	[]byte("key"), []byte("secret"), []byte("passwd"), []byte("password"), []byte("passphrase"), []byte("credential"),
	[]byte("authorization"), []byte("bearer"), []byte("hf_"), []byte("sk-"),
	[]byte("ghp_"), []byte("gho_"), []byte("ghu_"), []byte("ghs_"), []byte("ghr_"), []byte("nvapi-"), []byte("akia"), []byte("://"),
}

// suspicious says whether the line may hold anything that redact would mask.
func suspicious(line []byte) bool {
	lower := bytes.ToLower(line)
	for _, hint := range hints {
		if bytes.Contains(lower, hint) {
			return true
		}
	}
	for rest := lower; ; {
		at := bytes.Index(rest, []byte("token"))
		if at < 0 {
			break
		}
		rest = rest[at+len("token"):]
		if len(rest) == 0 || rest[0] < 'a' || rest[0] > 'z' {
			return true
		}
	}
	quote := bytes.IndexByte(line, '"')
	return quote >= 0 && bytes.IndexByte(line[quote:], '=') > 0
}
