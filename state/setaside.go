package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

// SetAside replaces a damaged database by a new one, disarmed. The order lets it die anywhere:
// the flag stands before the damage is out of sight, and the new file is complete before the old
// one moves. newPath is where the old file went; empty when there was none. The caller holds the
// Lock.
func (s *Store) SetAside(now time.Time, why string) (newPath string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := WriteFlag(s.dir, setAsideFlag(ReadFlag(s.dir), now, why)); err != nil {
		return "", err
	}
	built, err := s.build()
	if err != nil {
		return "", s.fault("replace", err)
	}
	defer os.Remove(built)
	if err := s.unstamp(); err != nil {
		return "", s.fault("set aside", err)
	}
	newPath, err = s.moveAway(now)
	if err != nil {
		return "", s.fault("set aside", err)
	}
	if err := os.Link(built, s.path); err != nil {
		return newPath, s.fault("replace", err)
	}
	if err := s.mark(); err != nil {
		return newPath, s.fault("replace", err)
	}
	if err := syncFolder(s.dir); err != nil {
		return newPath, s.fault("replace", err)
	}
	return newPath, nil
}

// setAsideFlag keeps the words of a person who had disarmed before, also a second time.
func setAsideFlag(before watchdog.Flag, now time.Time, why string) watchdog.Flag {
	const us, earlier = "watchdog", " (before that disarmed by "
	flag := watchdog.Flag{Present: true, Who: us, When: now, Reason: "the database was damaged: " + why}
	if before.Who == us {
		if _, words, found := strings.Cut(before.Reason, earlier); found {
			flag.Reason += earlier + words
		}
	} else if before.Present {
		flag.Reason += fmt.Sprintf("%s%q: %q)", earlier, before.Who, before.Reason)
	}
	return flag
}

// moveAway renames the file out of the way, never over another one.
func (s *Store) moveAway(now time.Time) (string, error) {
	base := s.path + ".corrupt-" + now.UTC().Format("20060102T150405Z")
	for n, to := 2, base; ; n, to = n+1, fmt.Sprintf("%s-%d", base, n) {
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		err := os.Rename(s.path, to)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return to, nil
	}
}
