package main

import (
	"errors"
	"testing"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// Only the flag that was seen is taken away: one that somebody put there since is his, and stays.
func TestFlagOfAnotherStays(t *testing.T) {
	s := &session{config: Config{StateDir: t.TempDir()}}
	if err := s.removeFlag(watchdog.Flag{}); err != nil {
		t.Errorf("no flag before and after: %v", err)
	}
	write := func(who string) watchdog.Flag {
		if err := state.WriteFlag(s.config.StateDir, watchdog.Flag{Present: true, Who: who, Reason: "new model"}); err != nil {
			t.Fatal(err)
		}
		return state.ReadFlag(s.config.StateDir)
	}
	anna := write("anna")
	if err := s.removeFlag(anna); err != nil || state.ReadFlag(s.config.StateDir).Present {
		t.Errorf("her own flag was not taken away: %v", err)
	}
	write("bert")
	for _, seen := range []watchdog.Flag{{}, anna} {
		err := s.removeFlag(seen)
		var code codeError
		if !errors.As(err, &code) || code.code != exitRefused || !state.ReadFlag(s.config.StateDir).Present {
			t.Errorf("seen %+v: err = %v, want a refusal and the flag", seen, err)
		}
	}
}
