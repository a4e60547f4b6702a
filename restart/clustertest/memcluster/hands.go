package memcluster

import (
	"slices"
	"time"

	"cluster-watchdog/restart/clustertest"
)

// on does something on one node, as whatever or whoever is not the watchdog.
func (c *Cluster) on(rank int, what string, do func(n *node, now time.Time)) {
	now, unlock := c.lock()
	defer unlock()
	n := c.nodes[rank]
	c.log(now, "%s: %s", n.name, what)
	do(n, now)
}

// onBox is on, where the node runs and has a container of the name.
func (c *Cluster) onBox(rank int, what string, do func(n *node, now time.Time)) {
	c.on(rank, what, func(n *node, now time.Time) {
		if n.box != nil && !n.down {
			do(n, now)
		}
	})
}

// Crash ends the process of a rank by itself.
func (c *Cluster) Crash(rank, code int) {
	c.onBox(rank, "crash", func(n *node, now time.Time) {
		if n.box.status == "running" {
			c.crash(n, code, now)
		}
	})
}

// PersonStop is docker stop by a person. It returns whether the rank ran.
func (c *Cluster) PersonStop(rank int) (ran bool) {
	c.onBox(rank, "a person stops", func(n *node, now time.Time) {
		ran = n.box.status == "running"
		c.stop(n, now)
	})
	return ran
}

// PersonRemove is docker rm -f by a person. It returns whether the rank ran.
func (c *Cluster) PersonRemove(rank int) (ran bool) {
	c.onBox(rank, "a person removes", func(n *node, now time.Time) {
		ran = n.box.status == "running"
		c.remove(n, now)
	})
	return ran
}

// PersonStart starts a rank in a new container, in place of one that may stand there.
func (c *Cluster) PersonStart(rank int) {
	c.on(rank, "a person starts", func(n *node, now time.Time) {
		if n.down {
			return
		}
		if n.box != nil {
			c.remove(n, now)
		}
		c.create(n, "a person", now)
		c.start(n, now)
	})
}

// PersonRestart is docker restart by a person: the same container, a new start.
func (c *Cluster) PersonRestart(rank int) {
	c.onBox(rank, "a person restarts", func(n *node, now time.Time) {
		c.stop(n, now)
		n.box.count = 0
		c.start(n, now)
	})
}

// Pause freezes a rank, or lets it go on.
func (c *Cluster) Pause(rank int, on bool) {
	c.onBox(rank, "a person pauses or unpauses", func(n *node, now time.Time) {
		switch {
		case on && n.box.status == "running":
			c.count(now)
			n.box.status, c.world.paused = "paused", true
			n.tell(now, "pause", "")
		case !on && n.box.status == "paused":
			c.count(now)
			n.box.status, c.world.paused = "running", false
			n.tell(now, "unpause", "")
		}
	})
}

// Reboot ends a node; it is back after that time, with its containers exited and Docker's events
// forgotten.
func (c *Cluster) Reboot(rank int, takes time.Duration) {
	c.on(rank, "reboots", func(n *node, now time.Time) {
		if n.down {
			return
		}
		if n.box != nil && n.box.status != "restarting" {
			c.die(n, 255, now)
		}
		n.down, n.events, n.flusher = true, nil, time.Time{}
		c.later(now.Add(takes), func() {
			n.down = false
			c.log(now.Add(takes), "%s is up", n.name)
			if n.box != nil && (n.box.policy == "always" || n.box.status == "restarting") {
				c.start(n, now.Add(takes))
			}
		})
	})
}

// Cut takes a node off the network, or brings it back.
func (c *Cluster) Cut(rank int, on bool) {
	c.on(rank, "network", func(n *node, _ time.Time) { n.cut = on })
}

// Noise lets others make so many events on a node that Docker forgets ours at once.
func (c *Cluster) Noise(rank int, on bool) {
	c.on(rank, "noise", func(n *node, _ time.Time) { n.noisy = on })
}

// SetClock sets a node's clock to that much from the true time.
func (c *Cluster) SetClock(rank int, offset time.Duration) {
	c.on(rank, "clock", func(n *node, _ time.Time) { n.offset = offset })
}

// Shift sets all nodes' clocks ahead, as after a time in which nothing has happened.
func (c *Cluster) Shift(d time.Duration) {
	for rank := range c.nodes {
		c.on(rank, "clock", func(n *node, _ time.Time) { n.offset += d })
	}
}

// HoldPorts makes these ports be listened on by somebody else.
func (c *Cluster) HoldPorts(rank int, ports ...int) {
	c.on(rank, "ports", func(n *node, _ time.Time) { n.listens = slices.Clone(ports) })
}

// SetEngine changes how the inference server behaves from now on, for as long as its head lives.
func (c *Cluster) SetEngine(mode clustertest.EngineMode) {
	c.on(0, "engine "+string(mode), func(_ *node, now time.Time) {
		c.count(now)
		c.world.mode = mode
	})
}

// SetTraffic says whether others ask the server too.
func (c *Cluster) SetTraffic(on bool) {
	now, unlock := c.lock()
	defer unlock()
	c.count(now)
	c.world.busy = on
}

// Standing is what stands on a node.
type Standing struct {
	ID, By, Status string
	Flusher        bool
	Up             bool // it runs and can be reached
}

// Look says what stands on a node.
func (c *Cluster) Look(rank int) Standing {
	now, unlock := c.lock()
	defer unlock()
	n := c.nodes[rank]
	s := Standing{Flusher: n.flusher.After(now), Up: !n.down && !n.cut}
	if n.box != nil {
		s.ID, s.By, s.Status = n.box.id, n.box.by, n.box.status
	}
	return s
}

// Mend lets a server that behaves in that way serve again.
func (c *Cluster) Mend(mode clustertest.EngineMode) {
	c.on(0, "engine mended of "+string(mode), func(_ *node, now time.Time) {
		if c.world.mode == mode {
			c.count(now)
			c.world.mode = clustertest.Serve
		}
	})
}
