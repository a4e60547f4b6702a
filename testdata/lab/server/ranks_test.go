package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come; it never decides what is right.
const patience = 20 * time.Second

// cluster is a group of ranks in this process, on loopback.
type cluster struct {
	t     *testing.T
	all   options
	ranks []*rank // the newest of each
}

// rank is one server of it.
type rank struct {
	t    *testing.T
	lab  string
	said *lines
	stop context.CancelFunc
	code chan int
}

func newCluster(t *testing.T, linger time.Duration) *cluster {
	c := &cluster{t: t, ranks: make([]*rank, 4), all: options{nodes: 4, master: home(), rendezvousPort: freePort(t),
		host: home(), port: freePort(t), model: "fake/model", linger: linger}}
	for i := range c.ranks {
		c.ranks[i] = &rank{t: t, lab: t.TempDir(), stop: func() {}}
	}
	return c
}

// start starts ranks; a rank keeps its folder.
func (c *cluster) start(ranks ...int) {
	for _, i := range ranks {
		ctx, stop := context.WithCancel(context.Background())
		r := &rank{t: c.t, lab: c.ranks[i].lab, said: &lines{news: make(chan struct{})}, stop: stop, code: make(chan int, 1)}
		c.ranks[i] = r
		s := &server{options: c.all, log: newLog(r.said, r.said, time.Now),
			pace: pace{poll: time.Millisecond, dial: time.Second, redial: time.Millisecond, keepAlive: time.Second, heartbeat: time.Minute}}
		s.rank, s.lab = i, r.lab
		over := make(chan struct{})
		go func() { defer close(over); r.code <- s.run(ctx) }()
		c.t.Cleanup(func() { stop(); <-over })
	}
}

func (c *cluster) boot() *cluster {
	c.t.Helper()
	c.start(1, 2, 3, 0)
	c.ranks[0].says("Application startup complete.")
	return c
}

// fault writes the word for a rank.
func (c *cluster) fault(i int, word string) {
	if err := os.WriteFile(filepath.Join(c.ranks[i].lab, "fault"), []byte(word+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// ask asks the head; a client that is to be left hanging says for how long it looks at that.
func (c *cluster) ask(path, body string, within time.Duration) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, _ := http.NewRequestWithContext(ctx, method, "http://"+net.JoinHostPort(home(), strconv.Itoa(c.all.port))+path, strings.NewReader(body))
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return "no answer"
	}
	defer w.Body.Close()
	all, _ := io.ReadAll(w.Body)
	return w.Status + " " + string(all)
}

func (c *cluster) exits(want int, ranks ...int) {
	c.t.Helper()
	for _, i := range ranks {
		select {
		case got := <-c.ranks[i].code:
			if got != want {
				c.t.Fatalf("rank %d exits with %d, want %d; it said\n%s", i, got, want, c.ranks[i].said)
			}
		case <-time.After(patience):
			c.t.Fatalf("rank %d does not exit; it said\n%s", i, c.ranks[i].said)
		}
	}
}

// stays fails if a rank has ended.
func (c *cluster) stays(i int) {
	c.t.Helper()
	if len(c.ranks[i].code) > 0 {
		c.t.Fatalf("rank %d ended; it said\n%s", i, c.ranks[i].said)
	}
}

// says waits until a rank has said something.
func (r *rank) says(want string) {
	r.t.Helper()
	for late := time.After(patience); ; {
		text, news := r.said.now()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-news:
		case <-late:
			r.t.Fatalf("it does not say %q but\n%s", want, text)
		}
	}
}

// lines keep what was written, and tell who waits for it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	news chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.news)
	l.news = make(chan struct{})
	return l.text.Write(p)
}

func (l *lines) now() (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), l.news
}

func (l *lines) String() string { text, _ := l.now(); return text }

// home is a loopback address of this process alone: a port that is free there stays free, since what
// others listen on and dial from is elsewhere.
func home() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.77.%d.%d", pid>>8&255, pid&255)
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", home()+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
