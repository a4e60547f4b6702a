package restart

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

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
