package state

import (
	"bytes"
	"fmt"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

const (
	attemptsKept = 50                  // at least so many, however old
	attemptsFor  = 30 * 24 * time.Hour // and all that are younger
)

// NextAttemptID returns the id for a new attempt, one more than the highest. It is not used up
// until SaveAttempt has saved it.
func (s *Store) NextAttemptID() (int, error) {
	next := uint64(1)
	err := s.view(func(tx *bbolt.Tx) error {
		key, _ := bucketAttempts.in(tx).Cursor().Last()
		if key == nil {
			return nil
		}
		last, err := keyNumber(key)
		if err != nil {
			return s.damaged("%s: %v", bucketAttempts, err)
		}
		next = last + 1
		return nil
	})
	return int(next), err
}

// SaveAttempt writes an attempt under its id, in place of what was there, and forgets old ones.
// When it returns nil the attempt is on disk.
func (s *Store) SaveAttempt(a watchdog.Attempt) error {
	if a.ID < 1 {
		return fmt.Errorf("cannot save an attempt with id %d: ids come from NextAttemptID", a.ID)
	}
	text, err := encode(a)
	if err != nil {
		return s.fault("save", err)
	}
	return s.update(func(tx *bbolt.Tx) error { return s.putAttempt(tx, a, text) })
}

func (s *Store) putAttempt(tx *bbolt.Tx, a watchdog.Attempt, text []byte) error {
	attempts, key := bucketAttempts.in(tx), numberKey(uint64(a.ID))
	if err := s.countAttempt(tx, attempts.Get(key), a); err != nil {
		return err
	}
	if err := attempts.Put(key, text); err != nil {
		return err
	}
	return s.forgetAttempts(tx, a.Started.Wall)
}

// forgetAttempts deletes what is older than attemptsFor at the time now, which is the saved
// attempt's own start: a wall clock gone wrong costs no more than what is beyond the last 50.
func (s *Store) forgetAttempts(tx *bbolt.Tx, now time.Time) error {
	b := bucketAttempts.in(tx)
	var old [][]byte
	seen := 0
	c := b.Cursor()
	for key, text := c.Last(); key != nil; key, text = c.Prev() {
		if seen++; seen <= attemptsKept {
			continue
		}
		var a watchdog.Attempt
		if err := s.decode("attempt", text, &a); err != nil {
			return err
		}
		if now.Sub(a.Started.Wall) > attemptsFor {
			old = append(old, bytes.Clone(key))
		}
	}
	for _, key := range old {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
