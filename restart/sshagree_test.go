package restart

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// eachSSHServer runs a test against the in-process server and against OpenSSH's own: what holds
// for one must hold for the other.
func eachSSHServer(t *testing.T, do func(*testing.T, *sshFixture)) {
	t.Run("in-process", func(t *testing.T) {
		f := sshNewFixture(t)
		f.server.start()
		do(t, f)
	})
	t.Run("sshd", func(t *testing.T) {
		f := sshNewFixture(t)
		startSSHD(t, f)
		do(t, f)
	})
}

func sshConns(t *testing.T, f *sshFixture) *Conns {
	t.Helper()
	c := NewConns([]Target{f.target}, f.limits)
	t.Cleanup(c.Close)
	return c
}

// TestSSHDAgrees has one row per way in which a command or a connection can end.
func TestSSHDAgrees(t *testing.T) {
	run := func(body string) func(*testing.T, *sshFixture) (Result, error) {
		return func(t *testing.T, f *sshFixture) (Result, error) {
			return sshRunBody(t, sshContext(t), sshConns(t, f), body)
		}
	}
	rows := []struct {
		name    string
		do      func(*testing.T, *sshFixture) (Result, error)
		want    string // of stdout
		reach   watchdog.Reach
		unknown bool
		words   []string
	}{
		{"a script runs", run("printf 'a\\0b'; id -u >/dev/null"), "a\x00b", watchdog.ReachOK, false, nil},
		{"it fails", run("echo half; echo 'no luck' >&2; exit 3"), "half\n", watchdog.ReachOK, false, []string{"exit 3: no luck"}},
		{"H08 its shell is killed", run("kill -9 $$"), "", watchdog.ReachError, true, []string{"killed there by signal KILL", "outcome is unknown"}},
		{"H08 its shell is terminated", run("kill -15 $$"), "", watchdog.ReachError, true, []string{"killed there by signal TERM"}},
		{"it prints too much", run("head -c 3000000 /dev/zero"), strings.Repeat("\x00", maxSSHStdout), watchdog.ReachError, false, []string{"more than 1024 KiB"}},
		{"H13 the key is not accepted", func(t *testing.T, f *sshFixture) (Result, error) {
			_, f.target.Keys = "", []string{func() string { _, file := sshKeyPair(t, "rsa"); return file }()}
			return run("true")(t, f)
		}, "", watchdog.ReachAuth, false, []string{"does not accept user", "authorized_keys"}},
		{"the host is unknown", func(t *testing.T, f *sshFixture) (Result, error) {
			f.knows(t, "")
			return run("true")(t, f)
		}, "", watchdog.ReachHostKey, false, []string{"host key unknown", "only then add this line to it: [127.0.0.1]:", " ssh-ed25519 AAAA"}},
		{"the line to add is right", func(t *testing.T, f *sshFixture) (Result, error) {
			f.knows(t, "")
			_, err := run("true")(t, f)
			_, line, _ := strings.Cut(err.Error(), "add this line to it: ")
			f.knows(t, line+"\n")
			return run("echo in")(t, f)
		}, "in\n", watchdog.ReachOK, false, nil},
		{"the host key has changed", func(t *testing.T, f *sshFixture) (Result, error) {
			name := fmt.Sprintf("[127.0.0.1]:%d", f.target.Port)
			f.knows(t, sshLine(name, f.key.PublicKey()))
			return run("true")(t, f)
		}, "", watchdog.ReachHostKey, false, []string{"host key changed", "find out why first"}},
	}
	eachSSHServer(t, func(t *testing.T, f *sshFixture) {
		for _, row := range rows {
			t.Run(row.name, func(t *testing.T) {
				own := *f
				result, err := row.do(t, &own)
				if result.Stdout != row.want {
					t.Errorf("got %d bytes %.40q", len(result.Stdout), result.Stdout)
				}
				if row.reach == watchdog.ReachOK && row.words == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if node := sshWantError(t, err, row.reach, row.words...); node.Unknown != row.unknown {
					t.Errorf("got %+v", node)
				}
			})
		}
	})
}

// TestSSHDLeftOpenH07: a child that holds the output keeps the session, and the exit status comes before.
func TestSSHDLeftOpenH07(t *testing.T) {
	eachSSHServer(t, func(t *testing.T, f *sshFixture) {
		client := sshRawClient(t, f)
		channel, requests, err := client.OpenChannel("session", nil)
		sshMust(t, err)
		hold := filepath.Join(t.TempDir(), "hold")
		sshMust(t, exec.Command("mkfifo", hold).Run())
		_, err = channel.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{"cat " + hold + " & exit 7"}))
		sshMust(t, err)
		request := <-requests
		if request == nil || request.Type != "exit-status" || request.Payload[3] != 7 {
			t.Fatalf("H07: got %+v, want exit status 7 while a child holds the output", request)
		}
		sshMust(t, os.WriteFile(hold, []byte("late"), 0)) // ends the child
		if rest, err := io.ReadAll(channel); err != nil || string(rest) != "late" {
			t.Errorf("H07: got %q, %v", rest, err)
		}
	})
}

func sshRawClient(t *testing.T, f *sshFixture) *ssh.Client {
	t.Helper()
	c := sshConns(t, f)
	client, _, failure := c.connect(sshContext(t), c.nodes[0])
	if failure != nil {
		t.Fatal(failure)
	}
	return client
}

// TestSSHDMaxSessionsH14: one session at a time is enough for everything, and a second is rejected
// in the words that the in-process server has.
func TestSSHDMaxSessionsH14(t *testing.T) {
	f := sshNewFixture(t)
	s := startSSHD(t, f, "MaxSessions 1")
	c := sshConns(t, f)
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Errorf("H14: %v", err)
			}
		})
	}
	wait.Wait()
	if s.log.count("no more sessions") == 0 {
		t.Log("H14: sshd was never too slow to free the place")
	}
	if c.Handshakes(0) != 1 || s.log.count("Accepted publickey") != 1 {
		t.Errorf("H14: %d handshakes, want 1", c.Handshakes(0))
	}
	client := sshRawClient(t, f)
	_, _, err := client.OpenChannel("session", nil)
	sshMust(t, err)
	var rejected *ssh.OpenChannelError
	if _, _, err = client.OpenChannel("session", nil); !errors.As(err, &rejected) || rejected.Reason != ssh.ConnectionFailed || rejected.Message != "open failed" {
		t.Errorf("H14: got %v, want what the in-process server says", err)
	}
}

func TestSSHDNoSessionsH14(t *testing.T) {
	f := sshNewFixture(t)
	startSSHD(t, f, "MaxSessions 0")
	_, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
	if node := sshWantError(t, err, watchdog.ReachError, "MaxSessions"); node.Unknown {
		t.Error("H14: nothing was run")
	}
}

// TestSSHDMaxStartupsH13: while somebody else takes the one place, we are closed off; we try once more.
func TestSSHDMaxStartupsH13(t *testing.T) {
	f := sshNewFixture(t)
	s := startSSHD(t, f, "MaxStartups 1:100:1")
	f.limits.RetryUntil = 0
	other, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(s.port)))
	sshMust(t, err)
	t.Cleanup(func() { other.Close() })
	if _, err := other.Read(make([]byte, 3)); err != nil { // its place is taken
		t.Fatal(err)
	}
	c := sshConns(t, f)
	_, err = c.Run(sshContext(t), 0, sshShellScript(), nil)
	node := sshWantError(t, err, watchdog.ReachHandshake, "closed", "MaxStartups")
	if node.Unknown || c.Handshakes(0) != 2 {
		t.Errorf("H13: %d handshakes, want 2: %v", c.Handshakes(0), err)
	}
	t.Logf("sshd's words: %v", err)
	other.Close()
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil && !strings.Contains(err.Error(), "MaxStartups") {
		t.Errorf("H13: afterwards: %v", err) // sshd may not have noticed yet that the place is free
	}
}

// TestSSHDPerSourcePenaltiesH13: whom sshd has banned is told that it is being throttled, not that the
// node is down.
func TestSSHDPerSourcePenaltiesH13(t *testing.T) {
	if !sshdKnows(t, "PerSourcePenalties=yes") {
		t.Skip("this sshd knows no PerSourcePenalties: OpenSSH 9.8 does")
	}
	f := sshNewFixture(t)
	startSSHD(t, f, "PerSourcePenalties authfail:60 min:1")
	good := f.target.Keys
	_, bad := sshKeyPair(t, "ed25519")
	f.target.Keys = []string{bad}
	_, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachAuth)
	f.target.Keys = good
	for range 100 { // the penalty is noted when the session's process has ended
		if _, err = sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			break
		}
	}
	sshWantError(t, err, watchdog.ReachHandshake, "PerSourcePenalties")
}
