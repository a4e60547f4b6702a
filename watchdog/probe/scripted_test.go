package probe

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// capturedHTTP holds answers as such servers give them: a status line, headers, an empty line, the
// body. Header lines end in \n there, and have no length.
const capturedHTTP = "../../testdata/captured/http"

// script says what an engine answers, by "METHOD /path": one answer after the other, the last one
// again and again. An answer is the name of a captured one, or one of these:
//
//	!hang      nothing is said
//	!headers   headers come, and then nothing
//	!half      a body that ends before its length
//	!reset     the connection is reset
//
// Behind a captured answer with metrics may stand what is different in it: "metrics-vllm
// running=2 generation@1=20" has another value there, of engine 1 alone.
type script map[string][]string

// play runs a server by a script. It fails the test on what the script does not know.
func play(t *testing.T, s script) (base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := player{t: t, script: s, asked: map[string]int{}, ended: make(chan struct{})}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); close(p.ended); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				p.answer(c.(*net.TCPConn))
			})
		}
	})
	return "http://" + l.Addr().String()
}

type player struct {
	t      *testing.T
	script script
	ended  chan struct{}

	mu    sync.Mutex
	asked map[string]int
}

func (p *player) answer(c *net.TCPConn) {
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	const headers = "HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n"
	switch what := p.next(r.Method + " " + r.URL.Path); what {
	case "":
		return
	case "!hang":
		<-p.ended
	case "!headers":
		c.Write([]byte(headers))
		<-p.ended
	case "!half":
		c.Write([]byte(headers + `{"id":"cmpl-1","choices":[{"te`))
	case "!reset":
		reset(c)
	default:
		text, err := capturedAnswer(what)
		if err != nil {
			p.t.Error(err)
		}
		c.Write(text)
	}
}

func (p *player) next(question string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := p.script[question]
	if len(answers) == 0 {
		p.t.Errorf("the script has no answer to %s", question)
		return ""
	}
	n := p.asked[question]
	p.asked[question]++
	return answers[min(n, len(answers)-1)]
}

// capturedAnswer returns a captured answer as it goes over the wire.
func capturedAnswer(what string) ([]byte, error) {
	name, changes, _ := strings.Cut(what, " ")
	b, err := os.ReadFile(filepath.Join(capturedHTTP, name+".txt"))
	if err != nil {
		return nil, err
	}
	head, body, found := strings.Cut(string(b), "\n\n")
	if !found {
		return nil, fmt.Errorf("%s has no empty line behind its headers", name)
	}
	for change := range strings.FieldsSeq(changes) {
		if body, err = changed(body, change); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	if !strings.Contains(head, "text/event-stream") { // streams end with their connection
		head += fmt.Sprintf("\ncontent-length: %d", len(body))
	}
	return []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\nconnection: close\r\n\r\n" + body), nil
}

// metricsNamed are the metrics that a change may be about.
var metricsNamed = map[string]string{
	"running": `num_(?:requests_running|running_reqs)`, "waiting": `num_(?:requests_waiting|queue_reqs)`,
	"prompt": `prompt_tokens_total`, "generation": `generation_tokens_total`,
	"iterations": `(?:iteration_tokens_total_count|realtime_tokens_total)`, "offloaded": `engine_sleep_state\{[^}]*sleep_state="weights_offloaded"`,
}

func changed(body, change string) (string, error) {
	key, value, _ := strings.Cut(change, "=")
	key, engine, _ := strings.Cut(key, "@")
	name, known := metricsNamed[key]
	if !known {
		return "", fmt.Errorf("no metric is named %s", key)
	}
	if !strings.Contains(name, "{") {
		name += `\{[^}]*`
	}
	if engine != "" {
		name = strings.Replace(name, `\{`, `\{[^}]*engine="`+engine+`"`, 1)
	}
	re := regexp.MustCompile(`(?m)^(\w+[:_]` + name + `[^}]*\}) \S+$`)
	if !re.MatchString(body) {
		return "", fmt.Errorf("nothing to change for %s", change)
	}
	return re.ReplaceAllString(body, "${1} "+value), nil
}
