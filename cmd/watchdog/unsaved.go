package main

import (
	"os"
	"path/filepath"
	"time"

	"cluster-watchdog/watchdog"
)

// unsavedAgain is how often people hear of a state that cannot be read or saved: nothing is done
// until it can be.
const unsavedAgain = time.Hour

// tellUnsaved lets people hear of it. That they were told cannot be saved in the state, so it stands
// beside the lock for acting, which is no disk but memory.
func (s *session) tellUnsaved(text string) {
	path := filepath.Join(filepath.Dir(s.config.ActingLock), "unsaved-"+s.config.Group)
	if info, err := os.Stat(path); err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < unsavedAgain {
			return
		}
	}
	if s.notify(watchdog.NoticeTrouble, text) {
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, nil, 0o600) // or they hear it once more
	}
}
