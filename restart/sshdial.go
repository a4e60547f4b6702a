package restart

import (
	"context"
	"fmt"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// Limits are the deadlines of a connection. Sessions and commands end with their context.
type Limits struct {
	Dial       time.Duration // for TCP
	Handshake  time.Duration // for banner, keys and authentication together
	Pause      time.Duration // before the one retry
	RetryUntil time.Duration // no retry with less than this left of the context
	Parallel   int           // so many nodes are connected to at once; 0: all
}

// connectPatience is how long a node may take for its handshake before the next one is begun beside
// it: more than one that is well needs, and so short that 256 silent ones cost a look four seconds.
const connectPatience = 500 * time.Millisecond

// DefaultLimits let both tries and a short script fit into a look.
func DefaultLimits() Limits {
	return Limits{Dial: 5 * time.Second, Handshake: 10 * time.Second, Pause: 3 * time.Second, RetryUntil: 20 * time.Second, Parallel: DefaultParallel}
}

// sshIdentity is what a target's files hold, read once per run.
type sshIdentity struct {
	signers []ssh.Signer
	hosts   *knownHosts
}

func readSSHIdentity(t Target) (*sshIdentity, *NodeError) {
	owners := t.owners
	if owners == nil {
		owners = trustedOwners([]string{t.User})
	}
	who := &sshIdentity{}
	for _, path := range t.Keys {
		signers, err := readKey(path, owners)
		if err != nil {
			return nil, &NodeError{Node: t.Name, Reach: watchdog.ReachError, Err: err}
		}
		who.signers = append(who.signers, signers...)
	}
	hosts, err := readKnownHosts(t.KnownHosts, owners)
	if err != nil {
		return nil, &NodeError{Node: t.Name, Reach: watchdog.ReachHostKey, Err: err}
	}
	who.hosts = hosts
	return who, nil
}

// dialSSH connects and authenticates, with one retry after a pause where that can help: never
// after a refused key or host key, which would only add up to a ban.
func (c *Conns) dialSSH(ctx context.Context, n *nodeConn, who *sshIdentity) (*ssh.Client, *NodeError) {
	client, failure := c.dialInTurn(ctx, n, who)
	if failure == nil || failure.onTheWay || !sshRetryable(failure.Reach) || !enoughLeft(ctx, c.limits.RetryUntil) {
		return client, failure
	}
	pause := time.NewTimer(c.limits.Pause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return nil, failure
	case <-pause.C:
		return c.dialInTurn(ctx, n, who)
	}
}

// dialInTurn connects when it is this node's turn. The deadlines begin then, not while it waits.
func (c *Conns) dialInTurn(ctx context.Context, n *nodeConn, who *sshIdentity) (*ssh.Client, *NodeError) {
	turn := c.turns.one()
	if err := turn.begin(ctx); err != nil {
		return nil, sshFailure(n.target, watchdog.ReachTimeout, "its turn to be connected to did not come (ssh.parallel): %w", err)
	}
	defer turn.end()
	turn.waits()
	return c.dialOnce(ctx, n, who)
}

// sshRetryable are the failures of a host that is throttling us, starting, or out of breath.
func sshRetryable(reach watchdog.Reach) bool {
	switch reach {
	case watchdog.ReachRefused, watchdog.ReachTimeout, watchdog.ReachNoBanner, watchdog.ReachHandshake:
		return true
	}
	return false
}

func enoughLeft(ctx context.Context, need time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) >= need)
}

// open opens a stream to a target's sshd.
func (c *Conns) open(ctx context.Context, t Target) (net.Conn, *NodeError) {
	if t.Via != nil {
		return c.openVia(ctx, t)
	}
	dialer := net.Dialer{Timeout: c.limits.Dial}
	raw, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(t.Host, fmt.Sprint(t.Port)))
	if err != nil {
		return nil, explainDial(ctx, t, err)
	}
	return raw, nil
}

func (c *Conns) dialOnce(ctx context.Context, n *nodeConn, who *sshIdentity) (*ssh.Client, *NodeError) {
	t := n.target
	raw, failure := c.open(ctx, t)
	if failure != nil {
		return nil, failure
	}
	n.handshakes.Add(1)
	conn := &greetedConn{Conn: raw}
	unhook := context.AfterFunc(ctx, func() { raw.Close() })
	raw.SetDeadline(time.Now().Add(c.limits.Handshake))
	lookup := who.hosts.address(t)
	var hostKey hostKeyVerdict
	sshConn, channels, requests, err := ssh.NewClientConn(conn, lookup, &ssh.ClientConfig{
		User:              t.User,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(who.signers...)},
		HostKeyCallback:   hostKey.record(who.hosts.check(t)),
		HostKeyAlgorithms: who.hosts.algorithms(lookup),
	})
	if stopped := !unhook(); err != nil || stopped {
		raw.Close()
		return nil, explainHandshake(ctx, t, who, conn, &hostKey, err)
	}
	raw.SetDeadline(time.Time{})
	return ssh.NewClient(sshConn, channels, requests), nil
}
