package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// hostKeyVerdict remembers what became of the host key, from the goroutine that judges it.
type hostKeyVerdict struct {
	mu       sync.Mutex
	accepted bool
	err      error
}

func (v *hostKeyVerdict) record(check ssh.HostKeyCallback) ssh.HostKeyCallback {
	return func(address string, remote net.Addr, key ssh.PublicKey) error {
		err := check(address, remote, key)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.accepted, v.err = err == nil, err
		return err
	}
}

func (v *hostKeyVerdict) get() (accepted bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.accepted, v.err
}

func explainDial(ctx context.Context, t Target, err error) *NodeError {
	at := sshPlace(t)
	var dns *net.DNSError
	switch {
	case ctx.Err() != nil:
		return sshFailure(t, watchdog.ReachTimeout, "no answer from %s before we had to stop: %w", at, ctx.Err())
	case errors.As(err, &dns) && !dns.IsTimeout:
		return sshFailure(t, watchdog.ReachError, "no address for the name %s: correct the node's host, or add it to DNS or /etc/hosts", t.Host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return sshFailure(t, watchdog.ReachRefused, "connection refused (%s): is sshd running?", at)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return sshFailure(t, watchdog.ReachTimeout, "no route to %s: is the node up and on this network?", at)
	case isSSHTimeout(err):
		return sshFailure(t, watchdog.ReachTimeout, "no answer from %s: is the node up and on this network?", at)
	case isSSHClosed(err):
		return sshFailure(t, watchdog.ReachHandshake, "connection closed at once (%s): see sshd's journal on the node", at)
	}
	return sshFailure(t, watchdog.ReachError, "%s: %v", at, err)
}

// explainHandshake finds the kind of a failure by how far the handshake came, since the
// library's own errors mostly have no type.
func explainHandshake(ctx context.Context, t Target, who *sshIdentity, conn *greetedConn, verdict *hostKeyVerdict, err error) *NodeError {
	at := sshPlace(t)
	banner, instead := conn.greeting()
	accepted, refused := verdict.get()
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case refused != nil:
		return sshFailure(t, watchdog.ReachHostKey, "%w", refused)
	case errors.Is(ctx.Err(), context.Canceled), ctx.Err() != nil && banner:
		return sshFailure(t, watchdog.ReachTimeout, "the SSH handshake with %s was not over when we had to stop: %w", at, ctx.Err())
	case errors.As(err, &negotiation):
		return explainNegotiation(t, who, negotiation)
	case (ctx.Err() != nil || isSSHTimeout(err)) && !banner:
		return sshFailure(t, watchdog.ReachNoBanner, "%s accepts connections but no SSH banner comes%s: the node may be out of memory or wedged: look at its console", at, quoteInstead(instead))
	case isSSHTimeout(err):
		return sshFailure(t, watchdog.ReachTimeout, "the SSH handshake with %s does not end: the node may be out of memory or wedged: look at its console", at)
	case isSSHClosed(err) && !banner && instead != "":
		return sshFailure(t, watchdog.ReachHandshake, "%s closed the connection%s: if that is sshd, it is throttling (MaxStartups, PerSourcePenalties): see its journal", at, quoteInstead(instead))
	case isSSHClosed(err):
		return sshFailure(t, watchdog.ReachHandshake, "connection closed during the SSH handshake (%s): sshd is throttling (MaxStartups, PerSourcePenalties) or dying: see its journal", at)
	case accepted:
		return sshFailure(t, watchdog.ReachAuth, "%s does not accept user %s with %s (%s%s): add the public key to that user's authorized_keys on the node",
			at, t.User, strings.Join(t.Keys, " or "), printableLine(err.Error()), certificateDoubt(who.signers, time.Now()))
	}
	return sshFailure(t, watchdog.ReachHandshake, "the SSH handshake with %s failed (%s): see sshd's journal on the node", at, printableLine(err.Error()))
}

func explainNegotiation(t Target, who *sshIdentity, err *ssh.AlgorithmNegotiationError) *NodeError {
	address := who.hosts.address(t)
	known := who.hosts.algorithms(address)
	theirs := printableLine(strings.Join(err.RequestedAlgorithms, ", "))
	if err.What != "host key" || len(who.hosts.db.HostKeys(address)) == 0 {
		return sshFailure(t, watchdog.ReachError, "%s and we have no %s algorithm in common: it offers %s: allow a modern one in its sshd_config", sshPlace(t), err.What, theirs)
	}
	return sshFailure(t, watchdog.ReachHostKey, "host key changed: %s shows none of the kinds that %s holds for it (%s), only %s: find out why first; then %s",
		sshPlace(t), who.hosts.path, strings.Join(known, ", "), theirs, compareFirst(t))
}

func quoteInstead(instead string) string {
	if instead == "" {
		return ""
	}
	return fmt.Sprintf(" (it said %q)", instead)
}

func sshFailure(t Target, reach watchdog.Reach, format string, args ...any) *NodeError {
	return &NodeError{Node: t.Name, Reach: reach, Err: fmt.Errorf(format, args...)}
}

func sshPlace(t Target) string {
	place := net.JoinHostPort(t.Host, fmt.Sprint(t.Port))
	if t.Via != nil {
		place += " through " + t.Via.Name
	}
	return place
}

func isSSHTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

func isSSHClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}
