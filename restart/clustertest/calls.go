package clustertest

import (
	"slices"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// Call is something that was asked of a node: "script check/docker", "ssh true", or a program
// with its arguments such as "docker rm -f ID".
type Call struct {
	At    time.Time
	Node  int
	Label string
}

// Journal returns the calls of all nodes, in the order of time.
func (c *Cluster) Journal() []Call {
	return c.gather(fakenode.Node.Calls)
}

// Unknown returns what was asked and nobody here knows. A test should end with none.
func (c *Cluster) Unknown() []Call {
	return c.gather(fakenode.Node.Unknown)
}

// Calls returns the labels of the calls of one node.
func (c *Cluster) Calls(rank int) []string {
	var labels []string
	for _, l := range c.servers[rank].node.Calls() {
		labels = append(labels, l.Text)
	}
	return labels
}

// Drops returns how often the page cache of a node was dropped.
func (c *Cluster) Drops(rank int) int { return len(c.servers[rank].node.Drops()) }

// Handshakes returns how many clients have logged in to a node.
func (c *Cluster) Handshakes(rank int) int { return int(c.servers[rank].handshakes.Load()) }

// NodeDir returns the folder of a node.
func (c *Cluster) NodeDir(rank int) string { return c.servers[rank].node.Dir }

func (c *Cluster) gather(of func(fakenode.Node) []fakenode.Line) []Call {
	var all []Call
	for rank, s := range c.servers {
		for _, l := range of(s.node) {
			all = append(all, Call{At: l.At, Node: rank, Label: l.Text})
		}
	}
	slices.SortStableFunc(all, func(a, b Call) int { return a.At.Compare(b.At) })
	return all
}
