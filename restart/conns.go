package restart

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// Conns are the connections of one run: one per node, authenticated once and used by every
// question and step. They are dialled when first needed.
type Conns struct {
	limits Limits
	turns  *turns // of connecting
	nodes  []*nodeConn

	mu         sync.Mutex
	identities map[string]*loadedIdentity
	hops       map[string]*nodeConn // to jump hosts, by the way to them
	closed     bool
}

type loadedIdentity struct {
	once    sync.Once
	who     *sshIdentity
	failure *NodeError
}

// nodeConn is the connection to one node.
type nodeConn struct {
	target     Target
	turn       chan struct{} // holds a token while no command runs: sshd may allow one session only
	handshakes atomic.Int32

	mu     sync.Mutex
	client *ssh.Client
	closed bool
	final  *NodeError // a refused key or host key, or to be left alone: asking would add up to a ban

	tries  int        // of a jump host: how often it was dialled, or found connected
	failed *NodeError // and how the last try failed
}

func newNodeConn(t Target) *nodeConn {
	n := &nodeConn{target: t, turn: make(chan struct{}, 1)}
	n.turn <- struct{}{}
	return n
}

// NewConns prepares connections to the targets, by rank.
func NewConns(targets []Target, l Limits) *Conns {
	c := &Conns{limits: l, turns: newTurns(l.Parallel, connectPatience), identities: map[string]*loadedIdentity{}, hops: map[string]*nodeConn{}}
	for _, t := range targets {
		c.nodes = append(c.nodes, newNodeConn(t))
	}
	return c
}

// Handshakes counts the SSH handshakes begun with a node.
func (c *Conns) Handshakes(rank int) int {
	n, err := c.node(rank)
	if err != nil {
		return 0
	}
	return int(n.handshakes.Load())
}

// LeaveAlone keeps a node from being asked in this run: it has not accepted our key before, and each
// refusal more adds up to a ban.
func (c *Conns) LeaveAlone(rank int, left time.Duration) {
	n, err := c.node(rank)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.final = sshFailure(n.target, watchdog.ReachHeld, "left alone for another %s, since it does not accept user %s with %s: `cluster-watchdog check` asks it at once",
		left.Round(time.Second), n.target.User, strings.Join(n.target.Keys, " or "))
}

// Close ends all connections; commands that still run end with an unknown outcome.
func (c *Conns) Close() {
	c.mu.Lock()
	c.closed = true
	all := slices.AppendSeq(slices.Clone(c.nodes), maps.Values(c.hops))
	c.mu.Unlock()
	for _, n := range all {
		n.mu.Lock()
		n.closed = true
		if n.client != nil {
			n.client.Close()
		}
		n.mu.Unlock()
	}
}

func (c *Conns) node(rank int) (*nodeConn, error) {
	if rank < 0 || rank >= len(c.nodes) {
		return nil, fmt.Errorf("internal error: no rank %d among %d nodes", rank, len(c.nodes))
	}
	return c.nodes[rank], nil
}

// connect returns the node's connection, dialling if there is none.
func (c *Conns) connect(ctx context.Context, n *nodeConn) (client *ssh.Client, fresh bool, failure *NodeError) {
	n.mu.Lock()
	client, closed, final := n.client, n.closed, n.final
	n.mu.Unlock()
	switch {
	case closed:
		return nil, false, sshFailure(n.target, watchdog.ReachError, "%w", errConnsClosed)
	case final != nil:
		again := *final
		return nil, false, &again
	case client != nil:
		return client, false, nil
	}
	who, failure := c.identity(n.target)
	if failure == nil {
		client, failure = c.dialSSH(ctx, n, who)
	}
	return client, true, n.keep(client, failure)
}

var errConnsClosed = errors.New("the connections of this run are closed")

// keep stores what a dial brought.
func (n *nodeConn) keep(client *ssh.Client, failure *NodeError) *NodeError {
	n.mu.Lock()
	defer n.mu.Unlock()
	if failure != nil {
		if failure.Reach == watchdog.ReachAuth || failure.Reach == watchdog.ReachHostKey {
			n.final = failure
		}
		return failure
	}
	if n.closed {
		client.Close()
		return sshFailure(n.target, watchdog.ReachError, "%w", errConnsClosed)
	}
	n.client = client
	return nil
}

// drop gives up a connection; the next command dials anew.
func (n *nodeConn) drop(client *ssh.Client) {
	client.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client == client {
		n.client = nil
	}
}

// identity reads the files of a target once, however many nodes share them.
func (c *Conns) identity(t Target) (*sshIdentity, *NodeError) {
	key := strings.Join(append([]string{t.User, t.KnownHosts}, t.Keys...), "\x00")
	c.mu.Lock()
	loaded := c.identities[key]
	if loaded == nil {
		loaded = &loadedIdentity{}
		c.identities[key] = loaded
	}
	c.mu.Unlock()
	loaded.once.Do(func() { loaded.who, loaded.failure = readSSHIdentity(t) })
	if loaded.failure != nil {
		own := *loaded.failure
		own.Node = t.Name
		return nil, &own
	}
	return loaded.who, nil
}
