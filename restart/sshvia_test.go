package restart

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// sshGate is a fixture for jump hosts in front of a node: hops[0] is the nearest to us.
type sshGate struct {
	node *sshFixture
	hops []*sshFixture
}

func sshNewGate(t *testing.T, hops int) *sshGate {
	t.Helper()
	g := &sshGate{node: sshNewFixture(t)}
	known := sshLine(g.node.name(), g.node.host.PublicKey())
	for range hops {
		hop := sshNewFixture(t)
		hop.server = sshNewServer(t, g.node.key.PublicKey(), hop.host)
		hop.target.Name, hop.target.Port, hop.target.Keys = "gate", hop.server.port(), g.node.target.Keys
		known += sshLine(hop.name(), hop.host.PublicKey())
		g.hops = append(g.hops, hop)
	}
	g.node.knows(t, known)
	return g
}

// start links the targets and starts all servers; nodes many targets stand behind the gate.
func (g *sshGate) start(t *testing.T, nodes int) *Conns {
	t.Helper()
	var via *Target
	for _, hop := range g.hops {
		hop.server.start()
		hop.target.KnownHosts, hop.target.Via = g.node.target.KnownHosts, via
		target := hop.target
		via = &target
	}
	g.node.target.Via = via
	g.node.server.start()
	var targets []Target
	for range nodes {
		targets = append(targets, g.node.target)
	}
	c := NewConns(targets, g.node.limits)
	t.Cleanup(c.Close)
	return c
}

func TestSSHJumpH18(t *testing.T) {
	for hops := range 4 {
		g := sshNewGate(t, hops)
		g.node.limits.Parallel = 1 // a node that waits for its jump host must not keep that from its turn
		c := g.start(t, 3)
		var wait sync.WaitGroup
		for rank := range 3 {
			wait.Go(func() {
				for range 2 {
					if result, err := c.Run(sshContext(t), rank, sshShellScript(), nil); err != nil || result.Stdout != "shell=ok\n" {
						t.Errorf("H18: %d hops: got %q, %v", hops, result.Stdout, err)
					}
				}
			})
		}
		wait.Wait()
		for _, hop := range g.hops {
			if got := hop.server.accepted(); got != 1 {
				t.Errorf("H13: %d connections to a jump host for three nodes, want 1", got)
			}
		}
		c.Close()
		for _, hop := range append(g.hops, g.node) {
			hop.server.listener.Close()
			hop.server.wait.Wait() // every connection has ended: Close closes the whole way
		}
	}
}

// TestSSHJumpFailures has one row per way in which a jump can fail.
func TestSSHJumpFailures(t *testing.T) {
	silent := func(c net.Conn) bool { return sshSilence(c) }
	rows := []struct {
		name  string
		setUp func(*testing.T, *sshGate)
		reach watchdog.Reach
		words []string
		dials int // of the jump host, by three nodes
	}{
		{"H18 jump host refuses", func(_ *testing.T, g *sshGate) { g.hops[0].server.listener.Close() },
			watchdog.ReachRefused, []string{"cannot reach n2 by SSH: jump host gate: connection refused (127.0.0.1:"}, 0},
		{"H18 jump host does not take the key", func(t *testing.T, g *sshGate) {
			other, _ := sshKeyPair(t, "ed25519")
			g.hops[0].server = sshNewServer(t, other.PublicKey(), g.hops[0].host)
			g.hops[0].target.Port = g.hops[0].server.port()
			g.node.knows(t, sshLine(g.hops[0].name(), g.hops[0].host.PublicKey()))
		}, watchdog.ReachAuth, []string{"jump host gate: ", "does not accept user ops"}, 1},
		{"H18 jump host is unknown", func(t *testing.T, g *sshGate) { g.node.knows(t, sshLine(g.node.name(), g.node.host.PublicKey())) },
			watchdog.ReachHostKey, []string{"jump host gate: host key unknown", "ssh-keyscan"}, 1},
		{"H06 jump host is silent", func(_ *testing.T, g *sshGate) { g.hops[0].server.greet = silent },
			watchdog.ReachNoBanner, []string{"jump host gate: ", "no SSH banner"}, 1},
		{"H18 jump host forbids it", func(_ *testing.T, g *sshGate) {
			g.hops[0].server.forward = func(c ssh.NewChannel) { c.Reject(ssh.Prohibited, "open failed") }
		}, watchdog.ReachError, []string{"opens no way", "AllowTcpForwarding"}, 1},
		{"H18 jump host never answers", func(_ *testing.T, g *sshGate) {
			g.hops[0].server.forward = func(ssh.NewChannel) {}
		}, watchdog.ReachTimeout, []string{"no answer from 127.0.0.1:", " through gate"}, 1},
		{"H06 jump host moves nothing", func(_ *testing.T, g *sshGate) {
			g.hops[0].server.forward = func(c ssh.NewChannel) { c.Accept() }
		}, watchdog.ReachNoBanner, []string{"through gate accepts connections but no SSH banner"}, 1},
		{"H18 node refuses", func(_ *testing.T, g *sshGate) { g.node.server.listener.Close() },
			watchdog.ReachRefused, []string{"cannot reach n2 by SSH: connection refused (127.0.0.1:", " through gate"}, 1},
		{"H06 node is silent", func(_ *testing.T, g *sshGate) { g.node.server.greet = silent },
			watchdog.ReachNoBanner, []string{"through gate accepts connections but no SSH banner"}, 1},
		{"H13 node closes at once", func(_ *testing.T, g *sshGate) { g.node.server.greet = func(net.Conn) bool { return false } },
			watchdog.ReachHandshake, []string{"closed", "MaxStartups"}, 1},
		{"H18 node is unknown", func(t *testing.T, g *sshGate) { g.node.knows(t, sshLine(g.hops[0].name(), g.hops[0].host.PublicKey())) },
			watchdog.ReachHostKey, []string{"host key unknown", "/etc/ssh/ssh_host_*_key.pub on the node itself"}, 1},
		{"H18 node does not take the key", func(t *testing.T, g *sshGate) {
			other, _ := sshKeyPair(t, "ed25519")
			g.node.server = sshNewServer(t, other.PublicKey(), g.node.host)
			g.node.target.Port = g.node.server.port()
			g.node.knows(t, sshLine(g.node.name(), g.node.host.PublicKey())+sshLine(g.hops[0].name(), g.hops[0].host.PublicKey()))
		}, watchdog.ReachAuth, []string{"does not accept user ops"}, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			g := sshNewGate(t, 1)
			g.node.limits.Dial, g.node.limits.Handshake = 500*time.Millisecond, 500*time.Millisecond
			row.setUp(t, g)
			c := g.start(t, 3)
			var wait sync.WaitGroup
			for rank := range 3 {
				wait.Go(func() {
					_, err := c.Run(sshContext(t), rank, sshShellScript(), nil)
					node := sshWantError(t, err, row.reach, row.words...)
					if strings.Contains(err.Error(), "ssh-keyscan") && node.onTheWay == false {
						t.Errorf("%v: ssh-keyscan knows no jump hosts", err)
					}
				})
			}
			wait.Wait()
			if got := g.hops[0].server.accepted(); got != row.dials {
				t.Errorf("H13: %d connections to the jump host, want %d", got, row.dials)
			}
			c.Close()
		})
	}
}

// TestSSHJumpRetryH13: a jump host that closes is tried once more, and not twice for each node.
func TestSSHJumpRetryH13(t *testing.T) {
	g := sshNewGate(t, 1)
	g.node.limits.RetryUntil = 0
	g.hops[0].server.greet = func(net.Conn) bool { return false }
	_, err := g.start(t, 1).Run(sshContext(t), 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachHandshake, "jump host gate: ")
	if got := g.hops[0].server.accepted(); got != 2 {
		t.Errorf("H13: %d connections to the jump host, want 2", got)
	}
}

// TestSSHJumpHostDiesH18: the way is made anew, and only what was running is in doubt.
func TestSSHJumpHostDiesH18(t *testing.T) {
	g := sshNewGate(t, 2)
	c := g.start(t, 1)
	for range 3 {
		if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Fatal(err)
		}
		g.hops[1].server.dropAll()
	}
	g.hops[0].server.dropAll()
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g.node.server.command = func(_ net.Conn, channel ssh.Channel, _ string, _ int) {
		io.Copy(io.Discard, channel) // the whole script has arrived
		g.hops[0].server.dropAll()
	}
	_, err := c.Run(ctx, 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachDropped); !node.Unknown {
		t.Errorf("H08: got %+v", node)
	}
}

// TestSSHJumpEndsInTimeH07: a jump host that moves nothing any more holds nobody.
func TestSSHJumpEndsInTimeH07(t *testing.T) {
	g := sshNewGate(t, 1)
	stuck := make(chan struct{})
	g.hops[0].server.forward = func(asked ssh.NewChannel) {
		far, err := net.Dial("tcp", g.node.server.listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		channel, requests, _ := asked.Accept()
		go ssh.DiscardRequests(requests)
		go io.Copy(channel, far)
		go func() {
			io.Copy(far, channel)
			far.Close()
		}()
		<-stuck
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.node.server.command = func(net.Conn, ssh.Channel, string, int) {
		cancel()
		<-stuck
	}
	c := g.start(t, 1)
	_, err := c.Run(ctx, 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachTimeout); !node.Unknown {
		t.Errorf("H07: got %+v", node)
	}
	close(stuck)
}
