package memcluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Conns are the connections of one process to the nodes. They are a restart.Remote.
type Conns struct {
	cluster *Cluster
	who     string
	open    []bool
	dialled []int
}

// Dial returns connections of that process; nothing is dialled before it is needed.
func (c *Cluster) Dial(who string) *Conns {
	return &Conns{cluster: c, who: who, open: make([]bool, len(c.nodes)), dialled: make([]int, len(c.nodes))}
}

// Handshakes returns how often the node was logged in to.
func (k *Conns) Handshakes(rank int) int { return k.dialled[rank] }

// LeaveAlone changes nothing: no node here refuses a key.
func (k *Conns) LeaveAlone(int, time.Duration) {}

// Close ends all connections.
func (k *Conns) Close() {}

// How long SSH waits, as in restart.DefaultLimits.
const (
	dialTime      = 5 * time.Second
	handshakeTime = 10 * time.Second
	retryTime     = 3 * time.Second
)

// Stream runs a script and passes on what it prints.
func (k *Conns) Stream(ctx context.Context, rank int, s scripts.Script, env map[string]string, w io.Writer) (restart.Result, error) {
	res, err := k.Run(ctx, rank, s, env)
	if err == nil {
		_, err = io.WriteString(w, res.Stdout)
	}
	return restart.Result{}, err
}

// Run runs a script on a node. When ctx ends before the script does, its outcome is unknown: by
// the lot it has died with its connection, or runs on and does what it was about to do.
func (k *Conns) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (restart.Result, error) {
	c := k.cluster
	n := c.nodes[rank]
	if failure := k.connect(ctx, n); failure != nil {
		return restart.Result{}, failure
	}
	fault := func(reach watchdog.Reach, unknown bool, err error) error {
		return &restart.NodeError{Node: n.name, Script: s.Name(), Reach: reach, Unknown: unknown, Err: err}
	}
	if c.options.Heard != nil {
		c.mu.Lock()
		c.options.Heard(s.Name(), rank)
		c.mu.Unlock()
	}
	hits := c.Faults.Call(s.Name(), rank)
	if slices.Contains(hits, clustertest.SSHDDropsEarly) {
		k.open[rank] = false
		return restart.Result{}, fault(watchdog.ReachDropped, true, errors.New("the connection broke"))
	}
	job := &job{Cluster: c, n: n, who: k.who, name: s.Name(), env: env, hits: hits}
	if err := sleep(ctx, c.takes(s.Name(), n)); err != nil {
		k.open[rank] = false
		if s.Class() > scripts.Check && c.lot("runs on", n)%2 == 0 {
			now, unlock := c.lock()
			c.later(now.Add(time.Second), func() { job.try(now.Add(time.Second)) })
			unlock()
		}
		return restart.Result{}, fault(watchdog.ReachTimeout, true, err)
	}
	res, err := job.run(ctx)
	if err != nil {
		k.open[rank] = false
		return restart.Result{}, fault(watchdog.ReachTimeout, true, err)
	}
	if slices.Contains(hits, clustertest.SSHDDrops) || c.away(n) {
		k.open[rank] = false
		return restart.Result{}, fault(watchdog.ReachDropped, true, errors.New("the connection broke"))
	}
	if res.Exit != 0 {
		return res, &restart.NodeError{Node: n.name, Script: s.Name(), Reach: watchdog.ReachOK, Exit: res.Exit, Stderr: res.Stderr}
	}
	return res, nil
}

// connect makes sure of a connection.
func (k *Conns) connect(ctx context.Context, n *node) error {
	c := k.cluster
	fault := func(reach watchdog.Reach, err error) error {
		return &restart.NodeError{Node: n.name, Reach: reach, Err: err}
	}
	switch {
	case c.away(n):
		k.open[n.rank] = false
		_ = sleep(ctx, dialTime+retryTime+dialTime)
		return fault(watchdog.ReachTimeout, errors.New("no answer"))
	case k.open[n.rank]:
		if ctx.Err() != nil {
			return fault(watchdog.ReachTimeout, ctx.Err())
		}
	case c.Faults.Refuses(n.rank):
		_ = sleep(ctx, retryTime)
		return fault(watchdog.ReachRefused, errors.New("connection refused"))
	case c.Faults.Silent(n.rank):
		_ = sleep(ctx, handshakeTime)
		return fault(watchdog.ReachNoBanner, errors.New("no banner"))
	}
	if !k.open[n.rank] {
		k.open[n.rank] = true
		k.dialled[n.rank]++
	}
	return nil
}

// away says whether no packet reaches the node.
func (c *Cluster) away(n *node) bool {
	_, unlock := c.lock()
	defer unlock()
	return n.cut || n.down
}

// takes is how long a script runs, in odd nanoseconds: no two nodes end at the same instant, so that
// all goroutines of a bubble run in one order.
func (c *Cluster) takes(script string, n *node) time.Duration {
	short, long := 20*time.Millisecond, 900*time.Millisecond
	if script == "launch/launch" || script == "destroy/remove" {
		short, long = 2*time.Second, 15*time.Second
	}
	return short + time.Duration(c.lot(script, n)%uint64(long-short))
}

// lot draws a number that is always the same for the same seed, time, step and node.
func (c *Cluster) lot(step string, n *node) uint64 {
	h := fnv.New64a()
	var key [16]byte
	binary.LittleEndian.PutUint64(key[:8], c.options.Seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(time.Now().UnixNano()))
	_, _ = h.Write(key[:])
	_, _ = fmt.Fprintf(h, "%s %d", step, n.rank)
	x := h.Sum64() // its low bits are poor
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// sleep lets time pass, or returns why it did not.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
