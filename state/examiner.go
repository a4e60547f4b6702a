package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Examiner says whether bbolt can follow the pages of a database: nil, a *DamageError, or why that
// cannot be told. A damaged file can make bbolt panic where nobody recovers, overflow its stack or
// never end, so the examiner is to be another process.
type Examiner func(path string) error

const (
	examineTimeout = 20 * time.Second // for the whole process; a good file takes milliseconds
	examineWork    = 5 * time.Second  // of CPU time: who worked for so long goes in circles
	examineOutput  = 64 << 10
)

// InChild has a process examine that must call Answer. Damage is what that process says, or what it
// dies of once it has begun; that it could not be started, was killed or got no time is none.
func InChild(command func(ctx context.Context, path string) *exec.Cmd) Examiner {
	return func(path string) error { return examineIn(command, path, examineTimeout, examineWork) }
}

func examineIn(command func(context.Context, string) *exec.Cmd, path string, timeout, work time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var out, errs bounded
	c := command(ctx, path)
	c.Stdout, c.Stderr, c.WaitDelay = &out, &errs, time.Second
	err := c.Run()
	if c.ProcessState == nil {
		return cannotExamine(path, "starting a process for it: %v", err)
	}
	words, answered := strings.CutPrefix(out.String(), wordBegun+"\n")
	words, _, _ = strings.Cut(words, "\n")
	used := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	switch {
	case !answered:
		return cannotExamine(path, "the process for it did not begin: %s", firstLine(errs.String(), err))
	case words == wordFine && err == nil:
		return nil
	case strings.HasPrefix(words, wordDamaged):
		return &DamageError{Path: path, Cause: errors.New(strings.TrimPrefix(words, wordDamaged))}
	case strings.HasPrefix(words, wordFault):
		return wordedError{errors.New(strings.TrimPrefix(words, wordFault))}
	case ctx.Err() != nil && used < work:
		return cannotExamine(path, "it was not done within %s, of which it got to work for %s: the disk or the machine is too busy", timeout, used.Round(time.Millisecond))
	case ctx.Err() != nil:
		return &DamageError{Path: path, Cause: fmt.Errorf("bbolt follows its pages without end: for %s", used.Round(time.Second))}
	case endedByOthers(c.ProcessState.Sys(), errs.String()):
		return cannotExamine(path, "the process for it ended: %s", firstLine(errs.String(), err))
	}
	return &DamageError{Path: path, Cause: fmt.Errorf("bbolt cannot follow its pages: %s", firstLine(errs.String(), err))}
}

func cannotExamine(path, format string, args ...any) error {
	return wordedError{fmt.Errorf("cannot examine the state %s: %s; look at memory, tasks and the disk, for example with free, df and dmesg", path, fmt.Sprintf(format, args...))}
}

// endedByOthers says whether a process was killed from outside, such as for the machine's memory, or
// was refused memory or a thread: that tells nothing of the file.
func endedByOthers(sys any, errs string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "failed to create new OS thread"} {
		if strings.Contains(firstLine(errs, nil), words) {
			return true
		}
	}
	status, ok := sys.(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return false
	}
	switch status.Signal() {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		return true
	}
	return false
}

// firstLine is what a process said as it died, or what became of it.
func firstLine(errs string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(errs), "\n")
	if line == "" {
		return fmt.Sprint(err)
	}
	return strings.Map(printable, strings.ToValidUTF8(line, " "))
}

// bounded keeps the beginning of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	_, err := b.Buffer.Write(p[:min(len(p), max(0, examineOutput-b.Len()))])
	return len(p), err
}
