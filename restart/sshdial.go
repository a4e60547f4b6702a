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
	owners := trustedOwners([]string{t.User})
	who := &sshIdentity{}
	for _, path := range t.Keys {
		signer, err := readKey(path, owners)
		if err != nil {
			return nil, &NodeError{Node: t.Name, Reach: watchdog.ReachError, Err: err}
		}
		who.signers = append(who.signers, signer)
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
func (n *nodeConn) dialSSH(ctx context.Context, who *sshIdentity, l Limits, all *turns) (*ssh.Client, *NodeError) {
	client, failure := n.dialInTurn(ctx, who, l, all)
	if failure == nil || !sshRetryable(failure.Reach) || !enoughLeft(ctx, l.RetryUntil) {
		return client, failure
	}
	pause := time.NewTimer(l.Pause)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return nil, failure
	case <-pause.C:
		return n.dialInTurn(ctx, who, l, all)
	}
}

// dialInTurn connects when it is this node's turn. The deadlines begin then, not while it waits.
func (n *nodeConn) dialInTurn(ctx context.Context, who *sshIdentity, l Limits, all *turns) (*ssh.Client, *NodeError) {
	turn := all.one()
	if err := turn.begin(ctx); err != nil {
		return nil, sshFailure(n.target, watchdog.ReachTimeout, "its turn to be connected to did not come (ssh.parallel): %w", err)
	}
	defer turn.end()
	turn.waits()
	return n.dialOnce(ctx, who, l)
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

func (n *nodeConn) dialOnce(ctx context.Context, who *sshIdentity, l Limits) (*ssh.Client, *NodeError) {
	t := n.target
	address := net.JoinHostPort(t.Host, fmt.Sprint(t.Port))
	dialer := net.Dialer{Timeout: l.Dial}
	raw, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, explainDial(ctx, t, err)
	}
	n.handshakes.Add(1)
	conn := &greetedConn{Conn: raw}
	unhook := context.AfterFunc(ctx, func() { raw.Close() })
	raw.SetDeadline(time.Now().Add(l.Handshake))
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
