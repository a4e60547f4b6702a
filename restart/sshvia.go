package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// hop is the connection to a jump host. All nodes behind it share it: its sshd counts connections
// and refused keys like any other.
func (c *Conns) hop(t Target) *nodeConn {
	var key strings.Builder
	for at := &t; at != nil; at = at.Via {
		fmt.Fprintf(&key, "%s@%s:%d %q %q %q\n", at.User, at.Host, at.Port, at.HostKeyAlias, at.KnownHosts, at.Keys)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	hop := c.hops[key.String()]
	if hop == nil {
		hop = newNodeConn(t)
		hop.closed = c.closed
		c.hops[key.String()] = hop
	}
	return hop
}

// openVia opens a stream to a target through its jump host. A connection to the jump host that
// has died since it was last used is made anew, once.
func (c *Conns) openVia(ctx context.Context, t Target) (net.Conn, *NodeError) {
	hop := c.hop(*t.Via)
	for {
		client, fresh, failure := c.connectHop(ctx, hop)
		if failure != nil {
			behind := *failure
			behind.Node, behind.onTheWay = t.Name, true
			behind.Err = fmt.Errorf("jump host %s: %w", t.Via.Name, failure.Err)
			return nil, &behind
		}
		conn, err := dialThrough(ctx, client, t, c.limits)
		if err == nil {
			return conn, nil
		}
		if isSSHClosed(err) {
			hop.drop(client)
			if !fresh {
				continue
			}
		}
		return nil, explainVia(ctx, t, err)
	}
}

// connectHop connects to a jump host. Who waited while another tried and failed does not try again
// at once: four nodes would be four tries.
func (c *Conns) connectHop(ctx context.Context, hop *nodeConn) (*ssh.Client, bool, *NodeError) {
	before, _ := hop.lastTry()
	select {
	case <-hop.turn:
		defer func() { hop.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, false, sshFailure(hop.target, watchdog.ReachTimeout, "no answer from %s before we had to stop: %w", sshPlace(hop.target), ctx.Err())
	}
	if tries, failed := hop.lastTry(); tries != before && failed != nil {
		return nil, false, failed
	}
	client, fresh, failure := c.connect(ctx, hop)
	hop.mu.Lock()
	defer hop.mu.Unlock()
	hop.tries++
	hop.failed = failure
	if ctx.Err() != nil {
		hop.failed = nil // that was ours, not the host's
	}
	return client, fresh, failure
}

func (n *nodeConn) lastTry() (int, *NodeError) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tries, n.failed
}

// dialThrough asks a jump host for a stream.
func dialThrough(ctx context.Context, client *ssh.Client, t Target, l Limits) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, l.Dial)
	defer cancel()
	far, err := client.DialContext(ctx, "tcp", net.JoinHostPort(t.Host, fmt.Sprint(t.Port)))
	if err != nil {
		return nil, err
	}
	return bridge(far), nil
}

// bridge gives a stream through a jump host what it lacks: deadlines, and an end that takes effect
// here at once. What is left of it ends with the connection to the jump host.
func bridge(far net.Conn) net.Conn {
	near, inner := net.Pipe()
	go func() {
		io.Copy(far, inner)
		far.Close()
	}()
	go func() {
		io.Copy(inner, far)
		inner.Close()
	}()
	return near
}

// explainVia is explainDial for a node behind a jump host, whose sshd did the dialling.
func explainVia(ctx context.Context, t Target, err error) *NodeError {
	at := sshPlace(t)
	var refused *ssh.OpenChannelError
	if !errors.As(err, &refused) {
		return explainDial(ctx, t, err)
	}
	said := printableLine(refused.Message)
	switch {
	case refused.Reason != ssh.ConnectionFailed:
		return sshFailure(t, watchdog.ReachError, "the jump host opens no way to %s (%s): allow it in its sshd_config (AllowTcpForwarding, PermitOpen)", at, said)
	case strings.Contains(strings.ToLower(said), "refused"):
		return sshFailure(t, watchdog.ReachRefused, "connection refused (%s): is sshd running?", at)
	}
	return sshFailure(t, watchdog.ReachTimeout, "no answer from %s (%s): is the node up, and its name known to the jump host?", at, said)
}
