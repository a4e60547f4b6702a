package state

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"cluster-watchdog/watchdog"
)

// The test binary plays other processes: roleEnv names the part, dirEnv the state folder.
const (
	roleEnv = "STATE_TEST_ROLE"
	dirEnv  = "STATE_TEST_DIR"
)

func TestMain(m *testing.M) {
	roles := map[string]func(dir string) error{
		"holder":   playHolder,
		"actor":    playActor,
		"parent":   playParent,
		"outliver": playOutliver,
		"fulldisk": playFullDisk,
		"nodisk":   playNoDisk,
		"disk":     playDisk,
		"examine":  playExamine,
	}
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := roles[role](os.Getenv(dirEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// playHolder holds the lock until its stdin ends.
func playHolder(dir string) error {
	lock, err := Acquire(context.Background(), dir, "tick", clock)
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return lock.Release()
}

// playActor holds the lock for acting until its stdin ends.
func playActor(path string) error {
	lock, err := AcquireActing(context.Background(), path, "restart of group a", clock)
	if err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return lock.Release()
}

// playParent takes the lock, starts a child that outlives it, and dies without a word.
func playParent(dir string) error {
	if _, err := Acquire(context.Background(), dir, "tick", clock); err != nil {
		return err
	}
	child := command("outliver", dir)
	child.Stdin, child.Stdout = os.Stdin, os.Stdout
	return child.Start()
}

// playOutliver lives until its stdin ends.
func playOutliver(string) error {
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("still alive")
	return nil
}

// playExamine examines a database.
func playExamine(path string) error {
	Answer(path, os.Stdout)
	return nil
}

// examined is how the tests' stores examine: in a process of its own, as the program does it.
var examined = InChild(func(ctx context.Context, path string) *exec.Cmd { return playing(ctx, "examine", path) })

// playing is the command of a role.
func playing(ctx context.Context, role, dir string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/proc/self/exe")
	c.Env = append(os.Environ(), roleEnv+"="+role, dirEnv+"="+dir)
	return c
}

// playFullDisk saves something that does not fit any more.
func playFullDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(dir, examined)
	if err != nil {
		return err
	}
	info, err := os.Stat(s.Path())
	if err != nil {
		return err
	}
	limit := syscall.Rlimit{Cur: uint64(info.Size()), Max: uint64(info.Size())}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	huge := watchdog.State{Phase: watchdog.GivenUp, Told: []string{string(make([]byte, 1<<20))}}
	fmt.Println(s.SaveLook(huge, Row{}, nil))
	return nil
}

// playNoDisk saves for the first time where nothing can be written.
func playNoDisk(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(dir, examined)
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100}); err != nil {
		return err
	}
	fmt.Println(s.SaveReset(watchdog.Clock{}))
	return nil
}

func command(role, dir string) *exec.Cmd {
	c := playing(context.Background(), role, dir)
	c.Stderr = os.Stderr
	return c
}

// play starts a role; its stdin ends with end, its stdout is read line by line.
func play(t *testing.T, role, dir string) (c *exec.Cmd, out *bufio.Scanner, end func()) {
	t.Helper()
	c = command(role, dir)
	inR, inW, err := os.Pipe()
	check(t, err)
	outR, outW, err := os.Pipe()
	check(t, err)
	c.Stdin, c.Stdout = inR, outW
	check(t, c.Start())
	check(t, inR.Close())
	check(t, outW.Close())
	t.Cleanup(func() {
		inW.Close()
		outR.Close()
		_ = c.Wait()
	})
	return c, bufio.NewScanner(outR), func() { inW.Close() }
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
