package restart

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"cluster-watchdog/watchdog"
)

// TestIdentityNeverFallsBack: whoever runs the watchdog has a key that works and an agent that
// holds it. The configured key is not authorised, so the answer is a refusal, and the node
// never sees any other key.
func TestIdentityNeverFallsBack(t *testing.T) {
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	asked := sshStartAgent(t, filepath.Join(home, "agent"), raw)
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"id_ed25519", "id_rsa", "id_ecdsa"} {
		if err := os.WriteFile(filepath.Join(home, ".ssh", name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	configured, file := sshKeyPair(t, "ed25519")
	f := sshNewFixture(t)
	f.server = sshNewServer(t, own.PublicKey(), f.host)
	f.target.Port = f.server.port()
	f.knows(t, sshLine(f.name(), f.host.PublicKey()))
	targets, err := Resolve(Identity{User: "ops", Keys: []string{file}, KnownHosts: f.target.KnownHosts},
		[]Place{{Name: "n2", Host: "127.0.0.1", Port: f.server.port()}})
	if err != nil {
		t.Fatal(err)
	}
	f.target = targets[0]
	_, err = f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
	sshWantError(t, err, watchdog.ReachAuth, "does not accept user ops with "+file)
	for _, offered := range f.server.offers() {
		if offered != ssh.FingerprintSHA256(configured.PublicKey()) {
			t.Errorf("the key %s was offered; only the configured one may be", offered)
		}
	}
	if len(f.server.offers()) == 0 {
		t.Error("the configured key was not offered")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the agent was asked %d times", n)
	}

	// The trap is a real one: with the user's own key the same node lets us in.
	f.target.Keys = []string{filepath.Join(home, ".ssh", "id_ed25519")}
	c := NewConns([]Target{f.target}, f.limits)
	defer c.Close()
	if _, err := c.Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
		t.Fatal(err)
	}
}

// sshStartAgent serves an agent that holds the key, and counts who asks it.
func sshStartAgent(t *testing.T, path string, key ed25519.PrivateKey) *atomic.Int32 {
	t.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	t.Setenv("SSH_AUTH_SOCK", path)
	var asked atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			go agent.ServeAgent(ring, conn)
		}
	}()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if keys, err := agent.NewClient(conn).List(); err != nil || len(keys) != 1 {
		t.Fatalf("the agent does not work: %v, %v", keys, err)
	}
	asked.Store(0)
	return &asked
}

// TestIdentityKeyFiles has one row per kind of file that may stand where a key should.
func TestIdentityKeyFiles(t *testing.T) {
	_, good := sshKeyPair(t, "ed25519")
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(content)
	if err != nil {
		t.Fatal(err)
	}
	_, raw, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(raw, "", []byte("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(t.TempDir(), name) }
	rows := []struct {
		name string
		path func() string
		want string // empty: usable
	}{
		{"a key", func() string { return good }, ""},
		{"symlink to a key", func() string { p := in("link"); sshMust(t, os.Symlink(good, p)); return p }, ""},
		{"read-only", func() string { return sshWriteFile(t, "id", string(content), 0o400) }, ""},
		{"missing", func() string { return "/nonexistent/id" }, "does not exist: create it"},
		{"symlink to nothing", func() string { p := in("link"); sshMust(t, os.Symlink("/nonexistent/id", p)); return p }, "does not exist"},
		{"group may read", func() string { return sshWriteFile(t, "id", string(content), 0o640) }, "others can read it (mode 0640): chmod 600 /"},
		{"all may read", func() string { return sshWriteFile(t, "id", string(content), 0o604) }, "others can read it"},
		{"group may write", func() string { return sshWriteFile(t, "id", string(content), 0o620) }, "others can write it (mode 0620)"},
		{"named pipe", func() string { p := in("pipe"); sshMust(t, syscall.Mkfifo(p, 0o600)); return p }, "not a regular file"},
		{"socket", func() string {
			p := in("socket")
			l, err := net.Listen("unix", p)
			sshMust(t, err)
			t.Cleanup(func() { l.Close() })
			return p
		}, "not a regular file"},
		{"device", func() string { return "/dev/null" }, "not a regular file"},
		{"folder", func() string { return t.TempDir() }, "is a directory"},
		{"home of whoever runs us", func() string { return "~/.ssh/id_ed25519" }, "not an absolute path"},
		{"relative", func() string { return "id_ed25519" }, "not an absolute path"},
		{"encrypted", func() string { return sshWriteFile(t, "id", string(pem.EncodeToMemory(locked)), 0o600) }, "encrypted with a passphrase"},
		{"encrypted PKCS#8", func() string {
			return sshWriteFile(t, "id", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", 0o600)
		}, "encrypted with a passphrase"},
		{"encrypted PEM", func() string {
			return sshWriteFile(t, "id", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n", 0o600)
		}, "encrypted with a passphrase"},
		{"public", func() string {
			return sshWriteFile(t, "id", string(ssh.MarshalAuthorizedKey(signer.PublicKey())), 0o600)
		}, "is a public key"},
		{"garbage", func() string { return sshWriteFile(t, "id", "password: tiger\n", 0o600) }, "is not a private key"},
		{"unknown PEM", func() string {
			return sshWriteFile(t, "id", "-----BEGIN TIGER-----\nAAAA\n-----END TIGER-----\n", 0o600)
		}, "is not a private key"},
		{"cut short", func() string { return sshWriteFile(t, "id", string(content[:len(content)/2]), 0o600) }, "is not a private key"},
		{"empty", func() string { return sshWriteFile(t, "id", "", 0o600) }, "is not a private key"},
		{"huge", func() string { return sshWriteFile(t, "id", strings.Repeat("x", maxIdentityFile+1), 0o600) }, "larger than 4 MiB"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := row.path()
			_, err := readKey(path, trustedOwners(nil))
			if row.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "key "+path) {
				t.Fatalf("got %v, want it to name %s and say %q", err, path, row.want)
			}
			if strings.Contains(strings.ToLower(err.Error()), "tiger") || strings.Contains(err.Error(), "AAAA") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

func sshMust(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestIdentityFileRules has the rules that depend on who owns a file.
func TestIdentityFileRules(t *testing.T) {
	rows := []struct {
		name    string
		file    identityFile
		private bool
		want    string
	}{
		{"root's", identityFile{0o600, 0}, true, ""},
		{"the user's", identityFile{0o600, 1000}, true, ""},
		{"a stranger's", identityFile{0o600, 1001}, true, "belongs to uid 1001"},
		{"a stranger's known_hosts", identityFile{0o644, 1001}, false, "belongs to uid 1001"},
		{"known_hosts for all to read", identityFile{0o644, 0}, false, ""},
		{"known_hosts for all to write", identityFile{0o666, 0}, false, "others can write it"},
	}
	owners := identityOwners{0: true, 1000: true}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := row.file.refuse("/etc/x", owners, row.private)
			if row.want == "" && err != nil {
				t.Error(err)
			}
			if row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

func TestIdentityMissingIsNotForbidden(t *testing.T) {
	missing, forbidden := explainOpen(syscall.ENOENT).Error(), explainOpen(syscall.EACCES).Error()
	if !strings.Contains(missing, "does not exist") || !strings.Contains(forbidden, "permission denied") {
		t.Errorf("got %q and %q", missing, forbidden)
	}
}

func TestIdentityOwners(t *testing.T) {
	owners := trustedOwners([]string{"", "no-such-user-here"})
	if !owners[0] || !owners[uint32(os.Geteuid())] || len(owners) > 2 {
		t.Errorf("got %v", owners)
	}
	if owners := trustedOwners([]string{"nobody"}); !owners[65534] {
		t.Skip("no user nobody with the usual id on this machine")
	}
}

// TestResolveReportsEverything: all that is wrong is told at once, and each thing once.
func TestResolveReportsEverything(t *testing.T) {
	config := sshWriteFile(t, "config", "Host *\n  ProxyCommand bastion\n", 0o644)
	_, err := Resolve(Identity{Keys: []string{"/nonexistent/id", "~/id"}, KnownHosts: "/nonexistent/known_hosts", SSHConfig: config},
		[]Place{{Name: "n1"}, {Name: "n2"}})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"ProxyCommand", "cannot use key /nonexistent/id", "cannot use key ~/id", "cannot use known_hosts /nonexistent/known_hosts"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("error says %q %d times, want once:\n%v", want, strings.Count(err.Error(), want), err)
		}
	}
}

// TestResolveGuessesNothing: no user, key or known_hosts of whoever runs the watchdog.
func TestResolveGuessesNothing(t *testing.T) {
	t.Setenv("USER", "root")
	_, err := Resolve(Identity{}, []Place{{Name: "n1", Host: "10.0.0.1"}})
	for _, want := range []string{"no user is configured", "no key is configured", "no known_hosts is configured"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}
