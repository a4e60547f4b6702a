package state

import (
	"errors"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// SaveArm records a person's leave to act.
func (s *Store) SaveArm(arm *watchdog.Arm) error {
	if arm == nil {
		return errors.New("cannot save an arm record: none was given")
	}
	return s.saveCurrent(keyArm, arm)
}

// ClearArm takes the leave back.
func (s *Store) ClearArm() error {
	return s.update(func(tx *bbolt.Tx) error { return bucketCurrent.in(tx).Delete([]byte(keyArm)) })
}

// SaveReset records when a person last reset the budget.
func (s *Store) SaveReset(at watchdog.Clock) error { return s.saveCurrent(keyReset, at) }

// SaveLastGood records what the boot that now serves was like.
func (s *Store) SaveLastGood(good *watchdog.LastGood) error {
	if good == nil {
		return errors.New("cannot save a last-good record: none was given")
	}
	return s.saveCurrent(keyLastGood, good)
}

func (s *Store) saveCurrent(key string, value any) error {
	text, err := encode(value)
	if err != nil {
		return s.fault("save", err)
	}
	return s.update(func(tx *bbolt.Tx) error { return bucketCurrent.in(tx).Put([]byte(key), text) })
}
