package scripts

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// node is a machine for one test: the real /bin/sh with stand-ins first in PATH.
type node struct {
	t    *testing.T
	home string
	fake string // what the stand-ins read and write
	path string // one more folder of programs, before all others
	uid  uint32 // who runs the scripts; 0: whoever runs the test
}

func newNode(t *testing.T) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{t: t, home: filepath.Join(dir, "home"), fake: filepath.Join(dir, "fake")}
	for _, d := range []string{n.home, n.fake, filepath.Join(n.fake, "containers")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n.put("patience", "60")
	return n
}

// hurry makes timeouts short, for a test in which something hangs.
func (n *node) hurry() { n.put("patience", "1") }

// put writes a file below the stand-ins' folder.
func (n *node) put(name, content string) string {
	n.t.Helper()
	path := filepath.Join(n.fake, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
	return path
}

// play lets a shell script stand in for a command of a stand-in.
func (n *node) play(name, script string) {
	n.t.Helper()
	if err := os.Chmod(n.put(name, "#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

// got returns a file below the stand-ins' folder, empty where there is none.
func (n *node) got(name string) string {
	b, err := os.ReadFile(filepath.Join(n.fake, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.t.Fatal(err)
	}
	return string(b)
}

// container adds one to the stand-in for docker.
func (n *node) container(id, name, status string) {
	for fact, value := range map[string]string{
		"name": name, "status": status, "started_at": "2026-11-29T11:59:39Z", "image": "sha256:1234", "exit_code": "0", "error": "",
	} {
		n.put("containers/"+id+"/"+fact, value+"\n")
	}
}

func (n *node) has(id string) bool {
	_, err := os.Stat(filepath.Join(n.fake, "containers", id))
	return err == nil
}

// answer is what came back of a script.
type answer struct {
	out, err string
	exit     int
}

// run sends a script as a connection would, and waits as sshd does: until nobody holds the
// output any more.
func (n *node) run(name string, env map[string]string) answer {
	n.t.Helper()
	return n.send(Get(name), env)
}

func (n *node) send(s Script, env map[string]string) answer {
	n.t.Helper()
	fence := NewFence()
	text, err := Render(s, fence, env)
	if err != nil {
		n.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/sh", "-s")
	c.Stdin = bytes.NewReader(text)
	c.Env = n.env()
	c.WaitDelay = time.Second
	if n.uid != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: n.uid, Gid: n.uid}}
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
		n.t.Fatalf("script %s holds the session; stderr: %s", s.Name(), &errs)
	}
	body, exit, ok := Inside(fence, out.Bytes())
	if !ok {
		n.t.Fatalf("script %s did not run to its end (%v); stdout: %s stderr: %s", s.Name(), err, &out, &errs)
	}
	if exit != c.ProcessState.ExitCode() {
		n.t.Errorf("script %s: exit %d between the fences, %d of the shell", s.Name(), exit, c.ProcessState.ExitCode())
	}
	return answer{out: body, err: errs.String(), exit: exit}
}

func (n *node) env() []string {
	fakes, err := filepath.Abs("testdata/fakes")
	if err != nil {
		n.t.Fatal(err)
	}
	return []string{"PATH=" + n.path + ":" + fakes + ":/usr/bin:/bin", "HOME=" + n.home, "FAKE=" + n.fake, "LANG=C.UTF-8"}
}

// passes wants exit code 0 and this output.
func (a answer) passes(t *testing.T, out string) {
	t.Helper()
	if a.exit != 0 || a.out != out || a.err != "" {
		t.Errorf("got exit %d, output %q, stderr %q; want exit 0 and output %q", a.exit, a.out, a.err, out)
	}
}

// fails wants a failure whose words hold all these parts.
func (a answer) fails(t *testing.T, parts ...string) {
	t.Helper()
	if a.exit != 1 {
		t.Errorf("got exit %d, output %q, stderr %q; want exit 1", a.exit, a.out, a.err)
	}
	for _, part := range parts {
		if !strings.Contains(a.err, part) {
			t.Errorf("stderr %q does not hold %q", a.err, part)
		}
	}
}

// oneLine wants exactly one line for people.
func (a answer) oneLine(t *testing.T) {
	t.Helper()
	if strings.Count(a.err, "\n") != 1 || !strings.HasSuffix(a.err, "\n") {
		t.Errorf("stderr is not one line: %q", a.err)
	}
}
