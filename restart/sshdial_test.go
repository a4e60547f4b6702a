package restart

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

func TestConnsRunOnRealShell(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	result, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
	if err != nil || result.Stdout != "shell=ok\n" || result.Exit != 0 {
		t.Fatalf("got %+v, %v", result, err)
	}
}

// TestSSHHandshakeFailures has one row per way a connection can fail, each called by its own name
// and never by that of a mount or of Docker.
func TestSSHHandshakeFailures(t *testing.T) {
	closeAtOnce := func(net.Conn) bool { return false }
	rows := []struct {
		name  string
		setUp func(*testing.T, *sshFixture)
		reach watchdog.Reach
		words []string
	}{
		{"refused", func(_ *testing.T, f *sshFixture) { f.server.listener.Close() },
			watchdog.ReachRefused, []string{"cannot reach n2 by SSH: connection refused (127.0.0.1:", "is sshd running?"}},
		{"H06 silent listener", func(_ *testing.T, f *sshFixture) {
			f.limits.Handshake = 50 * time.Millisecond
			f.server.greet = sshSilence
		}, watchdog.ReachNoBanner, []string{"no SSH banner comes", "console"}},
		{"H06 silent after the banner", func(_ *testing.T, f *sshFixture) {
			f.limits.Handshake = 50 * time.Millisecond
			f.server.greet = func(c net.Conn) bool { c.Write([]byte("SSH-2.0-x\r\n")); return sshSilence(c) }
		}, watchdog.ReachTimeout, []string{"does not end"}},
		{"H13 closed at once", func(_ *testing.T, f *sshFixture) { f.server.greet = closeAtOnce },
			watchdog.ReachHandshake, []string{"closed", "MaxStartups"}},
		{"H13 closed after the banner", func(_ *testing.T, f *sshFixture) {
			f.server.greet = func(c net.Conn) bool { c.Write([]byte("SSH-2.0-x\r\n")); return false }
		}, watchdog.ReachHandshake, []string{"closed during the SSH handshake"}},
		{"H13 says Exceeded MaxStartups", func(_ *testing.T, f *sshFixture) {
			f.server.greet = func(c net.Conn) bool {
				c.Write([]byte("Exceeded MaxStartups\r\n"))
				c.Read(make([]byte, 64)) // our banner: closing with it unread would be a reset, and lose the text
				return false
			}
		}, watchdog.ReachHandshake, []string{`it said "Exceeded MaxStartups"`}},
		{"H13 says that we are banned", func(_ *testing.T, f *sshFixture) {
			f.server.greet = func(c net.Conn) bool {
				c.Write([]byte("Not allowed at this time\r\n")) // sshd's PerSourcePenalties
				c.Read(make([]byte, 64))
				return false
			}
		}, watchdog.ReachHandshake, []string{`it said "Not allowed at this time"`, "PerSourcePenalties"}},
		{"key not accepted", func(t *testing.T, f *sshFixture) { _, file := sshKeyPair(t, "ed25519"); f.target.Keys = []string{file} },
			watchdog.ReachAuth, []string{"does not accept user ops with /", "authorized_keys"}},
		{"key file gone", func(_ *testing.T, f *sshFixture) { f.target.Keys = []string{"/nonexistent/id"} },
			watchdog.ReachError, []string{"key /nonexistent/id: does not exist"}},
		{"no such host", func(_ *testing.T, f *sshFixture) { f.target.Host = "n2..lan" },
			watchdog.ReachError, []string{"no address for the name n2..lan"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			row.setUp(t, f)
			_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
			node := sshWantError(t, err, row.reach, row.words...)
			if node.Unknown || node.Script != "" {
				t.Errorf("got %+v: no script can have run", node)
			}
		})
	}
}

// sshSilence reads until the other side gives up.
func sshSilence(c net.Conn) bool {
	for buf := make([]byte, 64); ; {
		if _, err := c.Read(buf); err != nil {
			return false
		}
	}
}

// TestSSHRetry counts the connections of one Run. Only failures that a pause can cure are retried.
func TestSSHRetry(t *testing.T) {
	closeAtOnce := func(net.Conn) bool { return false }
	rows := []struct {
		name  string
		setUp func(*testing.T, *sshFixture)
		want  int
	}{
		{"H13 closed: once more", func(_ *testing.T, f *sshFixture) { f.server.greet = closeAtOnce }, 2},
		{"H06 silent: once more", func(_ *testing.T, f *sshFixture) {
			f.limits.Handshake = 50 * time.Millisecond
			f.server.greet = sshSilence
		}, 2},
		{"H13 too little time left: no", func(_ *testing.T, f *sshFixture) {
			f.server.greet = closeAtOnce
			f.limits.RetryUntil = time.Hour
		}, 1},
		{"H13 key refused: no", func(t *testing.T, f *sshFixture) { _, file := sshKeyPair(t, "ed25519"); f.target.Keys = []string{file} }, 1},
		{"host key unknown: no", func(t *testing.T, f *sshFixture) { f.knows(t, "") }, 1},
		{"host key changed: no", func(t *testing.T, f *sshFixture) { f.knows(t, sshLine(f.name(), f.key.PublicKey())) }, 1},
		{"host key revoked: no", func(t *testing.T, f *sshFixture) { f.knows(t, "@revoked "+sshLine("*", f.host.PublicKey())) }, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			f.limits.RetryUntil = 0
			row.setUp(t, f)
			c := f.start(t)
			if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err == nil {
				t.Fatal("no error")
			}
			if got := c.Handshakes(0); got != row.want || f.server.accepted() != row.want {
				t.Errorf("got %d handshakes and %d connections, want %d", got, f.server.accepted(), row.want)
			}
		})
	}
}

func TestSSHRetrySucceedsH13(t *testing.T) {
	f := sshNewFixture(t)
	f.limits.RetryUntil = 0
	first := make(chan struct{}, 1)
	first <- struct{}{}
	f.server.greet = func(net.Conn) bool {
		select {
		case <-first:
			return false
		default:
			return true
		}
	}
	if _, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestSSHRefusedKeyIsNotOfferedAgain(t *testing.T) {
	for _, row := range []struct {
		name  string
		setUp func(*testing.T, *sshFixture)
		reach watchdog.Reach
	}{
		{"H13 key", func(t *testing.T, f *sshFixture) { _, file := sshKeyPair(t, "ed25519"); f.target.Keys = []string{file} }, watchdog.ReachAuth},
		{"host key", func(t *testing.T, f *sshFixture) { f.knows(t, "") }, watchdog.ReachHostKey},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			row.setUp(t, f)
			c := f.start(t)
			for range 3 {
				_, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
				sshWantError(t, err, row.reach)
			}
			if got := f.server.accepted(); got != 1 {
				t.Errorf("%d connections for three commands, want 1", got)
			}
		})
	}
}

func TestSSHLeftAloneH13(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	c.LeaveAlone(0, 90*time.Second)
	for range 2 {
		_, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
		sshWantError(t, err, watchdog.ReachHeld, "left alone for another 1m30s", "cluster-watchdog check")
	}
	if f.server.accepted() != 0 {
		t.Error("H13: the node was asked")
	}
}

func TestSSHContextEndsHandshake(t *testing.T) {
	for _, row := range []struct {
		name string
		ctx  func() (context.Context, context.CancelFunc)
		want error
	}{
		{"cancelled", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
		{"H06 deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 50*time.Millisecond)
		}, context.DeadlineExceeded},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			f.limits.Handshake = time.Hour
			f.server.greet = func(c net.Conn) bool { c.Write([]byte("SSH-2.0-x\r\n")); return sshSilence(c) }
			ctx, cancel := row.ctx()
			defer cancel()
			_, err := f.start(t).Run(ctx, 0, sshShellScript(), nil)
			sshWantError(t, err, watchdog.ReachTimeout)
			if !errors.Is(ctx.Err(), row.want) || !errors.Is(err, row.want) {
				t.Errorf("got %v, want it to wrap %v", err, row.want)
			}
		})
	}
}

// TestSSHHandshakeDeadlineIsClearedH06: one left on the connection would end a long command.
func TestSSHHandshakeDeadlineIsClearedH06(t *testing.T) {
	t.Parallel() // it has to outlast the deadline
	f := sshNewFixture(t)
	f.limits.Handshake = 2 * time.Second
	c := f.start(t)
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(f.limits.Handshake)
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil || c.Handshakes(0) != 1 {
		t.Errorf("got %v after %d handshakes: the connection died with the handshake's deadline", err, c.Handshakes(0))
	}
}

func TestSSHKeysOfEveryKind(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			key, keyFile := sshKeyPair(t, kind)
			host, _ := sshKeyPair(t, kind)
			f := sshNewFixture(t)
			f.server = sshNewServer(t, key.PublicKey(), host)
			f.target.Port, f.target.Keys = f.server.port(), []string{keyFile}
			f.knows(t, sshLine(f.name(), host.PublicKey()))
			if _, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestSSHSecondKeyIsTried(t *testing.T) {
	f := sshNewFixture(t)
	other, file := sshKeyPair(t, "ed25519")
	f.target.Keys = append([]string{file}, f.target.Keys...)
	if _, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
	if got := f.server.offers(); len(got) == 0 || got[0] != ssh.FingerprintSHA256(other.PublicKey()) {
		t.Errorf("offered %v, want the first configured key first", got)
	}
}
