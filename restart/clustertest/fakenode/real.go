package fakenode

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// real runs the machine's own program of that name.
func (w *world) real(args ...string) int {
	code, err := w.realTo(w.stdout, args...)
	if err != nil {
		return w.broken(err)
	}
	return code
}

func (w *world) realTo(stdout io.Writer, args ...string) (int, error) {
	path, err := ownProgram(w.name)
	if err != nil {
		return 0, err
	}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = w.stdin, stdout, w.stderr
	err = c.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode(), nil
	case errors.As(err, &exit):
		return 128 + 15, nil // ended by a signal: as a shell tells it
	}
	return 0, err
}

func ownProgram(name string) (string, error) {
	for _, dir := range []string{"/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("cannot find %s in /usr/bin or /bin", name)
}

// kernelFile matches the files of the kernel that a node has of its own.
var kernelFile = regexp.MustCompile(`/proc/(meminfo|net/tcp6|net/tcp)\b`)

// awk runs the machine's own awk on the node's files of the kernel.
func awk(w *world) int {
	if err := w.refreshMeminfo(); err != nil {
		return w.broken(err)
	}
	args := make([]string, len(w.args))
	for i, arg := range w.args {
		args[i] = kernelFile.ReplaceAllStringFunc(arg, func(found string) string {
			return w.node.Run(filepath.Base(found))
		})
	}
	return w.real(args...)
}
