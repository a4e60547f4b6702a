package state

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What becomes of the process that examines tells damage from what says nothing of the file.
func TestExaminerB03(t *testing.T) {
	const begun = "echo examining; "
	for _, row := range []struct {
		name, script string
		work         time.Duration // from which on it went in circles; 0: far more than it gets
		damage       bool
		says         string
	}{
		{"fine", begun + "echo fine", 0, false, ""},
		{"damage found", begun + "echo 'damaged: page 7 is torn'", 0, true, "page 7 is torn"},
		{"a fault found", begun + "echo 'fault: cannot read the state: timeout'", 0, false, "cannot read the state: timeout"},
		{"a panic", begun + "printf 'panic: page 7\\n\\ngoroutine 1\\n' >&2; exit 2", 0, true, "bbolt cannot follow its pages: panic: page 7;"},
		{"a fatal error", begun + "echo 'runtime: goroutine stack exceeds 16777216-byte limit' >&2; exit 2", 0, true, "goroutine stack exceeds"},
		{"SIGSEGV", begun + "kill -SEGV $$", 0, true, "signal: segmentation fault"},
		{"SIGBUS", begun + "kill -BUS $$", 0, true, "signal: bus error"},
		{"an end without a word", begun + "exit 0", 0, true, "bbolt cannot follow its pages"},
		{"killed for the machine's memory", begun + "kill -KILL $$", 0, false, "the process for it ended: signal: killed"},
		{"ended with the service", begun + "kill -TERM $$", 0, false, "signal: terminated"},
		{"no memory", begun + "echo 'fatal error: runtime: out of memory' >&2; exit 2", 0, false, "out of memory"},
		{"no thread", begun + "echo 'runtime: failed to create new OS thread (have 2 already; errno=11)' >&2; exit 2", 0, false, "new OS thread"},
		{"another program", "echo 'unknown command' >&2; exit 2", 0, false, "did not begin: unknown command"},
		{"one that says nothing", "", 0, false, "did not begin"},
		{"a disk that hangs", begun + "exec sleep 60", time.Minute, false, "too busy"},
		{"without end", begun + "while :; do :; done", time.Nanosecond, true, "without end"},
		{"much to say", begun + "head -c 9000000 /dev/zero >&2; exit 2", 0, true, "bbolt cannot follow its pages"},
	} {
		t.Run(row.name, func(t *testing.T) {
			timeout := 20 * time.Second
			if row.work > 0 {
				timeout = 300 * time.Millisecond
			}
			err := examineIn(func(ctx context.Context, _ string) *exec.Cmd {
				return exec.CommandContext(ctx, "/bin/sh", "-c", row.script)
			}, "/x/state.db", timeout, row.work)
			if isDamage(err) != row.damage || err == nil != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("damage %v: %v", isDamage(err), err)
			}
			if err != nil && !row.damage && row.says != "cannot read the state: timeout" && !strings.HasPrefix(err.Error(), "cannot examine the state /x/state.db: ") {
				t.Error(err)
			}
		})
	}
}

// Where no process can be started a good database is neither opened nor set aside.
func TestNoProcessIsNoDamageB03(t *testing.T) {
	s := filled(t)
	notExecutable := filepath.Join(t.TempDir(), "watchdog")
	check(t, os.WriteFile(notExecutable, nil, 0o600))
	for _, program := range []string{"/nowhere/watchdog", notExecutable} {
		other, err := Open(s.dir, InChild(func(ctx context.Context, path string) *exec.Cmd { return exec.CommandContext(ctx, program, path) }))
		check(t, err)
		load(t, other) // as our last save left it
		writeAgain(t, s)
		_, errLoad := other.Load()
		for call, err := range map[string]error{"Load": errLoad, "SaveReset": other.SaveReset(at(0))} {
			if err == nil || isDamage(err) || !strings.Contains(err.Error(), "cannot examine the state") {
				t.Errorf("%s: %v", call, err)
			}
		}
		check(t, s.SaveReset(at(0)))
	}
}

// writeAgain writes the same bytes, as somebody else.
func writeAgain(t *testing.T, s *Store) {
	t.Helper()
	content, err := os.ReadFile(s.Path())
	check(t, err)
	time.Sleep(10 * time.Millisecond) // the file's own clock is coarse
	write(t, s, content)
}

// A process is started once for a file that is not as the last save left it, and never for one that is.
func TestExaminedOnce(t *testing.T) {
	s := filled(t)
	times := 0
	count := func(path string) error { times++; return examined(path) }
	boot, err := os.ReadFile(bootIDFile)
	check(t, err)
	same(t, "the boot of the last save", strings.TrimSpace(string(boot)), s.lastSave().Trace.Boot)
	for _, row := range []struct {
		name   string
		before func()
		want   int
	}{
		{"as it was saved", func() {}, 0},
		{"written by others", func() { writeAgain(t, s) }, 1},
		{"after a save", func() { check(t, s.SaveReset(at(0))) }, 0},
		{"another boot", func() {
			text, err := os.ReadFile(s.savedPath())
			check(t, err)
			_, rest, _ := strings.Cut(string(text), `"boot":"`)
			check(t, os.WriteFile(s.savedPath(), []byte(strings.Replace(string(text), rest[:8], "01234567", 1)), fileMode))
		}, 1},
		{"nothing known of the last save", func() { check(t, s.unstamp()) }, 1},
		{"garbage about the last save", func() { check(t, os.WriteFile(s.savedPath(), []byte("{}{"), fileMode)) }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.before()
			times = 0
			other, err := Open(s.dir, count)
			check(t, err)
			for range 3 {
				load(t, other)
			}
			same(t, "processes", row.want, times)
			check(t, other.SaveTold(nil))
			check(t, other.SaveTold(nil))
			same(t, "processes after saving", row.want, times)
		})
	}
}

// A copy of before, put back, has lost what was saved since: no budget may be taken from it.
func TestAnEarlierCopyIsDamage(t *testing.T) {
	s := filled(t)
	before, err := os.ReadFile(s.Path())
	check(t, err)
	check(t, s.SaveAttempt(watchdogAttempt(13)))
	write(t, s, before)
	if _, err := s.Load(); !isDamage(err) || !strings.Contains(err.Error(), "it is older than what was saved last") {
		t.Fatal(err)
	}
	recovers(t, s, before)
}
