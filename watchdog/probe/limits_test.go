package probe

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

// dripping says s over and over, a little at a time, until the other end has had enough.
func dripping(first, s string) func(int32, *net.TCPConn) {
	return func(_ int32, c *net.TCPConn) {
		_, err := c.Write([]byte(first))
		for err == nil {
			time.Sleep(5 * time.Millisecond) // slow, and never too slow for one read
			_, err = c.Write([]byte(s))
		}
	}
}

// Whatever trickles in, each question ends with its deadline.
func TestDrippingAnswersEnd(t *testing.T) {
	const headers = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, serve := range map[string]func(int32, *net.TCPConn){
		"a body":           dripping(headers, "1\r\nx\r\n"),
		"lines of metrics": dripping(headers, "8\r\nother 1\n\r\n"),
		"a stream of ours": dripping(headers, "10\r\ndata: {\"a\":\"b\"}\n\r\n"),
		"headers":          dripping("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"),
		"early hints":      dripping("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
		"a status line":    dripping("HTTP/1.1 200 ", "O"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := listen(t, serve)
			p := at(base, func(c *Config) { c.Models, c.Counters, c.Canary, c.Health = short, short, short, short })
			for question, h := range map[string]watchdog.HTTP{
				"health": p.health(t.Context()), "models": p.firstModel(t.Context(), key{}).HTTP,
				"counters": p.counters(t.Context()).HTTP, "canary": p.canary(t.Context(), key{}, "m").HTTP,
			} {
				if h.Outcome == watchdog.Answered || h.Outcome == watchdog.NotAsked {
					t.Errorf("%s: %s %+v", question, outcomeNames[h.Outcome], h)
				}
			}
			if s := p.sleep(t.Context()); s != watchdog.SleepUnknown {
				t.Errorf("sleep %d", s)
			}
		})
	}
}

// A look at a server that drips everywhere takes as long as the look may take, and no longer.
func TestLookEndsWhenAllDrips(t *testing.T) {
	base, _ := listen(t, dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"))
	drip := fakeNodes(func(ctx context.Context, _ int, _ map[string]string) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	o := New(Config{BaseURL: base, Model: "m", Look: short, Nodes: []string{"n0"}}, drip).Look(t.Context(), Questions{})
	if o.Health.Outcome != watchdog.Unanswered || o.Before.Outcome != watchdog.Unanswered || o.Canary.Outcome == watchdog.Answered {
		t.Errorf("got %+v", o)
	}
}

// allocated returns how much f allocates, the servers of this process included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// 20 MB of metrics pass through in pieces.
func TestLargeMetricsPassThrough(t *testing.T) {
	line := bytes.Repeat([]byte("vllm:other_metric_bucket{engine=\"0\",le=\"0.5\",model_name=\"m\"} 12345.0\n"), 1000)
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 20_000_000 / len(line) {
			w.Write(line)
		}
		io.WriteString(w, "vllm:generation_tokens_total{engine=\"0\"} 5\n")
	})
	p := at(base)
	var c watchdog.Counters
	p.counters(t.Context()) // what is allocated once
	if n := allocated(func() { c = p.counters(t.Context()) }); n > 2<<20 {
		t.Errorf("20 MB of metrics allocate %d bytes", n)
	}
	if len(c.Engines) != 1 || c.Engines[0].Generation != 5 {
		t.Errorf("got %+v", c)
	}
}

// What is compressed though nobody asked for that is not opened: it may be a bomb.
func TestNothingIsDecompressed(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(bytes.Repeat([]byte{' '}, 64<<20))
	z.Close()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if e := r.Header.Get("Accept-Encoding"); e != "" {
			t.Errorf("asks for %s", e)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb.Bytes())
	})
	p := at(base)
	var c watchdog.Canary
	var m watchdog.Counters
	if n := allocated(func() { c, m = p.canary(t.Context(), key{}, "m"), p.counters(t.Context()) }); n > 2<<20 {
		t.Errorf("%d bytes allocated", n)
	}
	if c.Outcome != watchdog.Unreachable || c.Fault != watchdog.FaultEncoding || m.Outcome != watchdog.Unreachable {
		t.Errorf("got %+v, %+v", c, m)
	}
}

// The API key does not follow a redirect, whatever is asked.
func TestKeyStaysWhereItBelongs(t *testing.T) {
	elsewhere, count := listen(t, say("", hangUp))
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		base, _ := listen(t, say("HTTP/1.1 "+status+" Moved\r\nLocation: "+elsewhere+"\r\nContent-Length: 0\r\n\r\n", hangUp))
		p := at(base)
		k := key{secret: "hush"}
		c, m := p.canary(t.Context(), k, "m"), p.firstModel(t.Context(), k)
		if strings.Contains(c.Error+c.Err+m.Err, "hush") || count.Load() != 0 || c.Status/100 != 3 || m.Status/100 != 3 {
			t.Errorf("%s: %d questions elsewhere; %+v %+v", status, count.Load(), c, m)
		}
	}
}
