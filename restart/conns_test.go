package restart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

func TestConnsOneHandshakePerNodeH13(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if c.Handshakes(0) != 1 || f.server.accepted() != 1 {
		t.Errorf("H13: %d handshakes, %d connections, want one", c.Handshakes(0), f.server.accepted())
	}
}

// TestConnsOneSessionAtOnceH14: MaxSessions may be 1.
func TestConnsOneSessionAtOnceH14(t *testing.T) {
	f := sshNewFixture(t)
	var mu sync.Mutex
	open := 0
	f.server.command = func(_ net.Conn, channel ssh.Channel, command string, _ int) {
		mu.Lock()
		open++
		if open > 1 {
			t.Error("H14: two sessions at once")
		}
		mu.Unlock()
		sshShell(channel, command)
		mu.Lock()
		open--
		mu.Unlock()
		channel.Close()
	}
	c := f.start(t)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestConnsWaitingForTurnEndsWithContext(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	<-c.nodes[0].turn // a command is running
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Run(ctx, 0, sshShellScript(), nil)
	node := sshWantError(t, err, watchdog.ReachTimeout, "an earlier command still runs there")
	if node.Unknown || f.server.accepted() != 0 {
		t.Errorf("got %+v, %d connections: nothing was run", node, f.server.accepted())
	}
}

// TestConnsSecondChannelRejectedH14: the session was not opened, so nothing ran, and the command gets
// a connection of its own.
func TestConnsSecondChannelRejectedH14(t *testing.T) {
	f := sshNewFixture(t)
	f.server.session = func(_ ssh.NewChannel, nth int) bool { return nth == 0 }
	c := f.start(t)
	for range 3 {
		if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Handshakes(0); got != 3 {
		t.Errorf("H14: %d handshakes for three commands, want 3", got)
	}
}

func TestConnsEveryChannelRejectedH14(t *testing.T) {
	f := sshNewFixture(t)
	f.server.session = func(ssh.NewChannel, int) bool { return false }
	c := f.start(t)
	_, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachError, "cannot run check/shell on n2", "MaxSessions"); node.Unknown {
		t.Error("H14: nothing was run")
	}
	if got := c.Handshakes(0); got != 1 {
		t.Errorf("H14: %d handshakes, want 1: a new connection does not help", got)
	}
}

// TestConnsPlaceIsFreedLateH14: with MaxSessions 1 sshd may not have freed the place of the last
// session when the next is asked for. That costs a question, and no connection.
func TestConnsPlaceIsFreedLateH14(t *testing.T) {
	f := sshNewFixture(t)
	f.server.session = func(_ ssh.NewChannel, nth int) bool { return nth%2 == 0 }
	c := f.start(t)
	for range 4 {
		if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Handshakes(0); got != 1 {
		t.Errorf("H14: %d handshakes for four commands, want 1", got)
	}
}

func TestConnsExecRefused(t *testing.T) {
	f := sshNewFixture(t)
	f.server.refuse = true
	_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachError, "sshd refuses to run a command"); node.Unknown {
		t.Error("nothing was run")
	}
}

// TestConnsDeadConnectionIsRedialled: it died between two commands, so nothing is in doubt.
func TestConnsDeadConnectionIsRedialled(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	for range 3 {
		if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Fatal(err)
		}
		f.server.dropAll()
	}
	if got := c.Handshakes(0); got != 3 {
		t.Errorf("%d handshakes after two drops, want 3", got)
	}
}

// TestConnsDropMidCommandH08: it may have run or not, and must not be sent again.
func TestConnsDropMidCommandH08(t *testing.T) {
	f := sshNewFixture(t)
	var ran []string
	f.server.command = func(conn net.Conn, channel ssh.Channel, _ string, _ int) {
		script, _ := io.ReadAll(channel)
		ran = append(ran, string(script))
		conn.Close()
	}
	c := f.start(t)
	_, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
	node := sshWantError(t, err, watchdog.ReachDropped, "cannot run check/shell on n2", "dropped while it ran", "outcome is unknown")
	if !node.Unknown || node.Exit != 0 {
		t.Errorf("H08: got %+v", node)
	}
	f.server.stop()
	if len(ran) != 1 {
		t.Errorf("H08: sent %d times", len(ran))
	}
}

// TestConnsDropAfterTheEndH08: with the exit status missing even a whole output proves nothing.
func TestConnsDropAfterTheEndH08(t *testing.T) {
	f := sshNewFixture(t)
	f.server.command = func(_ net.Conn, channel ssh.Channel, command string, _ int) {
		sshShellTelling(channel, command, func(ssh.Channel, *os.ProcessState) {})
		channel.Close() // no exit status
	}
	_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachDropped); !node.Unknown {
		t.Errorf("H08: got %+v", node)
	}
}

// TestConnsExitZeroWithChannelLeftOpenH07: a child holds the session. The result looks perfect, and
// Close of the session alone would return nil.
func TestConnsExitZeroWithChannelLeftOpenH07(t *testing.T) {
	f := sshNewFixture(t)
	shown := make(chan struct{})
	f.server.command = func(conn net.Conn, channel ssh.Channel, command string, nth int) {
		sshShell(channel, command)
		close(shown)
	}
	c := f.start(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-shown
		cancel()
	}()
	_, err := c.Run(ctx, 0, sshShellScript(), nil)
	node := sshWantError(t, err, watchdog.ReachTimeout, "outcome is unknown")
	if !node.Unknown || !errors.Is(err, context.Canceled) {
		t.Errorf("H07: got %+v", node)
	}
	if c.nodes[0].client != nil {
		t.Error("H07: the connection was kept")
	}
	f.server.command = nil
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil || c.Handshakes(0) != 2 {
		t.Errorf("H07: the next command: %v after %d handshakes", err, c.Handshakes(0))
	}
}

// TestConnsSilentNode has the three places where a library call would wait for ever.
func TestConnsSilentNode(t *testing.T) {
	rows := []struct {
		name  string
		setUp func(*sshTestServer, func())
	}{
		{"H07 session is never answered", func(s *sshTestServer, hang func()) {
			s.session = func(ssh.NewChannel, int) bool { hang(); return false }
		}},
		{"H07 shell is never started", func(s *sshTestServer, hang func()) { s.reply = hang }},
		{"H07 command never ends", func(s *sshTestServer, hang func()) {
			s.command = func(net.Conn, ssh.Channel, string, int) { hang() }
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			ctx, cancel := context.WithCancel(context.Background())
			over := make(chan struct{})
			row.setUp(f.server, func() { cancel(); <-over })
			_, err := f.start(t).Run(ctx, 0, sshShellScript(), nil)
			close(over)
			if node := sshWantError(t, err, watchdog.ReachTimeout); !node.Unknown {
				t.Errorf("got %+v", node)
			}
		})
	}
}

// N01: sshd lets us in and goes to a home that hangs. That nothing began is told, for it is no fault
// of the script.
func TestConnsHungHomeN01(t *testing.T) {
	f := sshNewFixture(t)
	over := make(chan struct{})
	f.server.command = func(net.Conn, ssh.Channel, string, int) { <-over }
	defer close(over)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := f.start(t).Run(ctx, 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachTimeout, "no end within its time", "its login shell did not even begin: the node may hang, or the home or the profile of user ")
}

func TestConnsScriptFails(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	result, err := sshRunBody(t, sshContext(t), c, "echo half; echo 'noise' >&2; printf 'permission \\033[31mdenied\\n' >&2; exit 3")
	node := sshWantError(t, err, watchdog.ReachOK, "cannot run check/test on n2: exit 3: permission [31mdenied")
	if node.Exit != 3 || node.Unknown || !strings.HasPrefix(node.Stderr, "noise\n") || result.Stdout != "half\n" || result.Exit != 3 {
		t.Errorf("got %+v, %+v", node, result)
	}
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil || c.Handshakes(0) != 1 {
		t.Errorf("the connection was not kept: %v, %d handshakes", err, c.Handshakes(0))
	}
}

// TestConnsNoiseH17: a profile and a logout script print around the script.
func TestConnsNoiseH17(t *testing.T) {
	f := sshNewFixture(t)
	f.server.command = func(_ net.Conn, channel ssh.Channel, command string, _ int) {
		io.WriteString(channel, "Welcome to n2\r\n{\"Status\":\"running\"}")
		sshShell(channel, command)
		io.WriteString(channel, "\r\nbye\n")
		channel.Close()
	}
	result, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
	if err != nil || result.Stdout != "shell=ok\n" {
		t.Errorf("H17: got %q, %v", result.Stdout, err)
	}
}

// TestConnsLoginShellH16: whatever the login shell is, it is asked for two plain words.
func TestConnsLoginShellH16(t *testing.T) {
	f := sshNewFixture(t)
	f.server.command = func(_ net.Conn, channel ssh.Channel, command string, _ int) {
		if command != "/bin/sh -s" {
			t.Errorf("H16: asked for %q", command)
		}
		sshShell(channel, command)
		channel.Close()
	}
	if _, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), map[string]string{"WATCHDOG_X": `' \ ! "` + "\n$(x) `y`"}); err != nil {
		t.Fatal(err)
	}
}

func TestConnsLoginShellRunsNothingH16(t *testing.T) {
	f := sshNewFixture(t)
	f.server.command = func(_ net.Conn, channel ssh.Channel, _ string, _ int) {
		io.WriteString(channel, "This account is currently not available.\n") // nologin says it there
		sshTellCode(channel, 1)
		channel.Close()
	}
	_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
	node := sshWantError(t, err, watchdog.ReachError, "the login shell ended with 1", "This account is currently not available.")
	if node.Unknown {
		t.Error("H16: nothing was run")
	}
}

// TestConnsShellKilledH08: the script began, and nobody knows how far it came.
func TestConnsShellKilledH08(t *testing.T) {
	f := sshNewFixture(t)
	_, err := sshRunBody(t, sshContext(t), f.start(t), "kill -9 $$")
	node := sshWantError(t, err, watchdog.ReachError, "outcome is unknown")
	if !node.Unknown {
		t.Errorf("H08: got %+v", node)
	}
}

func TestConnsOutputCaps(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	result, err := sshRunBody(t, sshContext(t), c, "head -c 1048576 /dev/zero | tr '\\0' x")
	if err != nil || len(result.Stdout) != maxSSHStdout {
		t.Errorf("exactly at the cap: got %d bytes, %v", len(result.Stdout), err)
	}
	result, err = sshRunBody(t, sshContext(t), c, "head -c 3000000 /dev/zero | tr '\\0' x")
	node := sshWantError(t, err, watchdog.ReachError, "more than 1024 KiB")
	if node.Unknown || len(result.Stdout) != maxSSHStdout {
		t.Errorf("over the cap: got %d bytes, %+v", len(result.Stdout), node)
	}
	_, err = sshRunBody(t, sshContext(t), c, "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo reason >&2; exit 1")
	node = sshWantError(t, err, watchdog.ReachOK, "reason")
	if len(node.Stderr) != maxSSHStderr {
		t.Errorf("got %d bytes of stderr", len(node.Stderr))
	}
	if c.Handshakes(0) != 1 {
		t.Errorf("%d handshakes", c.Handshakes(0))
	}
}

// TestConnsStreamH17 passes on everything between the fences, wherever the transport cuts it.
func TestConnsStreamH17(t *testing.T) {
	f := sshNewFixture(t)
	f.server.command = func(_ net.Conn, channel ssh.Channel, command string, _ int) {
		sshShell(sshByteWise{channel}, command)
		channel.Close()
	}
	var got bytes.Buffer
	sink := &cappedSink{w: &got, left: -1}
	if _, err := sshStreamBody(t, sshContext(t), f.start(t), `printf 'a\0b\n\n'; seq 2000`, sink); err != nil {
		t.Fatal(err)
	}
	want := "a\x00b\n\n"
	for i := 1; i <= 2000; i++ {
		want += fmt.Sprintln(i)
	}
	if got.String() != want {
		t.Errorf("H17: got %d bytes, want %d", got.Len(), len(want))
	}
}

// sshByteWise sends each byte of stdout in a packet of its own.
type sshByteWise struct{ ssh.Channel }

func (b sshByteWise) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := b.Channel.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// TestConnsStreamIsLive: the bytes come while the script still runs.
func TestConnsStreamIsLive(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := sshStreamBody(t, ctx, c, "yes", &cappedSink{w: writer, left: -1})
		writer.Close()
		ended <- err
	}()
	if _, err := io.ReadFull(reader, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, reader)
	cancel()
	if node := sshWantError(t, <-ended, watchdog.ReachTimeout); !node.Unknown {
		t.Errorf("got %+v", node)
	}
}

// TestConnsStreamWriterFails: a full disk on the head is no failure of the node.
func TestConnsStreamWriterFails(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	full := errors.New("no space left on device")
	_, err := c.Stream(sshContext(t), 0, sshShellScript(), nil, sshFailingWriter{full})
	var node *NodeError
	if !errors.Is(err, full) || errors.As(err, &node) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil || c.Handshakes(0) != 1 {
		t.Errorf("the connection was not kept: %v", err)
	}
}

type sshFailingWriter struct{ err error }

func (w sshFailingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestSSHSealedOutputIsLeftAloneH07(t *testing.T) {
	var got bytes.Buffer
	out := newSSHOutput("fence", &got)
	out.stdout().Write([]byte("\nfence begin\nbefore"))
	out.seal()
	after := bytes.Repeat([]byte("after"), 1000) // more than is held back for a fence
	out.stdout().Write(after)
	out.stderr().Write(after)
	if got.String() != "before" || len(out.errors) != 0 {
		t.Errorf("H07: got %q and %d bytes of stderr", got.String(), len(out.errors))
	}
}

func TestSSHFenceSplitAcrossWritesH17(t *testing.T) {
	const said = "noise\nfence begin\nbody\nfence end 7\nnoise"
	for cut := range len(said) {
		var got bytes.Buffer
		out := newSSHOutput("fence", &got)
		out.stdout().Write([]byte(said[:cut]))
		out.stdout().Write([]byte(said[cut:]))
		if s := out.seal(); got.String() != "body" || !s.began || !s.ended || s.exit != 7 {
			t.Fatalf("H17: cut at %d: got %q, %+v", cut, got.String(), s)
		}
	}
}

// TestSSHBeganAcrossWritesH08: whether a script began must be known even if it never ended.
func TestSSHBeganAcrossWritesH08(t *testing.T) {
	const said = "noise\nfence begin\n"
	for cut := range len(said) {
		out := newSSHOutput("fence", io.Discard)
		out.stdout().Write([]byte(said[:cut]))
		out.stdout().Write([]byte(said[cut:]))
		if s := out.seal(); !s.began || s.ended {
			t.Fatalf("H08: cut at %d: got %+v", cut, s)
		}
	}
}

func TestConnsClose(t *testing.T) {
	f := sshNewFixture(t)
	c := f.start(t)
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	_, err := c.Run(sshContext(t), 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachError, "closed")
	if got := c.Handshakes(0); got != 1 {
		t.Errorf("%d handshakes, want none after Close", got)
	}
}

func TestConnsNoSuchRank(t *testing.T) {
	c := NewConns(nil, DefaultLimits())
	if _, err := c.Run(context.Background(), 0, sshShellScript(), nil); err == nil || !strings.Contains(err.Error(), "internal error") {
		t.Errorf("got %v", err)
	}
}

// TestSSHDefaultLimitsFitALookH06: SSH has 40 s of a look, and a retry begun at the last moment must
// still end in it.
func TestSSHDefaultLimitsFitALookH06(t *testing.T) {
	const look = 40 * time.Second
	l := DefaultLimits()
	tries := l.Dial + l.Handshake
	if tries > look-l.RetryUntil {
		t.Errorf("H06: after a first try of %v no time is left for the retry", tries)
	}
	if l.Pause+tries > l.RetryUntil {
		t.Errorf("H06: a retry of %v after %v may not end in the last %v", tries, l.Pause, l.RetryUntil)
	}
}
