package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"cluster-watchdog/watchdog"
)

const (
	lockName = "lock"
	lockPoll = 200 * time.Millisecond // between two tries while waiting
)

// Lock is a file that one process of the machine holds. The kernel takes it back when the process
// ends, however it ends; children do not inherit it. The file stays: who deleted it could let two in.
type Lock struct {
	path string
	held *flock.Flock
	left Holder
}

// Left is who held the lock before and never gave it back: a run that was killed, or whose machine
// lost its power. A zero PID: nobody.
func (l *Lock) Left() Holder { return l.left }

// Acquire takes the lock of a state folder, without which nothing in it is changed, or returns a
// *BusyError at once. The file then names this process, the command and the time, for whoever comes
// second.
func Acquire(ctx context.Context, dir, command string, now func() watchdog.Clock) (*Lock, error) {
	path := filepath.Join(dir, lockName)
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w; %s", path, err, hint(err))
	}
	return take(ctx, path, command, now)
}

// AcquireActing takes the one lock of this machine under which groups act, or returns a *BusyError
// at once. Its folder is made where it is missing, and must be nobody else's.
func AcquireActing(ctx context.Context, path, command string, now func() watchdog.Clock) (*Lock, error) {
	dir := filepath.Dir(path)
	err := os.MkdirAll(dir, folderMode)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w; %s", path, err, hint(err))
	}
	if problem := folderProblem(info.Sys().(*syscall.Stat_t).Uid, os.Geteuid(), info.Mode()); problem != "" {
		return nil, fmt.Errorf("cannot lock %s, for whom its folder is open could hold it for ever: %s; see it with: ls -ld %s", path, problem, dir)
	}
	return take(ctx, path, command, now)
}

func take(ctx context.Context, path, command string, now func() watchdog.Clock) (*Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &Lock{path: path, held: flock.New(path, flock.SetPermissions(fileMode))}
	locked, err := l.held.TryLock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w; %s", path, err, hint(err))
	}
	if !locked {
		return nil, &BusyError{Holder: readHolder(path)}
	}
	l.left = readHolder(path)
	l.sign(Holder{PID: os.Getpid(), Command: command, Since: now()})
	return l, nil
}

// sign writes who holds the lock. That it may fail, on a full disk, is fine: the lock is held, and
// the words are only for people.
func (l *Lock) sign(h Holder) {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteString(formatHolder(h))
	_ = f.Close()
}

// AcquireWithin takes the lock of a state folder as soon as it is free, for as long as wait. It calls
// tell with the holder when it begins to wait, and again when another one holds it.
func AcquireWithin(ctx context.Context, dir, command string, now func() watchdog.Clock, wait time.Duration, tell func(Holder)) (*Lock, error) {
	return within(ctx, wait, tell, func() (*Lock, error) { return Acquire(ctx, dir, command, now) })
}

// AcquireActingWithin does the same with the lock for acting.
func AcquireActingWithin(ctx context.Context, path, command string, now func() watchdog.Clock, wait time.Duration, tell func(Holder)) (*Lock, error) {
	return within(ctx, wait, tell, func() (*Lock, error) { return AcquireActing(ctx, path, command, now) })
}

func within(ctx context.Context, wait time.Duration, tell func(Holder), take func() (*Lock, error)) (*Lock, error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	again := time.NewTicker(lockPoll)
	defer again.Stop()
	told := ""
	for {
		l, err := take()
		var busy *BusyError
		if !errors.As(err, &busy) {
			return l, err
		}
		if holder := busy.Holder.String(); holder != told {
			told = holder
			tell(busy.Holder)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over.C:
			return nil, busy
		case <-again.C:
		}
	}
}

// Release gives the lock back. Its file is emptied first, so that nobody is named who is gone.
func (l *Lock) Release() error {
	if !l.held.Locked() {
		return nil
	}
	_ = os.Truncate(l.path, 0)
	if err := l.held.Unlock(); err != nil {
		return fmt.Errorf("cannot release the lock %s: %w; it ends with this process", l.path, err)
	}
	return nil
}
