package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

func clock() watchdog.Clock { return at(0) }

func acquire(t *testing.T, dir string) (*Lock, error) {
	return Acquire(t.Context(), dir, "arm", clock)
}

func TestLockBusyInAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	other, out, end := play(t, "holder", dir)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the other process says %q", out.Text())
	}
	_, err := acquire(t, dir)
	var busy *BusyError
	if !errors.As(err, &busy) {
		t.Fatal(err)
	}
	same(t, "holder", Holder{PID: other.Process.Pid, Command: "tick", Since: at(0)}, busy.Holder)
	same(t, "text", fmt.Sprintf(`another watchdog is running (pid %d, "tick", since %s)`, other.Process.Pid, noon.Local().Format("15:04:05")), err.Error())
	held, is := HeldBy(dir)
	same(t, "held by", busy.Holder, held)
	same(t, "is held", true, is)
	end()
	check(t, other.Wait())
	_, is = HeldBy(dir)
	same(t, "is held after the release", false, is)
	lock, err := acquire(t, dir)
	check(t, err)
	check(t, lock.Release())
}

// A child that outlives its dead parent does not keep the lock.
func TestLockIsNotInheritedY07(t *testing.T) {
	dir := t.TempDir()
	parent, out, end := play(t, "parent", dir)
	check(t, parent.Wait())
	lock, err := acquire(t, dir)
	if err != nil {
		t.Fatalf("the parent is dead, but: %v", err)
	}
	same(t, "left by", parent.Process.Pid, lock.Left().PID)
	check(t, lock.Release())
	end()
	if !out.Scan() || out.Text() != "still alive" {
		t.Errorf("the child had not outlived it: %q", out.Text())
	}
}

// The folder may have gone between two runs.
func TestLockFolderComesBackY06(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	lock, err := acquire(t, dir)
	check(t, err)
	check(t, lock.Release())
}

func TestLockFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lockName)
	check(t, os.WriteFile(path, []byte("pid: 1\ncommand: "+string(make([]byte, 10000))), 0o600))
	lock, err := acquire(t, dir)
	check(t, err)
	text, err := os.ReadFile(path)
	check(t, err)
	same(t, "held", fmt.Sprintf("pid: %d\ncommand: arm\nsince: 2026-03-04T12:00:00Z 1h0m0s b1\n", os.Getpid()), string(text))
	before, err := os.Stat(path)
	check(t, err)
	for range 2 { // releasing twice is fine
		check(t, lock.Release())
	}
	after, err := os.Stat(path)
	check(t, err)
	if !os.SameFile(before, after) {
		t.Error("the file was replaced: another one could hold the old one")
	}
	same(t, "after the release", int64(0), after.Size())
}

// A late second Release must not touch the next holder's file.
func TestLateReleaseLeavesTheNextHolder(t *testing.T) {
	dir := t.TempDir()
	first, err := acquire(t, dir)
	check(t, err)
	check(t, first.Release())
	second, err := acquire(t, dir)
	check(t, err)
	defer second.Release()
	check(t, first.Release())
	same(t, "holder", os.Getpid(), readHolder(filepath.Join(dir, lockName)).PID)
}

func TestHolderText(t *testing.T) {
	whole := "pid: 123\ncommand: tick\nsince: 2026-03-04T11:58:16Z 2h0m0s b1\n"
	unknown := "another watchdog is running (it has not said which)"
	local := time.Date(2026, 3, 4, 11, 58, 16, 0, time.UTC).Local().Format("15:04:05")
	rows := []struct{ name, text, want string }{
		{"whole", whole, `another watchdog is running (pid 123, "tick", since ` + local + `)`},
		{"empty", "", unknown},
		{"cut off in since", whole[:40], unknown},
		{"cut off in command", whole[:15], unknown},
		{"garbage", "\x00\xff\x1b", unknown},
		{"no number", "pid: x\nsince: 2026-03-04T11:58:16Z 2h0m0s b1", unknown},
		{"a time without its clocks", "pid: 123\nsince: 2026-03-04T11:58:16Z\n", unknown},
		{"negative", "pid: -1\nsince: 2026-03-04T11:58:16Z 2h0m0s b1", unknown},
		{"an escape in the command", "pid: 123\ncommand: \\x1b[2J\nsince: 2026-03-04T11:58:16Z 2h0m0s b1", `another watchdog is running (pid 123, "\x1b[2J", since ` + local + `)`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			same(t, "text", r.want, (&BusyError{Holder: parseHolder(r.text)}).Error())
		})
	}
}

func TestWaitingForTheLock(t *testing.T) {
	t.Run("free at last", func(t *testing.T) {
		dir := t.TempDir()
		first, err := acquire(t, dir)
		check(t, err)
		var told []Holder
		second, err := AcquireWithin(t.Context(), dir, "disarm", clock, time.Hour, func(h Holder) {
			told = append(told, h)
			check(t, first.Release())
		})
		check(t, err)
		defer second.Release()
		same(t, "told", []Holder{{PID: os.Getpid(), Command: "arm", Since: at(0)}}, told)
	})
	t.Run("told once per holder", func(t *testing.T) {
		dir := t.TempDir()
		first, err := acquire(t, dir)
		check(t, err)
		defer first.Release()
		told := 0
		_, err = AcquireWithin(t.Context(), dir, "disarm", clock, 3*lockPoll, func(Holder) { told++ })
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Holder.PID != os.Getpid() {
			t.Error(err)
		}
		same(t, "told", 1, told)
	})
	t.Run("interrupted", func(t *testing.T) {
		dir := t.TempDir()
		first, err := acquire(t, dir)
		check(t, err)
		defer first.Release()
		ctx, cancel := context.WithCancel(t.Context())
		_, err = AcquireWithin(ctx, dir, "disarm", clock, time.Hour, func(Holder) { cancel() })
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("free at once", func(t *testing.T) {
		lock, err := AcquireWithin(t.Context(), t.TempDir(), "disarm", clock, 0, func(Holder) { t.Error("told") })
		check(t, err)
		check(t, lock.Release())
	})
	t.Run("cannot be opened", func(t *testing.T) {
		dir := t.TempDir()
		check(t, os.Mkdir(filepath.Join(dir, lockName), 0o700))
		_, err := AcquireWithin(t.Context(), dir, "disarm", clock, time.Hour, func(Holder) { t.Error("told") })
		if err == nil {
			t.Error("locked a folder")
		}
	})
}

// A lock file left by a process that was killed names nobody.
func TestHeldByNobody(t *testing.T) {
	dir := t.TempDir()
	_, is := HeldBy(dir)
	same(t, "without a file", false, is)
	check(t, os.WriteFile(filepath.Join(dir, lockName), []byte(formatHolder(Holder{PID: os.Getpid(), Command: "tick", Since: at(0)})), 0o600))
	_, is = HeldBy(dir)
	same(t, "stale", false, is)
}

func TestListed(t *testing.T) {
	const locks = "1: FLOCK  ADVISORY  WRITE 123 fe:00:4567 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 124 fe:00:4567 0 EOF\n2: POSIX  ADVISORY  WRITE 125 fe:00:4567 0 EOF\n3: FLOCK  ADVISORY  READ  126 fe:00:4567 0 EOF\n4: x\n"
	rows := []struct {
		name  string
		pid   int
		inode uint64
		want  bool
	}{
		{"ours", 123, 4567, true},
		{"a waiting one", 124, 4567, false},
		{"another kind", 125, 4567, false},
		{"a shared one", 126, 4567, false},
		{"another file", 123, 567, false},
		{"another process", 12, 4567, false},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { same(t, "listed", r.want, listed(locks, r.pid, r.inode)) })
	}
}
