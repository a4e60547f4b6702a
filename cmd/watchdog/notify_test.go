package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hookSession is a session whose hooks run as a user other than root.
func hookSession() *session {
	s := &session{app: &app{}}
	s.config.Notify.User = "nobody"
	return s
}

func TestHookGetsTheTextAsAnotherUser(t *testing.T) {
	dir, err := os.MkdirTemp("", "watchdog-hook-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WATCHDOG_SECRET", "not for hooks")
	text, ids, env := filepath.Join(dir, "text"), filepath.Join(dir, "id"), filepath.Join(dir, "env")
	if err := hookSession().runHook("cat >"+text+"; id -u >"+ids+"; env >"+env, "rank 2 is dead\n", time.Minute); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(text); string(got) != "rank 2 is dead\n" {
		t.Errorf("stdin = %q", got)
	}
	if got, _ := os.ReadFile(ids); os.Geteuid() == 0 && strings.TrimSpace(string(got)) == "0" {
		t.Error("the hook ran as root")
	}
	if got, _ := os.ReadFile(env); strings.Contains(string(got), "not for hooks") {
		t.Error("the hook got our environment")
	}
}

func TestHookFailures(t *testing.T) {
	rows := []struct {
		name, command string
		limit         time.Duration
		want          string
	}{
		{"exit code with its last words", "echo no route >&2; exit 7", time.Minute, "exit status 7: no route"},
		{"hangs", "sleep 600", 50 * time.Millisecond, "it did not end within 50ms"},
		{"ignores TERM, and a child holds its output", "trap '' TERM; sleep 600 & sleep 600", 50 * time.Millisecond, "it did not end within 50ms"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			err := hookSession().runHook(r.command, "text\n", r.limit)
			if err == nil || err.Error() != r.want {
				t.Errorf("err = %v, want %q", err, r.want)
			}
		})
	}
}

func TestHookOfAnUnknownUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root changes the user")
	}
	s := hookSession()
	s.config.Notify.User = "no-such-user"
	if err := s.runHook("true", "", time.Minute); err == nil || !strings.Contains(err.Error(), "notify.user") {
		t.Errorf("err = %v", err)
	}
}

// Nothing that a hook has started outlives it where it is ended: a run leaves no child behind, which
// its unit would kill halfway.
func TestEndedHookLeavesNoChildY01(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(dir); up != "/" && up != os.TempDir(); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pids := filepath.Join(dir, "pids")
	err := hookSession().runHook("sleep 600 & echo $! >"+pids+"; sleep 600", "text\n", time.Second)
	if err == nil || !strings.Contains(err.Error(), "did not end within 1s") {
		t.Fatalf("err = %v", err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	lives := func() bool { // who is dead may wait to be fetched by init
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err == nil && !strings.Contains(string(stat), ") Z ")
	}
	for range 1000 { // SIGKILL is sent, and takes a moment
		if !lives() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("pid %s lives", pid)
}

// A run that is asked to end does not wait for a hook to the end of its time.
func TestHookEndsWithTheRunY02(t *testing.T) {
	s := hookSession()
	hooks, end := context.WithCancel(context.Background())
	s.hooks = hooks
	end()
	if err := s.runHook("sleep 600", "", time.Minute); err == nil || !strings.Contains(err.Error(), "was asked to end") {
		t.Errorf("err = %v", err)
	}
}
