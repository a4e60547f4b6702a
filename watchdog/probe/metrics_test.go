package probe

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"cluster-watchdog/watchdog"
)

func counter(label string, iterations, prompt, generation, running, waiting float64) watchdog.EngineCounter {
	return watchdog.EngineCounter{Label: label, Iterations: iterations, Prompt: prompt, Generation: generation, Running: running, Waiting: waiting}
}

func TestMetrics(t *testing.T) {
	file := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", "metrics", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, row := range []struct {
		name, text string
		engine     watchdog.Engine
		want       []watchdog.EngineCounter
	}{
		{"E12 vllm", file("vllm.txt"), watchdog.VLLM, []watchdog.EngineCounter{counter("0", 700, 4879232, 14588, 2, 0), counter("1", 3, 10, 20, 1, -1)}},
		{"E12 vllm_, gauges repeated per pid", file("vllm-underscore.txt"), watchdog.VLLM, []watchdog.EngineCounter{counter("0", -1, 5, 13, 3, 1)}},
		{"sglang, a priority is a part, a tp_rank a copy, a dp_rank an engine", file("sglang.txt"), watchdog.SGLang, []watchdog.EngineCounter{counter("", 123, 8129000, 7557572, -1, -1), counter("0", -1, -1, -1, 4, 6), counter("1", -1, -1, -1, 5, -1)}},
		{"sglang_ before real-time tokens", "sglang_cuda_graph_passes_total 9\nsglang_num_running_reqs 1\n", watchdog.SGLang, []watchdog.EngineCounter{counter("", 9, -1, -1, 1, -1)}},
		{"two spellings of one counter", "vllm:prompt_tokens 5\nvllm:prompt_tokens_total 7\nvllm_prompt_tokens_total 9\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 7, -1, -1, -1)}},
		{"E12 no label", "vllm:prompt_tokens_total 5", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 5, -1, -1, -1)}},
		{"E12 prefix trap", "vllm:iteration_tokens_total_bucket{le=\"1\"} 5\nvllm:iteration_tokens_total_sum 6\nvllm:iteration_tokens_total_created 7\nvllm:iteration_tokens_total 8\n", watchdog.EngineUnknown, nil},
		{"NaN, infinite, negative", "vllm:prompt_tokens_total NaN\nvllm:generation_tokens_total +Inf\nvllm:num_requests_running -3\nvllm:num_requests_waiting 0\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, -1, -1, -1, 0)}},
		{"NaN beside a number", "vllm:prompt_tokens_total{a=\"1\"} 5\nvllm:prompt_tokens_total{a=\"2\"} NaN\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 5, -1, -1, -1)}},
		{"sums stay finite", "vllm:prompt_tokens_total{a=\"1\"} 1.7e308\nvllm:prompt_tokens_total{a=\"2\"} 1.7e308\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 1.7976931348623157e308, -1, -1, -1)}},
		{"a time stamp and escapes", "vllm:prompt_tokens_total{engine=\"a\\\"b\",x=\"}\"} 5 1395066363000\n", watchdog.VLLM, []watchdog.EngineCounter{counter(`a"b`, -1, 5, -1, -1, -1)}},
		{"spaces before a name", "  vllm:prompt_tokens_total 5\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 5, -1, -1, -1)}},
		{"windows line ends elsewhere", "# hello\r\nother 1\r\nvllm:prompt_tokens_total 5\n", watchdog.VLLM, []watchdog.EngineCounter{counter("", -1, 5, -1, -1, -1)}},
		{"another server", "go_goroutines 5\n", watchdog.EngineUnknown, nil},
		{"nothing", "", watchdog.EngineUnknown, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := at(serve(t, answering(200, row.text))).counters(t.Context())
			if diff := cmp.Diff(row.want, c.Engines); diff != "" || c.Engine != row.engine {
				t.Errorf("engine %d, error %q\n%s", c.Engine, c.Err, diff)
			}
			if c.Outcome != watchdog.Answered || (row.want == nil) != (c.Err != "") {
				t.Errorf("got %+v", c.HTTP)
			}
		})
	}
}

func TestMetricsThatSayNothing(t *testing.T) {
	for _, row := range []struct {
		name string
		h    http.HandlerFunc
		want watchdog.Outcome
		err  string
	}{
		{"E12 404", answering(404, "vllm:prompt_tokens_total 5\n"), watchdog.Answered, ""},
		{"malformed", answering(200, "vllm:prompt_tokens_total five\n"), watchdog.Answered, "cannot read the metrics"},
		{"too many engines", func(w http.ResponseWriter, _ *http.Request) {
			for i := range maxEngines + 1 {
				io.WriteString(w, "vllm:prompt_tokens_total{engine=\""+strings.Repeat("x", i)+"\"} 1\n")
			}
		}, watchdog.Answered, "257 engine labels"},
		{"without end", func(w http.ResponseWriter, _ *http.Request) {
			line := []byte(strings.Repeat("x", 4095) + "\n")
			for {
				if _, err := w.Write(line); err != nil {
					return
				}
			}
		}, watchdog.Unreachable, "too long"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := at(serve(t, row.h)).counters(t.Context())
			if c.Outcome != row.want || !strings.Contains(c.Err, row.err) || c.Engines != nil || c.Engine != watchdog.EngineUnknown {
				t.Errorf("got %s %+v", outcomeNames[c.Outcome], c)
			}
		})
	}
}

func TestSift(t *testing.T) {
	const sample = "vllm:prompt_tokens_total 5\n"
	noise := "other{x=\"" + strings.Repeat("y", 3*maxLine) + "\"} 1\n"
	for _, row := range []struct {
		name string
		in   io.Reader
		want string
		err  error
	}{
		{"a long line of others", strings.NewReader(noise + sample), sample, nil},
		{"its end looks like a sample", strings.NewReader(strings.Repeat("z", maxLine) + sample), "", nil},
		{"a long line of ours", strings.NewReader("vllm:prompt_tokens_total{x=\"" + strings.Repeat("y", maxLine)), "", errTooLong},
		{"too many lines of ours", strings.NewReader(strings.Repeat(sample, maxSifted/len(sample)+1)), "", errTooLong},
		{"31 MiB of others", io.MultiReader(io.LimitReader(repeat("other 1\n"), 31<<20), strings.NewReader(sample)), sample, nil},
		{"33 MiB", io.LimitReader(repeat("other 1\n"), 33<<20), "", errTooLong},
		{"broken", io.MultiReader(strings.NewReader(sample), broken{}), "", io.ErrUnexpectedEOF},
	} {
		got, err := siftMetrics(row.in)
		if strings.TrimSpace(string(got)) != strings.TrimSpace(row.want) || !errors.Is(err, row.err) {
			t.Errorf("%s: got %.80q, %v", row.name, got, err)
		}
	}
}

// A large exposition must not cost memory: it is read in pieces.
func TestSiftAllocatesLittle(t *testing.T) {
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := siftMetrics(io.LimitReader(repeat("other_metric{a=\"b\"} 1\n"), 16<<20)); err != nil {
				b.Fatal(err)
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > 2*maxLine {
		t.Errorf("sifting 16 MiB allocates %d bytes", got)
	}
}

// repeat reads as its text, over and over.
func repeat(s string) io.Reader { return &repeater{s: []byte(s)} }

type repeater struct {
	s  []byte
	at int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.s[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.s)
	}
	return n, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func FuzzMetrics(f *testing.F) {
	files, _ := filepath.Glob("testdata/metrics/*.txt")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, body := range capturedBodies(f) {
		f.Add(body)
	}
	f.Add([]byte("vllm:prompt_tokens_total{engine=\"0\"} 4.879232e+06 1\nsglang:num_queue_reqs NaN"))
	f.Fuzz(func(t *testing.T, in []byte) {
		text, err := siftMetrics(bytes.NewReader(in))
		if err != nil {
			return
		}
		var c watchdog.Counters
		err = parseMetrics(&c, text)
		if err != nil && (c.Engines != nil || c.Asleep) {
			t.Error("an error and counters")
		}
		if len(c.Engines) > 0 && c.Engine == watchdog.EngineUnknown {
			t.Error("counters of nobody")
		}
		for _, e := range c.Engines {
			for _, v := range []float64{e.Iterations, e.Prompt, e.Generation, e.Running, e.Waiting} {
				if v != -1 && !(v >= 0 && v <= math.MaxFloat64) {
					t.Errorf("value %v", v)
				}
			}
		}
	})
}

func FuzzCompletion(f *testing.F) {
	for _, s := range []string{served, `{"choices":[]}`, `{"error":{"message":"x"}}`, `{"error":"Unauthorized"}`, `{"object":"error","message":"x"}`, "data: {\"error\":1}\n", `{"choices":[null],"usage":{"completion_tokens":1e99}}`, `{"detail":[{"msg":"x"}]}`} {
		f.Add([]byte(s))
	}
	for _, body := range capturedBodies(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var c watchdog.Canary
		parseCompletion(&c, in, "hush")
		checkClean(t, c.Error)
		checkClean(t, c.Finish)
		if c.Tokens < 0 || c.Choices < 0 {
			t.Errorf("got %+v", c)
		}
	})
}

func FuzzModels(f *testing.F) {
	for _, body := range capturedBodies(f) {
		f.Add(body)
	}
	f.Add([]byte(`{"data":[{"id":1},{"id":"m","parent":{}},null]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		name := parseModels(in)
		if name == "" {
			return
		}
		if !utf8.ValidString(name) {
			t.Errorf("a name that cannot be sent: %q", name)
		}
		checkClean(t, clean(name))
	})
}

// What says yes to one of the questions for sleep is an object with that field.
func FuzzYes(f *testing.F) {
	for _, body := range capturedBodies(f) {
		f.Add(body)
	}
	f.Add([]byte(`{"is_sleeping":"true"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if parseYes(in, "is_sleeping") && !bytes.Contains(in, []byte("true")) {
			t.Errorf("yes from %q", in)
		}
	})
}

// capturedBodies are the bodies of all captured answers.
func capturedBodies(t testing.TB) (all [][]byte) {
	files, err := filepath.Glob(filepath.Join(capturedHTTP, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captured answers: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := bytes.Cut(text, []byte("\n\n"))
		all = append(all, body)
	}
	return all
}
