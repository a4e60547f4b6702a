package clustertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestCommandRunsAtHome(t *testing.T) {
	c := start(t, nil)
	r := ask(t, c, 1, `pwd; echo "$PATH"; echo "$USER"; cat; echo bad >&2; exit 7`, "from stdin\n")
	dir := c.NodeDir(1)
	want := fmt.Sprintf("%s/home\n%s/bin:/usr/bin:/bin\nops\nfrom stdin\n", dir, dir)
	if r.out != want || r.err != "bad\n" || r.code != 7 {
		t.Errorf("got %+v, want %q", r, want)
	}
	if c.Handshakes(1) != 1 || c.Handshakes(0) != 0 {
		t.Errorf("handshakes are %d and %d", c.Handshakes(1), c.Handshakes(0))
	}
	if r := ask(t, c, 1, "env | cut -d= -f1 | sort | tr '\n' ' '", ""); strings.Contains(r.out, "GO") {
		t.Errorf("the environment is not clean: %s", r.out)
	}
}

func TestSignalIsTold(t *testing.T) {
	c := start(t, nil)
	_, err := try(client(t, c, 0), "kill -KILL $$", "")
	var exit *ssh.ExitError
	if !errors.As(err, &exit) || exit.Signal() != "KILL" {
		t.Errorf("got %v, want signal KILL", err)
	}
}

func TestOnlyCommandsAreServed(t *testing.T) {
	c := start(t, nil)
	t.Cleanup(func() { os.Remove(filepath.Join(c.NodeDir(0), "run", "unknown")) })
	cl := client(t, c, 0)
	s, err := cl.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.RequestPty("xterm", 24, 80, nil); err == nil {
		t.Error("a terminal was given")
	}
	if err := s.Setenv("LC_ALL", "C"); err == nil {
		t.Error("an environment was taken")
	}
	if err := s.RequestSubsystem("sftp"); err == nil {
		t.Error("a subsystem was given")
	}
	if _, err := cl.Dial("tcp", address(c, 1)); err == nil {
		t.Error("a connection was forwarded")
	}
	if len(c.Unknown()) != 3 {
		t.Errorf("noted %v", c.Unknown())
	}
	os.Remove(filepath.Join(c.NodeDir(0), "run", "unknown"))
}

func TestMaxSessions(t *testing.T) { // H14
	c := start(t, nil)
	cl := client(t, c, 0)
	for range maxSessions {
		if _, err := cl.NewSession(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := cl.NewSession(); err == nil || !strings.Contains(err.Error(), `connect failed ("open failed")`) {
		t.Errorf("got %v", err)
	}
}

func TestWrongKeyAndUser(t *testing.T) {
	c, other := start(t, nil), start(t, func(o *Options) { o.Nodes = 1 })
	c.KeyFile = other.KeyFile
	if _, err := dial(c, 0); err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
		t.Errorf("got %v", err)
	}
	if c.Handshakes(0) != 0 {
		t.Error("a failed login was counted")
	}
}

// TestBothHostKeys has what H01 needs: two keys on the server, one in the file.
func TestBothHostKeys(t *testing.T) {
	c := start(t, nil)
	known, err := os.ReadFile(c.KnownHostsFile)
	if err != nil {
		t.Fatal(err)
	}
	n := c.Nodes[2]
	if !strings.Contains(string(known), n.HostKey) || strings.Contains(string(known), "ecdsa") || !strings.Contains(n.ECDSA, "ecdsa") {
		t.Errorf("known_hosts is %s, the keys are %q and %q", known, n.HostKey, n.ECDSA)
	}
	if !strings.HasPrefix(n.HostKey, fmt.Sprintf("[127.0.0.1]:%d ssh-ed25519 ", n.Port)) {
		t.Errorf("the line is %q", n.HostKey)
	}
}

func alive(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil
}

func written(file string) bool {
	b, err := os.ReadFile(file)
	return err == nil && strings.HasSuffix(string(b), "\n")
}

// TestCommandEndsWithItsClient: children in groups of their own end too, detached ones do not,
// and Close ends those.
func TestCommandEndsWithItsClient(t *testing.T) {
	c := start(t, nil)
	home := filepath.Join(c.NodeDir(0), "home")
	cl := client(t, c, 0)
	s, err := cl.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(`setsid sh -c 'echo $$ >detached; exec sleep 500' </dev/null >/dev/null 2>&1 &
		timeout 400 sh -c 'echo $$ >grouped; exec sleep 500' &
		echo $$ >own; wait`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"detached", "grouped", "own"} {
		eventually(t, name, func() bool { return written(filepath.Join(home, name)) })
	}
	cl.Close()
	for _, name := range []string{"own", "grouped"} {
		eventually(t, name+" ends", func() bool { return !alive(t, filepath.Join(home, name)) })
	}
	if !alive(t, filepath.Join(home, "detached")) {
		t.Error("the detached helper ended with the client")
	}
	c.Close()
	eventually(t, "detached ends with the cluster", func() bool { return !alive(t, filepath.Join(home, "detached")) })
}

// TestChannelStaysOpen: a child that holds the output holds the session, as under sshd (H07).
func TestChannelStaysOpen(t *testing.T) {
	c := start(t, nil)
	s, err := client(t, c, 0).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var waited = make(chan error, 1)
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("setsid sleep 300 & echo started"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len("started\n"))
	if _, err := out.Read(b); err != nil {
		t.Fatal(err)
	}
	go func() { waited <- s.Wait() }()
	eventually(t, "the shell has ended", func() bool { return shells(c, 0) == 0 })
	select {
	case err := <-waited:
		t.Errorf("the session ended: %v", err)
	default:
	}
	c.Close()
	<-waited
}

// shells counts the shells that run on a node for a session.
func shells(c *Cluster, rank int) int {
	n := 0
	for _, pid := range pids() {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if string(comm) == "sh\n" && !strings.Contains(string(stat), ") Z ") && c.servers[rank].node.Owns(strconv.Itoa(pid)) {
			n++
		}
	}
	return n
}
