package fakenode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Node is one simulated machine: a folder with home, bin and run.
type Node struct{ Dir string }

// Home returns the home of the node's user.
func (n Node) Home() string { return filepath.Join(n.Dir, "home") }

// Bin returns the folder that comes first in the node's PATH.
func (n Node) Bin() string { return filepath.Join(n.Dir, "bin") }

// Run returns the path of a file in the node's own /run.
func (n Node) Run(name ...string) string {
	return filepath.Join(append([]string{n.Dir, "run"}, name...)...)
}

// Change loads the node's Docker, lets change work on it and saves it, all under its lock. When
// change fails nothing is saved.
func (n Node) Change(change func(*Daemon) error) error {
	unlock, err := n.lock()
	if err != nil {
		return err
	}
	defer unlock()
	d, err := n.load()
	if err != nil {
		return err
	}
	d.sweep(time.Now())
	if err := change(d); err != nil {
		return err
	}
	return n.save(d)
}

// Look returns the node's Docker as last saved.
func (n Node) Look() (*Daemon, error) {
	d, err := n.load() // saved by rename: no lock is needed to read it whole
	if err != nil {
		return nil, err
	}
	d.sweep(time.Now())
	return d, nil
}

func (n Node) lock() (unlock func(), err error) {
	f, err := os.OpenFile(n.Run("docker", "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the simulated docker: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot lock the simulated docker: %w", err)
	}
	return func() { f.Close() }, nil
}

func (n Node) load() (*Daemon, error) {
	d := &Daemon{}
	b, err := os.ReadFile(n.StateFile())
	if err != nil {
		return nil, fmt.Errorf("cannot read the simulated docker: %w", err)
	}
	if err := json.Unmarshal(b, d); err != nil {
		return nil, fmt.Errorf("cannot read the simulated docker: %w", err)
	}
	return d, nil
}

func (n Node) save(d *Daemon) error {
	b, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("cannot save the simulated docker: %w", err)
	}
	return replace(n.StateFile(), b)
}

// StateFile is where the node's Docker is kept.
func (n Node) StateFile() string { return n.Run("docker", "state.json") }

// Create makes the node's folders and its Docker.
func (n Node) Create(d *Daemon) error {
	for _, dir := range []string{n.Home(), n.Bin(), n.Run("docker")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("cannot make the simulated node %s: %w", d.Node, err)
		}
	}
	return n.save(d)
}

// Note adds a line to a file in the node's /run.
func (n Node) Note(file, line string) error {
	f, err := os.OpenFile(n.Run(file), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	line = strings.ReplaceAll(line, "\n", `\n`)
	_, err = fmt.Fprintf(f, "%d\t%s\n", time.Now().UnixNano(), line)
	return errors.Join(err, f.Close())
}

// Noted returns the lines of such a file, with the time of each.
func (n Node) Noted(file string) []Line {
	b, err := os.ReadFile(n.Run(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var lines []Line
	for raw := range bytes.Lines(b) {
		var ns int64
		text, ok := strings.CutSuffix(string(raw), "\n")
		at, text, found := strings.Cut(text, "\t")
		if _, err := fmt.Sscan(at, &ns); ok && found && err == nil {
			lines = append(lines, Line{At: time.Unix(0, ns), Text: text})
		}
	}
	return lines
}

// Line is one noted line.
type Line struct {
	At   time.Time
	Text string
}

// replace writes a file so that a reader sees the old or the new one, never a part.
func replace(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	_, err = f.Write(b)
	// The kernel's own stamps are too coarse to tell two changes apart.
	now := time.Now()
	if err = errors.Join(err, f.Close(), os.Chtimes(f.Name(), now, now)); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
