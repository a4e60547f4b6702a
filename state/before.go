package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// Before is what a look that was kept in full was judged by: the state as it was, and the hashes
// of the config of that look.
type Before struct {
	State            watchdog.State
	Config, Identity string
}

// kept is a Before as it is stored. Of the attempts only the newest can still change; the others
// are found under their ids.
type kept struct {
	State    json.RawMessage `json:"state"`
	Arm      json.RawMessage `json:"arm,omitempty"`
	Reset    json.RawMessage `json:"reset,omitempty"`
	LastGood json.RawMessage `json:"last_good,omitempty"`
	Attempt  json.RawMessage `json:"attempt,omitempty"`
	Config   string          `json:"config,omitempty"`
	Identity string          `json:"identity,omitempty"`
}

// beforeOf reads what is known before next is written over it.
func beforeOf(tx *bbolt.Tx, next watchdog.State) ([]byte, error) {
	current := bucketCurrent.in(tx)
	get := func(key string) json.RawMessage { return bytes.Clone(current.Get([]byte(key))) }
	_, attempt := bucketAttempts.in(tx).Cursor().Last()
	return encode(kept{State: get(keyState), Arm: get(keyArm), Reset: get(keyReset), LastGood: get(keyLastGood),
		Attempt: bytes.Clone(attempt), Config: next.Config, Identity: next.Identity})
}

// keepBefore writes it under the number of its row. It goes with the observation.
func keepBefore(tx *bbolt.Tx, number uint64, text []byte) error {
	return bucketBefore.growing(tx).Put(numberKey(number), text)
}

// forgetBefore deletes what an observation was judged by, and returns how long it was.
func forgetBefore(tx *bbolt.Tx, key []byte) (int, error) {
	b := bucketBefore.in(tx)
	size := len(b.Get(key))
	return size, b.Delete(key)
}

// Kept returns the numbers of the rows whose observation is kept in full, oldest first.
func (s *Store) Kept() ([]uint64, error) {
	var numbers []uint64
	err := s.view(func(tx *bbolt.Tx) error {
		return bucketFull.in(tx).ForEach(func(key, _ []byte) error {
			number, err := keyNumber(key)
			if err != nil {
				return s.damaged("%s: %v", bucketFull, err)
			}
			numbers = append(numbers, number)
			return nil
		})
	})
	return numbers, err
}

// Before returns what the observation with this number was judged by; nil where that was not kept.
// Attempts that have been forgotten since are missing.
func (s *Store) Before(number uint64) (*Before, error) {
	var text []byte
	var attempts []numbered
	err := s.view(func(tx *bbolt.Tx) (err error) {
		if b := bucketBefore.in(tx); b != nil { // schema 1
			text = bytes.Clone(b.Get(numberKey(number)))
		}
		attempts, err = readLast(s, bucketAttempts, tx, -1)
		return err
	})
	if err != nil || text == nil {
		return nil, err
	}
	var k kept
	if err := s.decode(fmt.Sprintf("before of %d", number), text, &k); err != nil {
		return nil, err
	}
	raw := stored{state: k.State, arm: k.Arm, reset: k.Reset, lastGood: k.LastGood}
	if raw.attempts, err = s.attemptsThen(k.Attempt, attempts); err != nil {
		return nil, err
	}
	st, err := raw.decode(s)
	return &Before{State: st, Config: k.Config, Identity: k.Identity}, err
}

// attemptsThen returns the attempts before the newest of then, and that as it was.
func (s *Store) attemptsThen(newest []byte, now []numbered) ([]numbered, error) {
	if newest == nil {
		return nil, nil
	}
	var last watchdog.Attempt
	if err := s.decode("attempt of then", newest, &last); err != nil {
		return nil, err
	}
	var then []numbered
	for _, a := range now {
		if a.number < uint64(last.ID) {
			then = append(then, a)
		}
	}
	return append(then, numbered{uint64(last.ID), newest}), nil
}
