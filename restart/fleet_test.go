package restart

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/scripts"
)

// fleet is a number of nodes in another process: real SSH on loopback, and scripts that are known by
// their text and answered after their time, without a shell.
type fleet struct {
	cmd     *exec.Cmd
	stop    io.Closer
	targets []Target
}

const (
	fleetEnv = "WATCHDOG_TEST_FLEET"
	fleetLog = 1 << 20 // bytes of one node's log
	fleetCut = 10      // its nodes are so many times faster than usual
)

// fleetKeys are the seeds of the one key that may log in and the one that every node shows.
var fleetKeys = [2][]byte{bytes.Repeat([]byte{1}, ed25519.SeedSize), bytes.Repeat([]byte{2}, ed25519.SeedSize)}

func fleetSigner(b interface{ Fatal(...any) }, which int) (ssh.Signer, ed25519.PrivateKey) {
	raw := ed25519.NewKeyFromSeed(fleetKeys[which])
	signer, err := ssh.NewSignerFromKey(raw)
	if err != nil {
		b.Fatal(err)
	}
	return signer, raw
}

// startFleet starts the nodes, and writes the key and the known_hosts that they want.
func startFleet(b *testing.B, nodes int) *fleet {
	b.Helper()
	f := &fleet{cmd: exec.Command(os.Args[0])}
	f.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", fleetEnv, nodes))
	f.cmd.Stderr = os.Stderr
	stdin, err := f.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	f.stop = stdin
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { // the nodes end with their stdin
		f.stop.Close()
		f.cmd.Wait()
	})
	var ports []int
	if err := json.NewDecoder(stdout).Decode(&ports); err != nil {
		b.Fatalf("the nodes do not start: %v", err)
	}
	f.know(b, ports)
	return f
}

func (f *fleet) know(b *testing.B, ports []int) {
	_, raw := fleetSigner(b, 0)
	host, _ := fleetSigner(b, 1)
	block, err := ssh.MarshalPrivateKey(raw, "")
	if err != nil {
		b.Fatal(err)
	}
	key, known := filepath.Join(b.TempDir(), "id"), filepath.Join(b.TempDir(), "known_hosts")
	var lines strings.Builder
	for rank, port := range ports {
		lines.WriteString(sshLine(fmt.Sprintf("[127.0.0.1]:%d", port), host.PublicKey()))
		f.targets = append(f.targets, Target{Name: fmt.Sprintf("n%d", rank+1), Host: "127.0.0.1", Port: port, User: "ops", Keys: []string{key}, KnownHosts: known})
	}
	if err := os.WriteFile(key, pemOf(block), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(known, []byte(lines.String()), 0o644); err != nil {
		b.Fatal(err)
	}
}

// playFleet is the other process: it tells its ports, and plays until its stdin ends.
func playFleet(in io.Reader, out io.Writer) error {
	var nodes int
	if _, err := fmt.Sscan(os.Getenv(fleetEnv), &nodes); err != nil {
		return err
	}
	user, _ := fleetSigner(exiter{}, 0)
	host, _ := fleetSigner(exiter{}, 1)
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(key.Marshal(), user.PublicKey().Marshal()) {
			return nil, fmt.Errorf("not authorised")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	var ports []int
	for rank := range nodes {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go fleetNode{rank}.serve(conn, config)
			}
		}()
	}
	if err := json.NewEncoder(out).Encode(ports); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}

// exiter ends the process where a test would fail.
type exiter struct{}

func (exiter) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}

type fleetNode struct{ rank int }

func (n fleetNode) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
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
		for request := range asked {
			request.Reply(request.Type == "exec", nil)
			if request.Type == "exec" {
				n.answer(channel)
				break
			}
		}
	}
}

var (
	fleetFence = regexp.MustCompile(`'([0-9a-f]{32})' begin`)
	fleetID    = regexp.MustCompile(`WATCHDOG_ID='([0-9a-f]*)'`)
)

// answer plays the script that comes on stdin.
func (n fleetNode) answer(channel ssh.Channel) {
	input, err := io.ReadAll(channel)
	fence := fleetFence.FindSubmatch(input)
	if err != nil || fence == nil {
		channel.Close()
		return
	}
	fmt.Fprintf(channel, "\n%s begin\n", fence[1])
	code := n.play(channel, input)
	fmt.Fprintf(channel, "\n%s end %d\n", fence[1], code)
	sshTellCode(channel, code)
	channel.Close()
}

func (n fleetNode) play(channel ssh.Channel, input []byte) int {
	name := fleetScript(input)
	time.Sleep(nodeTime(name, n.rank) / fleetCut)
	id := fmt.Sprintf("%064x", 0xb000+n.rank)
	switch name {
	case "observe/look":
		channel.Write(bytes.Repeat([]byte("event={}\n"), 256))
	case "preserve/logs":
		channel.Write(bytes.Repeat([]byte("INFO engine: 12.3 tokens/s, 4 running, 0 waiting, cache 56.7 %\n"), fleetLog/64))
	case "settle/memory":
		fmt.Fprintln(channel, "memfree=1000")
	case "launch/launch":
		fmt.Fprintf(channel, "id=%s\nstarted_at=2026-03-01T12:00:00Z\nstatus=running\n", id)
	case "launch/verify":
		if m := fleetID.FindSubmatch(input); m == nil || string(m[1]) != id {
			return 1
		}
	case "":
		return 1 // a script that this fleet does not know
	}
	return 0
}

// fleetScript names the script in what was sent.
func fleetScript(input []byte) string {
	for _, s := range scripts.All() {
		if bytes.Contains(input, []byte(s.Body())) {
			return s.Name()
		}
	}
	return ""
}
