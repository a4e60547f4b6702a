package main

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

const hi = `{"prompt":"hi","max_tokens":1}`

// A glance is how long a client looks at what must hang. Too short a one can only hide a fault.
const glance = 50 * time.Millisecond

func TestBoot(t *testing.T) {
	c := newCluster(t, time.Hour)
	c.start(0, 1, 2)
	c.ranks[2].says("rank 2 in world size 4 is assigned")
	if got := c.ask("/health", "", patience); got != "no answer" {
		t.Errorf("a head that lacks a worker answers %q", got)
	}
	c.start(3)
	c.ranks[0].says("Application startup complete.")
	for _, r := range c.ranks {
		r.says("Loading weights took 0.0")
	}
	if got := c.ask("/v1/completions", hi, patience); !strings.HasPrefix(got, "200 OK") {
		t.Errorf("a completion: %s", got)
	}
}

func TestAloneItNeedsNobody(t *testing.T) {
	c := newCluster(t, 0)
	c.all.nodes = 1
	c.start(0)
	c.ranks[0].says("Application startup complete.")
}

func TestToldToStop(t *testing.T) {
	c := newCluster(t, time.Hour).boot()
	c.ranks[0].stop()
	c.exits(0, 0, 1, 2, 3)
	c.ranks[0].says("Application shutdown complete.")
	c.ranks[1].says("Parent process exited")
}

// E01 E03: the head does not notice, and then leaves with 0.
func TestWorkerDies(t *testing.T) {
	c := newCluster(t, 0).boot() // for ever
	before := c.ranks[0].said.String()
	c.fault(2, die)
	c.exits(1, 2)
	for c.ask("/v1/completions", hi, glance) != "no answer" {
	}
	metrics := c.ask("/metrics", "", patience)
	if got := c.ask("/health", "", patience); got != "200 OK " {
		t.Errorf("/health of a dying head: %q", got)
	}
	if got := c.ask("/v1/completions", hi, glance); got != "no answer" {
		t.Errorf("a completion of a dying head: %q", got)
	}
	if got := c.ask("/metrics", "", patience); of("iteration_tokens_total_count", got) != of("iteration_tokens_total_count", metrics) {
		t.Errorf("counters move on a dying head:\n%s", got)
	}
	if after := c.ranks[0].said.String(); after != before {
		t.Errorf("a dying head says %s", strings.TrimPrefix(after, before))
	}
	c.stays(0)
	c.stays(1)
}

func TestLinger(t *testing.T) {
	c := newCluster(t, time.Millisecond).boot()
	c.fault(3, shell)
	c.fault(2, die)
	c.exits(1, 2)
	c.exits(0, 0, 1)
	said := c.ranks[0].said.String()
	for _, line := range []string{"EngineCore encountered a fatal error.\n",
		"vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n",
		"Application shutdown complete.\n", "Finished server process ["} {
		_, rest, ok := strings.Cut(said, line)
		if !ok {
			t.Fatalf("no %q, or out of order, in\n%s", line, c.ranks[0].said)
		}
		said = rest
	}
	c.stays(3)
	c.ranks[3].stop()
	c.exits(0, 3)
}

// A worker started anew while the head is dying is lost to the next group too.
func TestJoinOfADyingHead(t *testing.T) {
	c := newCluster(t, 0).boot()
	c.ranks[2].stop()
	c.exits(0, 2)
	c.start(2)
	c.ranks[2].says("world_size=4 rank=2")
	c.ranks[0].stop()
	c.exits(0, 0, 1, 3)

	c.start(0, 1, 3)
	c.ranks[1].says("rank 1 in world size 4")
	c.ranks[3].says("rank 3 in world size 4")
	if answer := joinAs(t, c, 2); answer != welcome {
		t.Fatalf("the seat of the hanging worker: %q", answer)
	}
	c.stays(2)
	if said := c.ranks[2].said.String(); strings.Contains(said, "assigned") {
		t.Fatalf("it joined:\n%s", said)
	}

	for _, r := range c.ranks {
		r.stop()
	}
	c.exits(0, 0, 1, 2, 3)
	c.boot()
}

// Nobody takes a seat that is taken.
func TestJoinOfAFullGroup(t *testing.T) {
	c := newCluster(t, 0).boot()
	conn := dialHead(t, c)
	fmt.Fprintf(conn, join+"\n", 2, 4)
	conn.SetReadDeadline(time.Now().Add(glance))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		t.Errorf("a fifth rank is answered: %d bytes, %v", n, err)
	}
	if got := c.ask("/v1/completions", hi, patience); !strings.HasPrefix(got, "200 OK") {
		t.Errorf("and disturbs: %s", got)
	}
}

func TestPoisonEndsTheHead(t *testing.T) {
	c := newCluster(t, time.Millisecond)
	c.fault(0, poison)
	c.boot()
	c.ask("/v1/completions", `{"prompt":"POISON"}`, patience)
	c.exits(0, 0, 1, 2, 3)
	c.ranks[0].says("EngineDeadError")
}

// A crash in warm-up is an error of the head, and none of its workers.
func TestCrashInWarmup(t *testing.T) {
	for _, row := range []struct {
		rank, head int
		others     []int // who leaves with 0
	}{{0, 1, []int{1, 2, 3}}, {2, 1, []int{1, 3}}} {
		c := newCluster(t, time.Millisecond)
		c.fault(row.rank, crashWarmup)
		c.start(0, 1, 2, 3)
		c.ranks[row.rank].says("Loading weights took")
		c.ranks[row.rank].says("NVRM: Xid (PCI:000f:01:00): 31, ")
		if row.rank != 0 {
			c.exits(1, row.rank)
		}
		c.exits(row.head, 0)
		c.exits(0, row.others...)
		c.ranks[0].says("EngineCore failed to start.")
	}
}

// A group that loses a member before it is whole does not become whole by another start of it.
func TestLostBeforeWhole(t *testing.T) {
	c := newCluster(t, 0)
	c.start(0, 1, 2)
	c.ranks[1].says("is assigned")
	c.ranks[2].says("is assigned")
	c.ranks[2].stop()
	c.exits(0, 2)
	c.start(2, 3)
	c.ranks[2].says("world_size=4")
	c.ranks[3].says("world_size=4")
	c.stays(0)
	if got := c.ask("/health", "", patience); got != "no answer" {
		t.Errorf("a broken boot serves: %s", got)
	}
}

func TestEndsAtStart(t *testing.T) {
	for word, row := range map[string]struct {
		code int
		says string
	}{
		noMemory: {1, "ValueError: Free memory on device cuda:0 (109.53/121.69 GiB) on startup is less than desired GPU memory utilization (0.91, 110.74 GiB)"},
		die:      {1, "EngineCore encountered a fatal error."},
		"wedgd":  {2, `unknown fault "wedgd"`},
	} {
		for _, i := range []int{0, 1} {
			c := newCluster(t, 0)
			c.fault(i, word)
			c.start(i)
			c.exits(row.code, i)
			c.ranks[i].says(row.says)
		}
	}
}

func joinAs(t *testing.T, c *cluster, rank int) string {
	conn := dialHead(t, c)
	fmt.Fprintf(conn, join+"\n", rank, 4)
	line, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line)
}

func dialHead(t *testing.T, c *cluster) net.Conn {
	conn, err := net.Dial("tcp", c.all.meeting())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func isTimeout(err error) bool { e, ok := err.(net.Error); return ok && e.Timeout() }

// of picks a series from a page.
func of(name, page string) string {
	_, rest, _ := strings.Cut(page, "\nvllm:"+name+"{")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
