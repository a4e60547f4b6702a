package restart

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// realSSHD is OpenSSH's own sshd, as a process of the test: its port, and the folder of its files.
type realSSHD struct {
	dir     string
	lines   []string // of its configuration
	port    int
	log     *sshdLog
	process *os.Process
}

// sshdLog keeps what sshd says, to be shown by a test that fails.
type sshdLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *sshdLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *sshdLog) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(strings.Join(l.lines, "\n"), words)
}

// sshdProgram is the path of sshd, which wants to be called by its whole path.
func sshdProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"sshd", "/usr/sbin/sshd"} {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	t.Skip("no sshd on this machine: install openssh-server")
	return ""
}

// sshKeygen makes a key as people make it.
func sshKeygen(t *testing.T, path string, args ...string) string {
	t.Helper()
	out, err := exec.Command("ssh-keygen", append([]string{"-q", "-N", "", "-f", path}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen %v: %v: %s", args, err, out)
	}
	return path
}

// sshdHostKeys are one key of each kind, made once.
func sshdHostKeys(t *testing.T) map[string]string {
	t.Helper()
	keys, err := sshdMadeKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

var sshdMadeKeys = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "hostkeys")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	keys := map[string]string{}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		name := "host_" + kind
		if out, err := exec.Command("ssh-keygen", "-q", "-N", "", "-t", kind, "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("ssh-keygen: %w: %s", err, out)
		}
		for _, file := range []string{name, name + ".pub"} {
			content, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return nil, err
			}
			keys[file] = string(content)
		}
	}
	return keys, nil
})

// startSSHD starts sshd with these lines in its configuration, and makes the fixture's target it: the
// fixture's key logs in as whoever runs the test.
func startSSHD(t *testing.T, f *sshFixture, lines ...string) *realSSHD {
	t.Helper()
	sshdProgram(t)
	me, err := user.Current()
	sshMust(t, err)
	if os.Geteuid() == 0 {
		sshMust(t, os.MkdirAll("/run/sshd", 0o755)) // as its package does; it does not start without
	}
	s := &realSSHD{dir: t.TempDir(), lines: lines, log: &sshdLog{}}
	for name, content := range sshdHostKeys(t) {
		sshMust(t, os.WriteFile(s.file(name), []byte(content), 0o600))
	}
	sshMust(t, os.WriteFile(s.file("authorized_keys"), ssh.MarshalAuthorizedKey(f.key.PublicKey()), 0o644))
	s.restart(t)
	f.target.User, f.target.Port = me.Username, s.port
	f.knows(t, s.known("ed25519"))
	return s
}

func (s *realSSHD) file(name string) string { return filepath.Join(s.dir, name) }
func (s *realSSHD) name() string            { return fmt.Sprintf("[127.0.0.1]:%d", s.port) }

// hostKey is one of the public host keys.
func (s *realSSHD) hostKey(kind string) string {
	content, err := os.ReadFile(s.file("host_" + kind + ".pub"))
	if err != nil {
		panic(err)
	}
	return string(content)
}

func (s *realSSHD) known(kind string) string { return s.name() + " " + s.hostKey(kind) }

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	sshMust(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// restart starts sshd, again if it runs, on a port of its own.
func (s *realSSHD) restart(t *testing.T) {
	t.Helper()
	for range 5 { // somebody else may take the free port first
		s.port = freePort(t)
		if s.run(t, sshdProgram(t)) {
			return
		}
	}
	t.Fatalf("sshd does not start: %v", s.log.lines)
}

// run starts sshd and says whether it listens.
func (s *realSSHD) run(t *testing.T, program string) bool {
	t.Helper()
	config := strings.ReplaceAll(strings.Join(s.lines, "\n"), "DIR", s.dir) + fmt.Sprintf(`
Port %d
ListenAddress 127.0.0.1
HostKey %[2]s/host_ecdsa
HostKey %[2]s/host_ed25519
HostKey %[2]s/host_rsa
AuthorizedKeysFile %[2]s/authorized_keys
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
LogLevel VERBOSE
`, s.port, s.dir)
	sshMust(t, os.WriteFile(s.file("sshd_config"), []byte(config), 0o600))
	cmd := exec.Command(program, "-D", "-e", "-f", s.file("sshd_config"))
	stderr, err := cmd.StderrPipe()
	sshMust(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	sshMust(t, cmd.Start())
	s.process = cmd.Process
	listens := make(chan bool, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for scan := bufio.NewScanner(stderr); scan.Scan(); {
			s.log.add(scan.Text())
			if strings.Contains(scan.Text(), "Server listening on") {
				listens <- true
			}
		}
		select {
		case listens <- false:
		default:
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		<-ended // its sessions hold its stderr too
		cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", strings.Join(s.log.lines, "\n"))
		}
	})
	select {
	case up := <-listens:
		return up
	case <-time.After(20 * time.Second):
		t.Fatal("sshd says nothing")
		return false
	}
}

const (
	sigStop = syscall.SIGSTOP
	sigCont = syscall.SIGCONT
)

// sshdKnows says whether this sshd has that option.
func sshdKnows(t *testing.T, option string) bool {
	t.Helper()
	dir := t.TempDir()
	key := sshKeygen(t, filepath.Join(dir, "key"), "-t", "ed25519")
	out, err := exec.Command(sshdProgram(t), "-t", "-f", "/dev/null", "-h", key, "-o", option).CombinedOutput()
	return err == nil || !strings.Contains(string(out), "Bad configuration option")
}
