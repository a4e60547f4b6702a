package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cluster-watchdog/watchdog"
)

func TestOutcome(t *testing.T) {
	raw := func(f func(int32, *net.TCPConn)) string {
		base, _ := listen(t, f)
		return base
	}
	const headers = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
	for _, row := range []struct {
		name  string
		base  string
		limit time.Duration
		want  watchdog.Outcome
		words string
	}{
		{"whole answer", serve(t, answering(200, "ok")), long, watchdog.Answered, ""},
		{"an error is an answer too", serve(t, answering(503, "")), long, watchdog.Answered, ""},
		{"closed without length is whole", raw(say("HTTP/1.0 200 OK\r\n\r\nhalf", hangUp)), long, watchdog.Answered, ""},
		{"nobody listens, with a password", strings.Replace(closedPort(t), "//", "//user:hush@", 1), long, watchdog.Refused, "connection refused"},
		{"nobody listens", closedPort(t), long, watchdog.Refused, "connection refused"},
		{"accept queue is full", fullPort(t), short, watchdog.ConnectTimeout, "no connection within"},
		{"silence", raw(say("", hold)), short, watchdog.Unanswered, "no answer within"},
		{"headers, then silence E17", raw(say(headers, hold)), short, watchdog.Unanswered, "no whole answer within"},
		{"half a body, then silence", raw(say(headers+`{"cho`, hold)), short, watchdog.Unanswered, "no whole answer within"},
		{"half a body, then closed", raw(say(headers+`{"cho`, hangUp)), long, watchdog.Dropped, "EOF"},
		{"half a chunked body, then closed", raw(say(chunked, hangUp)), long, watchdog.Dropped, "EOF"},
		{"half a body, then reset", raw(say(chunked, reset)), long, watchdog.Dropped, ""},
		{"closed without a byte", raw(say("", hangUp)), long, watchdog.Dropped, "EOF"},
		{"reset without a byte", raw(say("", reset)), long, watchdog.Dropped, "reset"},
		{"half of the headers, then closed", raw(say("HTTP/1.1 200 OK\r\nServer: x\r\n", hangUp)), long, watchdog.Dropped, "EOF"},
		{"not HTTP", raw(say("SSH-2.0-OpenSSH_9.6\r\n", hold)), long, watchdog.Unreachable, "malformed"},
		{"broken chunks", raw(say(chunked+"zz\r\n", hold)), long, watchdog.Unreachable, ""},
		{"not TLS", strings.Replace(serve(t, answering(200, "")), "http:", "https:", 1), long, watchdog.Unreachable, "server gave HTTP response"},
		{"TLS without end", strings.Replace(raw(say("", hold)), "http:", "https:", 1), short, watchdog.Unanswered, "no answer within"},
		{"endless body", raw(say("HTTP/1.0 200 OK\r\n\r\n"+strings.Repeat("x", maxBody+1), hold)), long, watchdog.Unreachable, "too long"},
		{"endless headers", raw(say("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("x", 2*maxHeaders), hold)), long, watchdog.Unreachable, "exceeded"},
		{"no such scheme", "gopher://127.0.0.1:1", long, watchdog.Unreachable, "unsupported protocol scheme"},
		{"no host", "http://", long, watchdog.Unreachable, "no Host"},
		{"not a URL", "http://u:hush/hush@127.0.0.1", long, watchdog.Unreachable, "not a URL"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h := at(row.base, func(c *Config) { c.Health = row.limit }).health(t.Context())
			if h.Outcome != row.want || !strings.Contains(h.Err, row.words) {
				t.Fatalf("got %s %q, want %s %q", outcomeNames[h.Outcome], h.Err, outcomeNames[row.want], row.words)
			}
			if (h.Outcome == watchdog.Answered) != (h.Err == "") || (h.Outcome == watchdog.Answered) != (h.Status != 0) {
				t.Errorf("an answer has a status and no error, anything else the reverse: %+v", h)
			}
			if strings.Contains(h.Err, "hush") || strings.Contains(h.Err, "/health") {
				t.Errorf("a password or an address shows in %q", h.Err)
			}
		})
	}
}

// What no loopback server can do.
func TestOutcomeOfAnError(t *testing.T) {
	fresh := func() *stage { return new(stage) }
	connected := func() *stage { s := new(stage); s.connected.Store(true); return s }
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, row := range []struct {
		name string
		s    *stage
		err  error
		want watchdog.Outcome
	}{
		{"no such name", fresh(), dial(&net.DNSError{Err: "no such host", Name: "head", IsNotFound: true}), watchdog.Unreachable},
		{"name server is silent", fresh(), dial(&net.DNSError{Err: "i/o timeout", Name: "head", IsTimeout: true}), watchdog.Unreachable},
		{"no route", fresh(), dial(unix.EHOSTUNREACH), watchdog.Unreachable},
		{"no network", fresh(), dial(unix.ENETUNREACH), watchdog.Unreachable},
		{"the kernel gave up connecting", fresh(), dial(unix.ETIMEDOUT), watchdog.ConnectTimeout},
		{"reset while connecting", fresh(), dial(unix.ECONNRESET), watchdog.Dropped},
		{"no file descriptors", fresh(), dial(unix.EMFILE), watchdog.Unreachable},
		{"the host went away", connected(), &net.OpError{Op: "read", Err: unix.ETIMEDOUT}, watchdog.Unanswered},
		{"closed before the request was out", connected(), errors.New("http: server closed idle connection"), watchdog.Dropped},
		{"pipe", connected(), unix.EPIPE, watchdog.Dropped},
		{"short body", connected(), fmt.Errorf("read: %w", io.ErrUnexpectedEOF), watchdog.Dropped},
	} {
		if got := row.s.outcome(t.Context(), row.err); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, outcomeNames[got], outcomeNames[row.want])
		}
	}
}

func TestWordsHoldNoSecrets(t *testing.T) {
	p := New(Config{BaseURL: "http://u:pw-one@h", MetricsURL: "http://u:pw-two@h/metrics"}, noNodes{})
	got := p.words(answer{HTTP: watchdog.HTTP{Outcome: watchdog.Dropped}}, errors.New("pw-one, pw-two, hush"), key{secret: "hush"})
	if got != "[redacted], [redacted], [redacted]" {
		t.Errorf("got %q", got)
	}
}

// An end that is not a deadline of ours says nothing about whom we asked.
func TestCutShortIsNotAnAnswer(t *testing.T) {
	base, count := listen(t, say("", hold))
	for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
		"canceled":               func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
		"the caller out of time": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), short) },
	} {
		ctx, cancel := ctx()
		before := count.Load()
		if name == "canceled" {
			go func() {
				for count.Load() == before {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
		}
		h := at(base).health(ctx)
		cancel()
		if h.Outcome != watchdog.NotAsked || h.Err == "" {
			t.Errorf("%s: got %s %q", name, outcomeNames[h.Outcome], h.Err)
		}
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere, count := listen(t, say("", hangUp))
	base, _ := listen(t, say("HTTP/1.1 302 Found\r\nLocation: "+elsewhere+"\r\nContent-Length: 0\r\n\r\n", hangUp))
	if h := at(base).health(t.Context()); h.Status != 302 || count.Load() != 0 {
		t.Errorf("got %+v, %d requests elsewhere", h, count.Load())
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	proxy, count := listen(t, say("", hangUp))
	t.Setenv("HTTP_PROXY", proxy)
	// net/http never takes a proxy for loopback, so the client itself is looked at.
	if tr := transportOf(at("http://127.0.0.1:1")); tr.Proxy != nil || !tr.DisableKeepAlives || !tr.DisableCompression {
		t.Errorf("transport has proxy, keep-alive or compression; %d requests", count.Load())
	}
}

func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return "http://" + l.Addr().String()
}

// fullPort returns a port whose accept queue is full.
func fullPort(t *testing.T) string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	for range 8 {
		c, err := net.DialTimeout("tcp", address, short)
		if err != nil {
			return "http://" + address
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this kernel's accept queue takes all")
	return ""
}
