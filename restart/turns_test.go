package restart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// crowd lets nodes take their turns: hung ones wait for their deadline, the others work for a while.
type crowd struct {
	turns    *turns
	hung     func(rank int) bool
	works    time.Duration
	deadline time.Duration
	most     int
	done     []time.Duration // when each that is not hung was done; 0: never
}

func (c *crowd) run(nodes int) {
	began := time.Now()
	c.done = make([]time.Duration, nodes)
	ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
	defer cancel()
	var wait sync.WaitGroup
	var mu sync.Mutex
	at := 0
	for rank := range nodes {
		wait.Go(func() {
			turn := c.turns.one()
			if turn.begin(ctx) != nil {
				return
			}
			defer turn.end()
			if c.hung(rank) {
				turn.waits()
				<-ctx.Done()
				return
			}
			mu.Lock()
			at++
			c.most = max(c.most, at)
			mu.Unlock()
			time.Sleep(c.works)
			mu.Lock()
			at--
			mu.Unlock()
			c.done[rank] = time.Since(began)
		})
	}
	wait.Wait()
}

func TestTurnsBoundWhoWorks(t *testing.T) {
	for _, nodes := range []int{3, 32, 33, 256} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{turns: newTurns(32, time.Second), hung: func(int) bool { return false }, works: time.Second, deadline: time.Hour}
			c.run(nodes)
			if c.most != min(nodes, 32) {
				t.Errorf("%d of %d nodes at once", c.most, nodes)
			}
		})
	}
}

// Whatever hangs, and wherever in the list, each node that answers has its turn long before the 40 s
// of a look are over.
func TestHungNodesDoNotHoldUpTheOthers(t *testing.T) {
	for _, row := range []struct{ nodes, hung int }{{64, 40}, {64, 63}, {256, 40}, {256, 255}} {
		synctest.Test(t, func(t *testing.T) {
			c := &crowd{turns: newTurns(DefaultParallel, connectPatience), works: 50 * time.Millisecond, deadline: 40 * time.Second,
				hung: func(rank int) bool { return rank < row.hung }}
			c.run(row.nodes)
			for rank := row.hung; rank < row.nodes; rank++ {
				if d := c.done[rank]; d == 0 || d > 5*time.Second {
					t.Errorf("%d of %d hang: rank %d was done after %s", row.hung, row.nodes, rank, d)
				}
			}
		})
	}
}

// Who gave its turn away takes another before it works on; who kept it has only one.
func TestATurnIsTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newTurns(1, time.Second)
		one, other := all.one(), all.one()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := one.begin(ctx); err != nil {
			t.Fatal(err)
		}
		for range 3 { // short waits cost nothing
			one.waits()
			time.Sleep(time.Second / 2)
			if err := one.begin(ctx); err != nil || len(all.taken) != 1 {
				t.Fatalf("%v, %d taken", err, len(all.taken))
			}
		}
		time.Sleep(time.Minute / 2) // at work for long: it is still its own
		if len(all.taken) != 1 {
			t.Fatal("given away at work")
		}
		one.waits()
		time.Sleep(2 * time.Second)
		if err := other.begin(ctx); err != nil {
			t.Fatalf("the other waits for ever: %v", err)
		}
		if err := one.begin(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two work at once: %v", err)
		}
		other.end()
		one.end()
		other.end()
		if len(all.taken) != 0 {
			t.Errorf("%d turns are lost", len(all.taken))
		}
	})
}

func TestNoBound(t *testing.T) {
	one := newTurns(0, time.Second).one()
	if err := one.begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	one.waits()
	one.end()
}

// Nobody is dialled out of turn, whatever asks for it; and the turn ends with the handshake.
func TestConnectingTakesATurn(t *testing.T) {
	f := sshNewFixture(t)
	f.limits.Parallel = 1
	c := f.start(t)
	busy := c.turns.one()
	if err := busy.begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Run(ctx, 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachTimeout, "ssh.parallel")
	if f.server.accepted() != 0 || c.Handshakes(0) != 0 {
		t.Errorf("%d connections out of turn", f.server.accepted())
	}
	busy.end()
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
	if len(c.turns.taken) != 0 {
		t.Errorf("%d turns are held by connections", len(c.turns.taken))
	}
}

// streamer is a Remote whose logs come in parts, with a pause before each.
type streamer struct {
	Remote
	pause func(rank, part int) time.Duration
	at    atomic.Int32
	most  atomic.Int32
}

func (s *streamer) Stream(ctx context.Context, rank int, _ scripts.Script, _ map[string]string, w io.Writer) (Result, error) {
	s.most.Store(max(s.most.Load(), s.at.Add(1)))
	defer s.at.Add(-1)
	for part := range 4 {
		select {
		case <-time.After(s.pause(rank, part)):
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
		if _, err := w.Write(bytes.Repeat([]byte("a line of a log\n"), 64)); err != nil {
			return Result{}, err
		}
	}
	return Result{}, nil
}

// Logs are copied so many at a time, since each costs memory, a file and perhaps a thread here; and
// nodes that hang cost the others nothing but a moment.
func TestLogsAreCopiedInTurns(t *testing.T) {
	const nodes = 64
	for _, row := range []struct{ hung, from int }{{0, 0}, {40, 0}, {40, 2}} {
		hung := row.hung
		t.Run(fmt.Sprintf("%d hang from part %d", hung, row.from), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := rackSettings(t, nodes)
				set.Parallel = 8
				r := newRack(t, set)
				s := &streamer{Remote: r, pause: func(rank, part int) time.Duration {
					if rank < hung && part >= row.from {
						return time.Hour
					}
					return 100 * time.Millisecond
				}}
				p, err := NewPlan(set, Steps())
				if err != nil {
					t.Fatal(err)
				}
				runner := NewRunner(p, s, r.world())
				runner.Preserve(context.Background(), 1, r.boxes)
				if hung == 0 && s.most.Load() != 8 {
					t.Errorf("%d logs at once", s.most.Load())
				}
				if got := len(preserved(t, set)); got != 2*(nodes-hung) {
					t.Errorf("%d files of %d nodes", got, nodes-hung)
				}
			})
		})
	}
}

// slowWriter takes its time for each part, and knows how many are at it at once.
type slowWriter struct{ at, most *atomic.Int32 }

func (s slowWriter) Write(p []byte) (int, error) {
	s.most.Store(max(s.most.Load(), s.at.Add(1)))
	defer s.at.Add(-1)
	time.Sleep(3 * copyPatience) // a full disk cache
	return len(p), nil
}

// However many logs come again after a pause, only so many are worked on.
func TestLogsThatComeAgainTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newTurns(2, copyPatience)
		var at, most atomic.Int32
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				turn := all.one()
				defer turn.end()
				w := &inTurn{context.Background(), turn, slowWriter{&at, &most}}
				for range 3 {
					time.Sleep(2 * copyPatience)
					if _, err := w.Write([]byte("a line\n")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if most.Load() != 2 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

// A node that accepts and never greets keeps its turn for a moment only.
func TestASilentNodeGivesItsTurnAway(t *testing.T) {
	silent, well := sshNewFixture(t), sshNewFixture(t)
	accepted, over := make(chan struct{}), make(chan struct{})
	silent.server.greet = func(net.Conn) bool {
		close(accepted)
		<-over
		return false
	}
	silent.server.start()
	well.server.start()
	c := NewConns([]Target{silent.target, well.target}, Limits{Dial: time.Hour, Handshake: time.Hour, RetryUntil: time.Hour, Parallel: 1})
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { c.Run(ctx, 0, sshShellScript(), nil) })
	<-accepted
	patient, done := context.WithTimeout(context.Background(), 10*time.Second)
	defer done()
	if _, err := c.Run(patient, 1, sshShellScript(), nil); err != nil {
		t.Error(err)
	}
	close(over)
	cancel()
	wait.Wait()
	c.Close()
}
