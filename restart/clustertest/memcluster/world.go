package memcluster

import (
	"time"

	"cluster-watchdog/restart/clustertest"
)

// world is the group as its head sees it. One forms when every rank runs that has not been in one
// yet: a head that is started alone waits for ever for workers that still hold on to a dead group.
type world struct {
	head   string // the id of the head's container; "" when it does not run
	formed time.Time
	ready  time.Time // when its boot is over
	broken time.Time // when the first of its ranks ended
	paused bool
	mode   clustertest.EngineMode

	busy       bool // others ask too
	moved      time.Time
	iterations float64
}

// started takes in that a rank runs.
func (c *Cluster) started(n *node, at time.Time) {
	n.box.joined = false
	if n.rank == 0 {
		c.world = world{head: n.box.id, mode: clustertest.Serve}
	}
	for _, other := range c.nodes {
		if other.box == nil || other.box.status != "running" || other.box.joined {
			return
		}
	}
	if c.world.head == "" {
		return
	}
	for _, other := range c.nodes {
		other.box.joined = true
	}
	c.worlds++
	c.world.formed, c.world.ready, c.world.broken = at, at, time.Time{}
	if c.options.Boot != nil {
		c.world.ready = at.Add(c.options.Boot(c.worlds))
	}
	c.world.moved = c.world.ready
	c.log(at, "world %d formed, ready after %s", c.worlds, c.world.ready.Sub(at))
}

// ended takes in that a rank does not run any more.
func (c *Cluster) ended(n *node, at time.Time) {
	head := c.world.head
	if n.rank == 0 {
		c.count(at)
		c.world = world{}
		return
	}
	if head == "" || !n.box.joined || c.world.formed.IsZero() || !c.world.broken.IsZero() {
		return
	}
	c.count(at)
	c.world.broken = at
	if after := c.options.HeadExits; after > 0 {
		c.later(at.Add(after), func() {
			if box := c.nodes[0].box; box != nil && box.id == head && box.status == "running" && c.world.head == head && !c.world.broken.IsZero() {
				c.die(c.nodes[0], 0, at.Add(after))
			}
		})
	}
}

// listening says whether the head's API can be connected to: only a world whose ranks all lived
// through its boot gets there.
func (c *Cluster) listening(now time.Time) bool {
	w := c.world
	return w.head != "" && !w.formed.IsZero() && !now.Before(w.ready) && (w.broken.IsZero() || w.broken.After(w.ready))
}

// mode is how the server behaves now.
func (c *Cluster) mode() clustertest.EngineMode {
	switch {
	case c.world.paused:
		return clustertest.Hang
	case c.world.broken.IsZero():
		return c.world.mode
	case c.options.Broken != "":
		return c.options.Broken
	default:
		return clustertest.Hang
	}
}

// count brings the engine's counters up to now.
func (c *Cluster) count(now time.Time) {
	w := &c.world
	if w.formed.IsZero() || now.Before(w.moved) {
		return
	}
	const rate = 50 // iterations a second
	if m := c.mode(); m == clustertest.Busy || (m == clustertest.Serve && w.busy) {
		w.iterations += now.Sub(w.moved).Seconds() * rate
	}
	w.moved = now
}

// Serving says whether a client is answered now.
func (c *Cluster) Serving() bool {
	now, unlock := c.lock()
	defer unlock()
	return c.listening(now) && c.mode() == clustertest.Serve
}

// Well says whether nothing is wrong with the group: all its ranks run in one world that loads,
// serves or is busy.
func (c *Cluster) Well() bool {
	_, unlock := c.lock()
	defer unlock()
	w := c.world
	m := c.mode()
	return w.head != "" && !w.formed.IsZero() && w.broken.IsZero() && (m == clustertest.Serve || m == clustertest.Busy)
}

// Loading says for how long the present world has loaded; 0: it does not load.
func (c *Cluster) Loading() time.Duration {
	now, unlock := c.lock()
	defer unlock()
	if w := c.world; !w.formed.IsZero() && now.Before(w.ready) {
		return now.Sub(w.formed)
	}
	return 0
}
