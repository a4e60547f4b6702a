package restart

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// wire is one end of a connection that takes what is written without waiting for its reader, and can
// fall silent.
type wire struct {
	net.Conn
	sent   chan []byte
	closed chan struct{}
	once   sync.Once
	mute   atomic.Bool
}

func newWire(c net.Conn) *wire {
	w := &wire{Conn: c, sent: make(chan []byte), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case p := <-w.sent:
				c.Write(p)
			case <-w.closed:
				return
			}
		}
	}()
	return w
}

func (w *wire) Write(p []byte) (int, error) {
	if w.mute.Load() {
		return len(p), nil
	}
	select {
	case w.sent <- bytes.Clone(p):
		return len(p), nil
	case <-w.closed:
		return 0, net.ErrClosed
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return w.Conn.Close()
}

// A node that is cut off is told from a command that takes its time, and a lost connection does not keep
// a run until the end of the longest step. In virtual time, with the SSH library's two sides.
func TestSilentConnectionIsToldH07(t *testing.T) {
	rows := []struct {
		name   string
		cut    time.Duration // after the command began; 0: never
		within time.Duration
		after  time.Duration // the command is given up
		want   string
	}{
		{"a command takes its time", 0, 2 * time.Minute, 2 * time.Minute, "no end within its time"},
		{"cut off before the deadline", 3 * time.Second, 30 * time.Second, 30 * time.Second, "silent for 24s: the node is cut off or stands still"},
		{"cut off at the last moment", 29 * time.Second, 30 * time.Second, 30 * time.Second, "no end within its time"},
		{"cut off long before", 3 * time.Second, 10 * time.Minute, 66 * time.Second, "silent for 1m0s"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				server := newWire(far)
				go hangingServer(server)
				conn, channels, requests, err := ssh.NewClientConn(newWire(near), "n1", &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
				if err != nil {
					t.Fatal(err)
				}
				client := ssh.NewClient(conn, channels, requests)
				defer server.Close()
				defer client.Close()
				n := newNodeConn(Target{Name: "n1"})
				ctx, cancel := context.WithTimeout(t.Context(), r.within)
				defer cancel()
				if r.cut > 0 {
					time.AfterFunc(r.cut, func() { server.mute.Store(true) })
				}
				began := time.Now()
				_, failure, _ := n.perform(ctx, client, sshJob{name: "s", fence: scripts.NewFence(), sink: &cappedSink{w: &strings.Builder{}, left: 1}})
				if took := time.Since(began); took != r.after {
					t.Errorf("given up after %s, want %s", took, r.after)
				}
				if failure == nil || !failure.Unknown || failure.Reach != watchdog.ReachTimeout || !strings.Contains(failure.Error(), r.want) {
					t.Errorf("got %v, want %q", failure, r.want)
				}
			})
		})
	}
}

// hangingServer starts every command and never ends one.
func hangingServer(conn net.Conn) {
	config := &ssh.ServerConfig{NoClientAuth: true}
	key, _ := fleetSigner(exiter{}, 1)
	config.AddHostKey(key)
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for opened := range channels {
		channel, asked, err := opened.Accept()
		if err != nil {
			return
		}
		defer channel.Close()
		go func() {
			for request := range asked {
				request.Reply(true, nil)
			}
		}()
	}
}
