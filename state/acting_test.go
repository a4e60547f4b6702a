package state

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Two groups have two state folders and one acting lock.
func TestActingLockIsOneForAllGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "acting.lock")
	a, err := acquire(t, t.TempDir())
	check(t, err)
	defer a.Release()
	b, err := acquire(t, t.TempDir())
	check(t, err)
	defer b.Release()

	first, err := AcquireActing(t.Context(), path, "restart of group a", clock)
	check(t, err)
	_, err = AcquireActing(t.Context(), path, "restart of group b", clock)
	var busy *BusyError
	if !errors.As(err, &busy) {
		t.Fatal(err)
	}
	same(t, "holder", Holder{PID: os.Getpid(), Command: "restart of group a", Since: at(0)}, busy.Holder)
	check(t, first.Release())
	second, err := AcquireActing(t.Context(), path, "restart of group b", clock)
	check(t, err)
	check(t, second.Release())
}

// A killed holder leaves nothing behind.
func TestActingLockEndsWithItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acting.lock")
	other, out, _ := play(t, "actor", path)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the other process says %q", out.Text())
	}
	if _, err := AcquireActing(t.Context(), path, "restart of group b", clock); err == nil {
		t.Fatal("two hold it")
	}
	held, is := ActingBy(path)
	same(t, "held by", Holder{PID: other.Process.Pid, Command: "restart of group a", Since: at(0)}, held)
	same(t, "is held", true, is)
	check(t, other.Process.Kill())
	_ = other.Wait()
	_, is = ActingBy(path)
	same(t, "is held after its end", false, is)
	lock, err := AcquireActing(t.Context(), path, "restart of group b", clock)
	check(t, err)
	check(t, lock.Release())
}

// Who may open the file may hold it for ever: its folder is ours alone.
func TestActingLockLiesInNobodyElsesFolder(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Chmod(dir, 0o777))
	if _, err := AcquireActing(t.Context(), filepath.Join(dir, "acting.lock"), "x", clock); err == nil {
		t.Error("locked in a folder where everyone may write")
	}
	path := filepath.Join(t.TempDir(), "new", "acting.lock")
	lock, err := AcquireActing(t.Context(), path, "x", clock)
	check(t, err)
	defer lock.Release()
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(file)
		check(t, err)
		same(t, file, want, info.Mode().Perm())
	}
}
