package restart

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// sshTestServer is a real SSH server on loopback that runs what it is told in a real shell.
type sshTestServer struct {
	t        *testing.T
	listener net.Listener
	config   *ssh.ServerConfig

	greet   func(net.Conn) bool                      // before the protocol; false: no more of it
	session func(ssh.NewChannel, int) bool           // of the nth channel of a connection; false: rejected
	command func(net.Conn, ssh.Channel, string, int) // answers an exec request, nth of its connection
	refuse  bool                                     // refuses exec requests
	forward func(ssh.NewChannel)                     // answers who wants to go on from here; nil: as sshd does
	reply   func()                                   // before an exec request is answered

	mu      sync.Mutex
	offered []string // fingerprints of the keys offered
	conns   []net.Conn
	wait    sync.WaitGroup
}

func sshNewServer(t *testing.T, authorized ssh.PublicKey, hostKeys ...ssh.Signer) *sshTestServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sshTestServer{t: t, listener: listener}
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		s.mu.Lock()
		s.offered = append(s.offered, ssh.FingerprintSHA256(key))
		s.mu.Unlock()
		if authorized != nil && bytes.Equal(key.Marshal(), authorized.Marshal()) {
			return nil, nil
		}
		return nil, errors.New("not authorised")
	}}
	for _, key := range hostKeys {
		s.config.AddHostKey(key)
	}
	t.Cleanup(s.stop)
	return s
}

// start begins to accept; whatever a test wants to be different is set before.
func (s *sshTestServer) start() *sshTestServer {
	s.wait.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns = append(s.conns, conn)
			s.mu.Unlock()
			s.wait.Go(func() { s.serve(conn) })
		}
	})
	return s
}

func (s *sshTestServer) stop() {
	s.listener.Close()
	s.dropAll()
	s.wait.Wait()
}

func (s *sshTestServer) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
}

func (s *sshTestServer) accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *sshTestServer) offers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.offered)
}

func (s *sshTestServer) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

func (s *sshTestServer) serve(conn net.Conn) {
	defer conn.Close()
	if s.greet != nil && !s.greet(conn) {
		return
	}
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for nth := 0; ; nth++ {
		opened, ok := <-channels
		if !ok {
			return
		}
		if opened.ChannelType() == "direct-tcpip" {
			s.wait.Go(func() { s.jump(opened) })
			continue
		}
		if s.session != nil && !s.session(opened, nth) {
			opened.Reject(ssh.ConnectionFailed, "open failed")
			continue
		}
		channel, asked, err := opened.Accept()
		if err != nil {
			return
		}
		s.wait.Go(func() { s.answer(conn, channel, asked, nth) })
	}
}

// jump is what sshd does for ssh -J.
func (s *sshTestServer) jump(asked ssh.NewChannel) {
	if s.forward != nil {
		s.forward(asked)
		return
	}
	var to struct {
		Host       string
		Port       uint32
		Origin     string
		OriginPort uint32
	}
	ssh.Unmarshal(asked.ExtraData(), &to)
	far, err := net.Dial("tcp", net.JoinHostPort(to.Host, fmt.Sprint(to.Port)))
	if err != nil {
		said := "Connection timed out"
		if errors.Is(err, syscall.ECONNREFUSED) {
			said = "Connection refused"
		}
		asked.Reject(ssh.ConnectionFailed, said)
		return
	}
	defer far.Close()
	channel, requests, err := asked.Accept()
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	s.wait.Go(func() {
		io.Copy(far, channel)
		far.Close()
	})
	io.Copy(channel, far)
	channel.Close()
}

func (s *sshTestServer) answer(conn net.Conn, channel ssh.Channel, asked <-chan *ssh.Request, nth int) {
	for request := range asked {
		if request.Type != "exec" || s.refuse {
			request.Reply(false, nil)
			continue
		}
		var payload struct{ Command string }
		ssh.Unmarshal(request.Payload, &payload)
		if s.reply != nil {
			s.reply()
		}
		request.Reply(true, nil)
		if s.command != nil {
			s.command(conn, channel, payload.Command, nth)
			continue
		}
		sshShell(channel, payload.Command)
		channel.Close()
	}
}

// sshShell does what sshd does: the login shell runs the command. Its end is told when it ends, even
// if a child of it still holds the output, and a signal that killed it is told as one.
func sshShell(channel ssh.Channel, command string) {
	sshShellTelling(channel, command, sshTellEnd)
}

func sshShellTelling(channel ssh.Channel, command string, tell func(ssh.Channel, *os.ProcessState)) {
	shell := exec.Command("/bin/sh", "-c", "exec "+command) // as bash does with its last command
	stdin, stdinErr := shell.StdinPipe()
	stdout, stdoutErr := shell.StdoutPipe()
	stderr, stderrErr := shell.StderrPipe()
	if err := errors.Join(stdinErr, stdoutErr, stderrErr, shell.Start()); err != nil {
		tell(channel, nil)
		return
	}
	go func() {
		io.Copy(stdin, channel)
		stdin.Close()
	}()
	var output sync.WaitGroup
	output.Go(func() {
		io.Copy(channel, stdout)
		stdout.Close() // who still writes has lost its reader
	})
	output.Go(func() {
		io.Copy(channel.Stderr(), stderr)
		stderr.Close()
	})
	state, _ := shell.Process.Wait()
	tell(channel, state)
	output.Wait()
}

// sshTellEnd tells how a shell ended.
func sshTellEnd(channel ssh.Channel, state *os.ProcessState) {
	if state == nil {
		sshTellCode(channel, 255)
		return
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		name := strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")
		channel.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal   string
			Core     bool
			Message  string
			Language string
		}{Signal: name}))
		return
	}
	sshTellCode(channel, state.ExitCode())
}

func sshTellCode(channel ssh.Channel, code int) {
	channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
}

// sshKeyPair is a key of the given kind and its file, readable by its owner only.
func sshKeyPair(t *testing.T, kind string) (ssh.Signer, string) {
	t.Helper()
	var raw any
	var err error
	switch kind {
	case "ed25519":
		_, raw, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		raw, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		raw, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		t.Fatalf("no kind of key %q", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	return signer, sshWriteFile(t, "id_"+kind, string(pem.EncodeToMemory(block)), 0o600)
}

func sshWriteFile(t *testing.T, name, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return path
}

// sshLine is a line of known_hosts.
func sshLine(name string, key ssh.PublicKey) string {
	return name + " " + string(ssh.MarshalAuthorizedKey(key))
}

// sshFixture is one node that works: a server, a key it accepts, a known_hosts that knows it.
type sshFixture struct {
	server *sshTestServer
	target Target
	key    ssh.Signer
	host   ssh.Signer
	limits Limits
}

func sshNewFixture(t *testing.T) *sshFixture {
	t.Helper()
	key, keyFile := sshKeyPair(t, "ed25519")
	host, _ := sshKeyPair(t, "ed25519")
	f := &sshFixture{key: key, host: host, server: sshNewServer(t, key.PublicKey(), host)}
	f.target = Target{Name: "n2", Host: "127.0.0.1", Port: f.server.port(), User: "ops", Keys: []string{keyFile}}
	f.knows(t, sshLine(f.name(), host.PublicKey()))
	// No retry unless a test asks for it: RetryUntil is more than any context has left.
	f.limits = Limits{Dial: 5 * time.Second, Handshake: 5 * time.Second, Pause: time.Millisecond, RetryUntil: time.Hour}
	return f
}

// name is what known_hosts calls the node.
func (f *sshFixture) name() string { return fmt.Sprintf("[127.0.0.1]:%d", f.server.port()) }

func (f *sshFixture) knows(t *testing.T, lines ...string) {
	t.Helper()
	f.target.KnownHosts = sshWriteFile(t, "known_hosts", strings.Join(lines, ""), 0o644)
}

func (f *sshFixture) start(t *testing.T) *Conns {
	t.Helper()
	f.server.start()
	c := NewConns([]Target{f.target}, f.limits)
	t.Cleanup(c.Close)
	return c
}

// sshContext bounds a test that would otherwise hang.
func sshContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// sshRunBody runs any script text on rank 0, framed as every script is.
func sshRunBody(t *testing.T, ctx context.Context, c *Conns, body string) (Result, error) {
	t.Helper()
	var out strings.Builder
	result, err := sshStreamBody(t, ctx, c, body, &cappedSink{w: &out, left: maxSSHStdout})
	result.Stdout = out.String()
	return result, err
}

func sshStreamBody(t *testing.T, ctx context.Context, c *Conns, body string, sink *cappedSink) (Result, error) {
	t.Helper()
	fence := scripts.NewFence()
	input, err := scripts.Render(scripts.Get("check/shell"), fence, nil)
	if err != nil {
		t.Fatal(err)
	}
	const shellOK = `printf 'shell=ok\n'`
	if bytes.Count(input, []byte(shellOK)) != 1 {
		t.Fatalf("check/shell no longer holds %s once", shellOK)
	}
	input = bytes.Replace(input, []byte(shellOK), []byte(body), 1)
	return c.runInput(ctx, c.nodes[0], sshJob{name: "check/test", fence: fence, input: input, sink: sink})
}

func sshShellScript() scripts.Script { return scripts.Get("check/shell") }

// sshWantError checks the kind of an error, the node it names, and words of its message.
func sshWantError(t *testing.T, err error, reach watchdog.Reach, words ...string) *NodeError {
	t.Helper()
	var node *NodeError
	if !errors.As(err, &node) {
		t.Fatalf("got error %v, want a NodeError", err)
	}
	if node.Reach != reach || node.Node != "n2" {
		t.Errorf("got reach %v of node %q, want %v of n2: %v", node.Reach, node.Node, reach, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	if strings.Count(err.Error(), "cannot") != 1 {
		t.Errorf("error %q does not say cannot exactly once", err)
	}
	return node
}
