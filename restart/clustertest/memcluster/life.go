package memcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"cluster-watchdog/watchdog"
)

// container is what Docker knows of one.
type container struct {
	id, by  string // by: who made it
	status  string
	started time.Time // by the node's clock
	exit    int
	error   string
	policy  string
	count   int // starts by Docker itself
	joined  bool
}

// eventsKept is how many events Docker remembers.
const eventsKept = 256

// neverStarted is what Docker gives for a container that was created only.
const neverStarted = "0001-01-01T00:00:00Z"

func (c *container) startedAt() string {
	if c.started.IsZero() {
		return neverStarted
	}
	return c.started.UTC().Format(time.RFC3339Nano)
}

func (n *node) clock(at time.Time) time.Time { return at.Add(n.offset).UTC() }

func (n *node) tell(at time.Time, action, signal string) {
	n.events = append(n.events, watchdog.Event{At: n.clock(at), ID: n.box.id, Action: action, Signal: signal})
	if over := len(n.events) - eventsKept; over > 0 {
		n.events = append(n.events[:0], n.events[over:]...)
	}
}

// create makes a container of the name; it does not run yet.
func (c *Cluster) create(n *node, by string, at time.Time) {
	n.made++
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", c.options.Seed, n.name, n.made))
	n.box = &container{id: hex.EncodeToString(sum[:]), by: by, status: "created", policy: c.options.Policy}
	n.tell(at, "create", "")
}

func (c *Cluster) start(n *node, at time.Time) {
	n.box.status, n.box.started, n.box.exit = "running", n.clock(at), 0
	n.tell(at, "start", "")
	c.log(at, "%s: %.8s of %s runs", n.name, n.box.id, n.box.by)
	c.started(n, at)
}

// die ends a running container's process.
func (c *Cluster) die(n *node, code int, at time.Time) {
	if n.box.status != "running" && n.box.status != "paused" {
		return
	}
	n.box.status, n.box.exit = "exited", code
	n.freed = at.Add(memoryBack)
	n.tell(at, "die", "")
	c.log(at, "%s: %.8s ends with %d", n.name, n.box.id, code)
	c.ended(n, at)
}

// crash ends it by itself: Docker starts it again where it was told to.
func (c *Cluster) crash(n *node, code int, at time.Time) {
	c.die(n, code, at)
	box := n.box
	if box.policy == "always" || (box.policy == "on-failure" && code != 0) {
		box.count++
		box.status = "restarting"
		c.later(at.Add(dockerWaits), func() {
			if n.box == box && box.status == "restarting" && !n.down {
				c.start(n, at.Add(dockerWaits))
			}
		})
	}
}

const (
	memoryBack  = 20 * time.Second // after a container's end
	dockerWaits = 2 * time.Second  // before it starts one again
)

// stop is docker stop: ask, wait, tell.
func (c *Cluster) stop(n *node, at time.Time) {
	if n.box.status == "running" || n.box.status == "paused" {
		n.tell(at, "kill", "TERM")
		c.die(n, 143, at)
		n.tell(at, "stop", "")
	}
}

// remove is docker rm -f.
func (c *Cluster) remove(n *node, at time.Time) {
	if n.box.status == "running" || n.box.status == "paused" {
		n.tell(at, "kill", "KILL")
		c.die(n, 137, at)
	}
	c.log(at, "%s: %.8s is removed", n.name, n.box.id)
	n.tell(at, "destroy", "")
	n.box = nil
}
