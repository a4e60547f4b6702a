// Package memcluster is a simulated cluster in memory: Docker, the nodes and the inference server as
// far as a watchdog can see and touch them, with the faults of package clustertest. It sleeps where
// the real thing takes time, so it belongs into a testing/synctest bubble: there a day is over in
// milliseconds, every deadline is real, and the same seed gives the same run.
package memcluster

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/watchdog"
)

// Options say what to make.
type Options struct {
	Nodes     int
	Seed      uint64
	Boot      func(n int) time.Duration     // from the youngest start until the n-th world serves; nil: at once
	HeadExits time.Duration                 // from a rank's death until the head closes with code 0; 0: never
	Broken    clustertest.EngineMode        // how the server behaves while a rank is dead; "": it hangs
	Policy    string                        // Docker's restart policy of every container; "": none
	Log       func(string)                  // hears what happens; may be nil
	Heard     func(script string, rank int) // hears each script that a node is given, one at a time; may be nil
}

// Cluster is a simulated cluster. It is safe for use by several goroutines.
type Cluster struct {
	Faults *clustertest.Table

	options Options
	mu      sync.Mutex
	nodes   []*node
	world   world
	worlds  int // formed so far
	pending []pending
	unknown []string
}

// node is one host.
type node struct {
	name    string
	rank    int
	box     *container // holds the name of the group's container
	made    int        // containers so far
	events  []watchdog.Event
	cut     bool          // no packet comes through
	down    bool          // it does not run at all
	offset  time.Duration // of its clock
	noisy   bool          // so many events of others that Docker forgets ours
	flusher time.Time     // until when one of ours runs
	freed   time.Time     // when the memory of the last container is back
	listens []int         // ports that somebody else holds
	claims  []claim
}

// pending is something that will happen by itself.
type pending struct {
	at time.Time
	do func()
}

// New returns a cluster in which nothing runs yet.
func New(o Options) *Cluster {
	c := &Cluster{options: o, Faults: clustertest.NewTable(o.Seed, o.Nodes)}
	for rank := range o.Nodes {
		c.nodes = append(c.nodes, &node{name: fmt.Sprintf("n%d", rank+1), rank: rank})
	}
	return c
}

// Unknown returns what was asked and nobody here knows. A test should end with none.
func (c *Cluster) Unknown() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.unknown)
}

// lock brings the cluster up to now and holds it.
func (c *Cluster) lock() (now time.Time, unlock func()) {
	c.mu.Lock()
	now = time.Now()
	for {
		i := -1
		for j, p := range c.pending {
			if !p.at.After(now) && (i < 0 || p.at.Before(c.pending[i].at)) {
				i = j
			}
		}
		if i < 0 {
			return now, c.mu.Unlock
		}
		p := c.pending[i]
		c.pending = slices.Delete(c.pending, i, i+1)
		p.do()
	}
}

// later lets something happen by itself.
func (c *Cluster) later(at time.Time, do func()) {
	c.pending = append(c.pending, pending{at, do})
}

func (c *Cluster) log(at time.Time, format string, args ...any) {
	if c.options.Log != nil {
		c.options.Log(at.UTC().Format(time.DateTime) + " " + fmt.Sprintf(format, args...))
	}
}
