package clustertest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "clustertest")
	if err == nil {
		programs, err = BuildPrograms(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// start starts a cluster that ends with the test, which fails if somebody asked for the unknown.
func start(t *testing.T, change func(*Options)) *Cluster {
	t.Helper()
	o := Options{Nodes: 4, Dir: t.TempDir(), Programs: programs, Seed: 1}
	if change != nil {
		change(&o)
	}
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for _, u := range c.Unknown() {
			t.Errorf("n%d: %s", u.Node+1, u.Label)
		}
	})
	return c
}

func dial(c *Cluster, rank int) (*ssh.Client, error) {
	pem, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePrivateKey(pem)
	if err != nil {
		return nil, err
	}
	check, err := knownhosts.New(c.KnownHostsFile)
	if err != nil {
		return nil, err
	}
	return ssh.Dial("tcp", address(c, rank), &ssh.ClientConfig{
		User: User, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: check,
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519}, Timeout: patience,
	})
}

// patience is far longer than anything here takes.
const patience = 30 * time.Second

func address(c *Cluster, rank int) string {
	return net.JoinHostPort(c.Nodes[rank].Host, fmt.Sprint(c.Nodes[rank].Port))
}

func client(t *testing.T, c *Cluster, rank int) *ssh.Client {
	t.Helper()
	cl, err := dial(c, rank)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

type result struct {
	out, err string
	code     int
}

// ask runs a command on a node through a new connection.
func ask(t *testing.T, c *Cluster, rank int, command, stdin string) result {
	t.Helper()
	r, err := try(client(t, c, rank), command, stdin)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return r
}

func try(cl *ssh.Client, command, stdin string) (result, error) {
	s, err := cl.NewSession()
	if err != nil {
		return result{}, err
	}
	defer s.Close()
	var out, errOut bytes.Buffer
	s.Stdin, s.Stdout, s.Stderr = strings.NewReader(stdin), &out, &errOut
	err = s.Run(command)
	r := result{out: out.String(), err: errOut.String()}
	var exit *ssh.ExitError
	if errors.As(err, &exit) && exit.Signal() == "" {
		r.code, err = exit.ExitStatus(), nil
	}
	return r, err
}

// eventually waits for what comes soon.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never came: %s", what)
		}
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"no nodes", Options{Dir: t.TempDir(), Programs: programs}, "at least one node"},
		{"no folder", Options{Nodes: 1, Programs: programs}, "a folder"},
		{"no programs", Options{Nodes: 1, Dir: t.TempDir(), Programs: "/nowhere"}, "cannot use /nowhere"},
		{"bad fault", Options{Nodes: 1, Dir: t.TempDir(), Programs: programs, Faults: []Fault{{Kind: "gremlins"}}}, `no kind "gremlins"`},
		{"node beyond", Options{Nodes: 1, Dir: t.TempDir(), Programs: programs, Faults: []Fault{{Kind: NoSudo, Node: 1}}}, "no node n2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Start(tc.o)
			if err == nil {
				c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := Start(Options{Nodes: 4, Dir: b.TempDir(), Programs: programs})
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
