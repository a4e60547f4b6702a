package clustertest

import (
	"slices"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// SetEngine changes how the inference server of a whole group behaves, from the next request on.
func (c *Cluster) SetEngine(mode EngineMode) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.counts.moved(time.Now())
	c.engine.mode = mode
	c.engine.counts.busySince = time.Time{}
	if mode == Busy {
		c.engine.counts.busySince = time.Now()
	}
}

// Serving says whether a completion would be answered now.
func (c *Cluster) Serving() bool {
	c.mustRefresh()
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.engine.server != nil && c.engine.counts.whole && c.engine.mode == Serve
}

// ReachOff makes a node unreachable: nobody listens, and the connections there are end.
func (c *Cluster) ReachOff(rank int) {
	id := c.Set(Fault{Kind: SSHDRefuses, Node: rank})
	c.mu.Lock()
	old, had := c.reach[rank]
	c.reach[rank] = id
	c.mu.Unlock()
	if had {
		c.faults.Unset(old)
	}
	c.servers[rank].cut()
}

// ReachOn undoes ReachOff.
func (c *Cluster) ReachOn(rank int) {
	c.mu.Lock()
	id := c.reach[rank]
	delete(c.reach, rank)
	c.mu.Unlock()
	c.Unset(id)
}

// HoldPorts makes these ports, and no others beside the head's API, look listened on at a node.
func (c *Cluster) HoldPorts(rank int, ports ...int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[rank] = ports
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	if rank != 0 {
		return c.servers[rank].node.Listen(ports...)
	}
	if c.engine.server != nil {
		return c.tellPorts(c.engine.port.number)
	}
	return c.tellPorts()
}

// tellPorts writes what listens on the head, under the lock of refresh.
func (c *Cluster) tellPorts(api ...int) error {
	return c.servers[0].node.Listen(slices.Concat(api, c.held[0])...)
}

// PinFree fixes a node's free memory in bytes; below zero it follows the containers again.
func (c *Cluster) PinFree(rank int, bytes int64) error { return c.servers[rank].node.PinFree(bytes) }

// Docker returns the Docker of a node as it is.
func (c *Cluster) Docker(rank int) (*fakenode.Daemon, error) { return c.servers[rank].node.Look() }
