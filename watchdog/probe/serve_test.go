package probe

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// short is a deadline for what must run into it, long one for what must not.
const (
	short = 150 * time.Millisecond
	long  = 20 * time.Second
)

// at returns a Prober of that API, with deadlines that are not met.
func at(base string, change ...func(*Config)) *Prober {
	c := Config{BaseURL: base, Look: long, Models: long, Counters: long, Canary: long, Health: long, Ranks: long}
	for _, f := range change {
		f(&c)
	}
	return New(c, noNodes{})
}

// serve runs an HTTP server for one test.
func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answering returns a handler that gives one answer.
func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

// listen runs a TCP server that treats each connection with f, which gets its number from 1, after
// the request's headers have come. The connection is closed after f.
func listen(t testing.TB, f func(n int32, c *net.TCPConn)) (base string, count *atomic.Int32) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	count = new(atomic.Int32)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			c, err := l.AcceptTCP()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			n := count.Add(1)
			go func() {
				defer c.Close()
				http.ReadRequest(bufio.NewReader(c))
				f(n, c)
			}()
		}
	}()
	return "http://" + l.Addr().String(), count
}

// hold keeps the connection open until the other end closes it.
func hold(c *net.TCPConn) { c.Read(make([]byte, 1)) }

// reset breaks the connection with an RST.
func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

// say returns what a raw server does: it writes s, then does the rest.
func say(s string, then func(*net.TCPConn)) func(int32, *net.TCPConn) {
	return func(_ int32, c *net.TCPConn) {
		c.Write([]byte(s))
		then(c)
	}
}

func hangUp(*net.TCPConn) {}

// noNodes fails on every question.
type noNodes struct{}

func (noNodes) Ask(context.Context, int, scripts.Script, map[string]string) (string, error) {
	return "", errors.New("no node is asked in this test")
}

func transportOf(p *Prober) *http.Transport { return p.client.Transport.(*http.Transport) }

const served = `{"choices":[{"index":0,"text":"!","finish_reason":"length"}],"usage":{"completion_tokens":1}}`

var _ Nodes = noNodes{}

// outcomeNames are for messages.
var outcomeNames = map[watchdog.Outcome]string{
	watchdog.NotAsked: "NotAsked", watchdog.Answered: "Answered", watchdog.Refused: "Refused",
	watchdog.ConnectTimeout: "ConnectTimeout", watchdog.Unanswered: "Unanswered",
	watchdog.Dropped: "Dropped", watchdog.Unreachable: "Unreachable",
}
