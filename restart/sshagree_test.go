package restart

import (
	"context"
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
	"time"

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

// TestSSHDHostKeysH01 has one row per content of known_hosts, with three host keys on the node.
func TestSSHDHostKeysH01(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run("H01 only "+kind+" known", func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f)
			f.knows(t, s.known(kind))
			if _, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("H03 hashed by ssh-keygen", func(t *testing.T) {
		f := sshNewFixture(t)
		s := startSSHD(t, f)
		f.knows(t, "# comment\r\n", "broken line\r\n", s.known("ed25519"))
		if out, err := exec.Command("ssh-keygen", "-H", "-f", f.target.KnownHosts).CombinedOutput(); err != nil {
			t.Logf("ssh-keygen -H: %v: %s", err, out) // it minds the broken line
			f.knows(t, s.known("ed25519"))
			sshMust(t, exec.Command("ssh-keygen", "-H", "-f", f.target.KnownHosts).Run())
		}
		sshMust(t, os.Chmod(f.target.KnownHosts, 0o644))
		if _, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestSSHDHostCertificates are made by ssh-keygen and shown by sshd.
func TestSSHDHostCertificates(t *testing.T) {
	rows := []struct {
		name       string
		principals string
		validity   string
		known      func(s *realSSHD, ca string) string
		words      []string
	}{
		{"of an authority for all", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, nil},
		{"of an authority for this port", "127.0.0.1", "+1d", func(s *realSSHD, ca string) string { return "@cert-authority " + s.name() + " " + ca }, nil},
		{"of an authority beside a plain key", "127.0.0.1", "+1d", func(s *realSSHD, ca string) string {
			return s.known("rsa") + "@cert-authority [127.0.0.*]:" + fmt.Sprint(s.port) + " " + ca
		}, nil},
		{"of an authority for others", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority *.lan " + ca }, []string{"host key unknown", "add this line to it: [127.0.0.1]:"}},
		{"for another name", "n9", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, []string{"host key refused", "principal"}},
		{"that is over", "127.0.0.1", "-2d:-1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, []string{"host key refused", "expired"}},
		{"whose authority is revoked", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca + "@revoked * " + ca }, []string{"host key refused", "revoked"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f, "HostCertificate DIR/host_ed25519-cert.pub", "HostCertificate DIR/host_ecdsa-cert.pub")
			ca := sshKeygen(t, s.file("ca"), "-t", "ecdsa")
			for _, kind := range []string{"ed25519", "ecdsa"} {
				out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "host", "-h", "-n", row.principals, "-V", row.validity, s.file("host_"+kind+".pub")).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			s.restart(t)
			f.target.Port = s.port
			public, err := os.ReadFile(ca + ".pub")
			sshMust(t, err)
			f.knows(t, row.known(s, string(public)))
			_, err = sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.words == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			sshWantError(t, err, watchdog.ReachHostKey, row.words...)
		})
	}
}

// TestSSHDKeys are made by ssh-keygen in every shape that people have.
func TestSSHDKeys(t *testing.T) {
	rows := []struct {
		name string
		args []string
		want string // empty: it logs in
	}{
		{"OpenSSH ed25519", []string{"-t", "ed25519"}, ""},
		{"OpenSSH rsa, signing with SHA-2", []string{"-t", "rsa", "-b", "2048"}, ""},
		{"OpenSSH ecdsa of 521 bits", []string{"-t", "ecdsa", "-b", "521"}, ""},
		{"PEM rsa", []string{"-t", "rsa", "-b", "2048", "-m", "PEM"}, ""},
		{"PEM ecdsa", []string{"-t", "ecdsa", "-m", "PEM"}, ""},
		{"PKCS#8 rsa", []string{"-t", "rsa", "-b", "2048", "-m", "PKCS8"}, ""},
		{"PKCS#8 ecdsa", []string{"-t", "ecdsa", "-m", "PKCS8"}, ""},
		{"encrypted OpenSSH", []string{"-t", "ed25519", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
		{"encrypted PEM", []string{"-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
		{"encrypted PKCS#8", []string{"-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
	}
	f := sshNewFixture(t)
	s := startSSHD(t, f)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			key := sshKeygen(t, filepath.Join(t.TempDir(), "id"), row.args...)
			public, err := os.ReadFile(key + ".pub")
			sshMust(t, err)
			sshMust(t, os.WriteFile(s.file("authorized_keys"), public, 0o644))
			own := *f
			own.target.Keys = []string{key}
			_, err = sshConns(t, &own).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.want == "" && err != nil {
				t.Error(err)
			}
			if row.want != "" {
				sshWantError(t, err, watchdog.ReachError, row.want)
			}
		})
	}
}

// TestSSHDUserCertificate: the node trusts an authority and knows no key.
func TestSSHDUserCertificate(t *testing.T) {
	for _, row := range []struct{ name, validity, want string }{
		{"valid", "+1d", ""}, {"over", "-2d:-1d", "its certificate ended at"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f, "TrustedUserCAKeys DIR/ca.pub")
			ca := sshKeygen(t, s.file("ca"), "-t", "ed25519")
			key := sshKeygen(t, s.file("id"), "-t", "rsa", "-b", "2048")
			out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "me", "-n", f.target.User, "-V", row.validity, key+".pub").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f.target.Keys = []string{key}
			_, err = sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.want == "" {
				sshMust(t, err)
			} else {
				sshWantError(t, err, watchdog.ReachAuth, row.want)
			}
		})
	}
}

// TestSSHDLoginShellsH16 gives each shell the very command line that sshd gives a login shell, with
// startup files that print. (sshd runs it through ForceCommand: a test makes no users.)
func TestSSHDLoginShellsH16(t *testing.T) {
	noisy := map[string]string{
		".zshenv": "echo 'Welcome to zsh'\n", ".cshrc": "echo 'Welcome to csh'\n", ".tcshrc": "echo 'Welcome to tcsh'\n",
		".config/fish/config.fish": "echo 'Welcome to fish'\n", ".bashrc": "echo 'Welcome to bash'\n",
	}
	for _, shell := range []string{"sh", "bash", "dash", "fish", "zsh", "csh", "tcsh", "nologin"} {
		t.Run("H16 H17 "+shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("no %s on this machine", shell)
			}
			f := sshNewFixture(t)
			s := startSSHD(t, f, fmt.Sprintf(`ForceCommand exec env HOME=DIR XDG_CONFIG_HOME=DIR/.config BASH_ENV=DIR/.bashrc %s -c "$SSH_ORIGINAL_COMMAND"`, path))
			for name, text := range noisy {
				sshMust(t, os.MkdirAll(filepath.Dir(s.file(name)), 0o755))
				sshMust(t, os.WriteFile(s.file(name), []byte(text), 0o644))
			}
			c := sshConns(t, f)
			result, err := sshRunBody(t, sshContext(t), c, `printf '%s' "it's \\ ! \"quoted\""; exit 5`)
			if shell == "nologin" {
				sshWantError(t, err, watchdog.ReachError, "the login shell ended with 1", "not available")
				return
			}
			if node := sshWantError(t, err, watchdog.ReachOK, "exit 5"); node.Unknown || result.Stdout != `it's \ ! "quoted"` {
				t.Errorf("got %q", result.Stdout)
			}
		})
	}
}

// TestSSHDBannerH17: what sshd itself prints is none of ours.
func TestSSHDBannerH17(t *testing.T) {
	f := sshNewFixture(t)
	s := startSSHD(t, f, "Banner DIR/banner", "PrintMotd yes")
	sshMust(t, os.WriteFile(s.file("banner"), []byte("AUTHORISED USE ONLY\r\n"), 0o644))
	result, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
	if err != nil || result.Stdout != "shell=ok\n" || strings.Contains(result.Stderr, "AUTHORISED") {
		t.Errorf("H17: got %+v, %v", result, err)
	}
}

// TestSSHDDiesH08: sshd's process of the connection is killed while a script runs.
func TestSSHDDiesH08(t *testing.T) {
	f := sshNewFixture(t)
	startSSHD(t, f)
	c := sshConns(t, f)
	_, err := sshRunBody(t, sshContext(t), c, "kill -9 $PPID; sleep 1")
	if node := sshWantError(t, err, watchdog.ReachDropped, "outcome is unknown"); !node.Unknown {
		t.Errorf("H08: got %+v", node)
	}
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil || c.Handshakes(0) != 2 {
		t.Errorf("H08: the next command: %v after %d handshakes", err, c.Handshakes(0))
	}
}

// TestSSHDHangsH06: the process lives and does not answer.
func TestSSHDHangsH06(t *testing.T) {
	f := sshNewFixture(t)
	s := startSSHD(t, f, "MaxStartups 100")
	f.limits.Handshake = 300 * time.Millisecond
	sshMust(t, s.process.Signal(sigStop))
	defer s.process.Signal(sigCont)
	_, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachNoBanner, "no SSH banner comes")
}

// TestSSHDJumpH18 goes through two real jump hosts, by an ssh_config that ssh itself understands.
func TestSSHDJumpH18(t *testing.T) {
	f := sshNewFixture(t)
	gate := startSSHD(t, f)
	second := startSSHD(t, f, "AllowTcpForwarding yes", "MaxSessions 1")
	node := startSSHD(t, f, "AllowTcpForwarding no")
	config := fmt.Sprintf("Host n2\n HostName 127.0.0.1\n Port %d\n ProxyJump gate,second\nHost gate\n HostName 127.0.0.1\n Port %d\n HostKeyAlias gate-key\nHost second\n HostName 127.0.0.1\n Port %d\nHost *\n User %s\n",
		node.port, gate.port, second.port, f.target.User)
	f.knows(t, node.known("ed25519"), second.known("rsa"), "gate-key "+gate.hostKey("ecdsa"))
	id := Identity{Keys: f.target.Keys, KnownHosts: f.target.KnownHosts, SSHConfig: sshWriteFile(t, "config", config, 0o644)}
	targets, err := Resolve(id, []Place{{Name: "n2"}, {Name: "n2"}})
	sshMust(t, err)
	c := NewConns(targets, f.limits)
	for rank := range targets {
		if _, err := c.Run(sshContext(t), rank, sshShellScript(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if gate.log.count("Accepted publickey") != 1 || second.log.count("Accepted publickey") != 1 || node.log.count("Accepted publickey") != 2 {
		t.Errorf("H18: logins at gate %d, second %d, node %d", gate.log.count("Accepted publickey"), second.log.count("Accepted publickey"), node.log.count("Accepted publickey"))
	}
	c.Close()

	for _, row := range []struct {
		name, jump string
		port       int
		reach      watchdog.Reach
		word       string
	}{
		{"H18 forbidden", "node", node.port, watchdog.ReachError, "AllowTcpForwarding"},
		{"H18 refused behind it", "gate", 1, watchdog.ReachRefused, "connection refused"},
	} {
		t.Run(row.name, func(t *testing.T) {
			via := targets[0]
			if row.jump == "gate" {
				via = *targets[0].Via.Via
			}
			via.Name = row.jump
			behind := Target{Name: "n2", Host: "127.0.0.1", Port: row.port, User: via.User, Keys: via.Keys, KnownHosts: via.KnownHosts, Via: &via}
			c := NewConns([]Target{behind}, f.limits)
			defer c.Close()
			_, err := c.Run(context.Background(), 0, sshShellScript(), nil)
			sshWantError(t, err, row.reach, row.word, "through "+row.jump)
		})
	}
}
