package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog/probe"
)

// People hear of a lock that is held for more than three periods, once for each holder.
func TestHeldForLongIsToldOnceY07(t *testing.T) {
	var heard bytes.Buffer
	s := &session{app: &app{}, config: Config{StateDir: t.TempDir(), Period: time.Minute}, now: probe.Now, log: zerolog.New(&heard)}
	var err error
	if s.store, err = openState(s.config.StateDir); err != nil {
		t.Fatal(err)
	}
	holder := func(pid int, held time.Duration) state.Holder {
		return state.Holder{PID: pid, Command: "tick", Since: probe.Now().Add(-held)}
	}
	long := holder(12, 190*time.Second)
	for _, row := range []struct {
		name   string
		kind   state.LockKind
		holder state.Holder
		says   string
	}{
		{"not for long", state.StateLock, holder(11, 170*time.Second), ""},
		{"for long", state.StateLock, long, `the lock of this group is held for 3m10s by another run (pid 12, \"tick\", since `},
		{"the same one again", state.StateLock, long, ""},
		{"the other lock", state.ActingLock, long, "a restart is needed and waits: the lock for acting is held for 3m10s by another group of this machine (pid 12,"},
		{"another one", state.StateLock, holder(13, 200*time.Second), "(pid 13,"},
		{"who has not said since when", state.StateLock, state.Holder{}, ""},
	} {
		heard.Reset()
		s.tellHeld(row.kind, row.holder)
		if got := heard.String(); !strings.Contains(got, row.says) || row.says == "" && got != "" {
			t.Errorf("%s: heard %q, want %q", row.name, got, row.says)
		}
	}
}

// What did not get through is told again by the next tick.
func TestHeldIsToldUntilItIsHeard(t *testing.T) {
	var heard bytes.Buffer
	s := &session{app: &app{}, config: Config{StateDir: t.TempDir(), Period: time.Second}, now: probe.Now, log: zerolog.New(&heard)}
	s.config.Notify = NotifyConfig{Command: "exit 1", User: "nobody", Timeout: time.Minute}
	h := state.Holder{PID: 12, Command: "tick", Since: probe.Now().Add(-time.Hour)}
	for range 2 {
		heard.Reset()
		s.tellHeld(state.ActingLock, h)
		if !strings.Contains(heard.String(), "cannot tell anyone") || state.ToldHolder(s.config.StateDir, state.ActingLock, h) {
			t.Errorf("heard %s", heard.String())
		}
	}
}
