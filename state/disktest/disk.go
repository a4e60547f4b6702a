// Package disktest is a disk that fails at the very write that a test names: full, broken or
// read-only. It judges the system calls of another process, so that the real code writes real files,
// bbolt's included, and no line of it knows of the test.
package disktest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Fault says which write fails, with what, and whether every write after it does so too.
type Fault struct {
	Write string // a name as Disk.Writes returns it; empty: none fails
	Errno syscall.Errno
	Stays bool
}

// String names the fault for a test.
func (f Fault) String() string {
	text := fmt.Sprintf("%s %s", f.Write, unix.ErrnoName(f.Errno))
	if f.Stays {
		text += " stays"
	}
	return text
}

// Disk is a process whose writes below one folder are judged.
type Disk struct {
	root     string
	process  *exec.Cmd
	stdin    io.WriteCloser
	answers  *bufio.Scanner
	listener int

	mu     sync.Mutex
	fault  Fault
	failed bool
	seen   map[string]int
	writes []string
}

// ErrNotHere says that this machine does not let one process judge another's writes.
var ErrNotHere = errors.New("system calls cannot be judged here (seccomp)")

// Start starts the command, which must call Submit and then Serve, as a process whose writes below
// root are judged.
func Start(cmd *exec.Cmd, root string) (*Disk, error) {
	d := &Disk{root: root, process: cmd, seen: map[string]int{}}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "disk")
	defer theirs.Close()
	cmd.ExtraFiles = []*os.File{theirs}
	if d.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.answers = bufio.NewScanner(out)
	d.answers.Buffer(nil, 1<<20)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := d.meet(pair[0]); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNotHere, err), d.Close())
	}
	go d.judge()
	return d, nil
}

// meet takes over the questions of the process and lets it go on.
func (d *Disk) meet(socket int) error {
	ours := os.NewFile(uintptr(socket), "process")
	c, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return err
	}
	defer c.Close()
	d.listener = -1
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), control)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) == 0 {
		return errors.New("it did not submit")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	d.listener = files[0]
	_, err = c.Write([]byte{0})
	return err
}

// Do has the process do one thing, with this fault, and returns what it answered.
func (d *Disk) Do(f Fault, words ...string) (string, error) {
	d.mu.Lock()
	d.fault, d.failed, d.seen, d.writes = f, false, map[string]int{}, nil
	d.mu.Unlock()
	if _, err := fmt.Fprintln(d.stdin, strings.Join(words, "\t")); err != nil {
		return "", err
	}
	if !d.answers.Scan() {
		return "", fmt.Errorf("the process is gone: %w", errors.Join(d.answers.Err(), io.EOF))
	}
	var answer string
	return answer, json.Unmarshal(d.answers.Bytes(), &answer)
}

// Writes returns the names of the writes of the last Do, in their order: "state.db write 2".
func (d *Disk) Writes() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.writes...)
}

// Failed says whether the write that should fail was met in the last Do.
func (d *Disk) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Close ends the process.
func (d *Disk) Close() error {
	d.stdin.Close()
	return d.process.Wait()
}

// Serve does what comes in, one thing after the other, until nothing more will come.
func Serve(do func(words []string) string) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := json.Marshal(do(strings.Split(in.Text(), "\t")))
		if err != nil {
			return err
		}
		fmt.Println(string(answer))
	}
	return in.Err()
}
