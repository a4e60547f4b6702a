package state

import (
	"fmt"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// deedsKept is how many changes and deeds of people are remembered: years, where little happens.
const deedsKept = 2000

// Deed is a change of phase, or something that a person did.
type Deed struct {
	At   watchdog.Clock `json:"at"`
	Kind string         `json:"kind"`          // phase, armed, disarmed, flag, reset, set-aside
	Who  string         `json:"who,omitempty"` // empty: the watchdog
	Text string         `json:"text"`
}

// Record writes down a deed.
func (s *Store) Record(d Deed) error {
	return s.update(func(tx *bbolt.Tx) error { return recordDeeds(tx, []Deed{d}) })
}

// recordDeeds appends, and forgets the oldest beyond deedsKept.
func recordDeeds(tx *bbolt.Tx, deeds []Deed) error {
	b := bucketDeeds.in(tx)
	for _, d := range deeds {
		text, err := encode(d)
		if err != nil {
			return err
		}
		number, err := b.NextSequence()
		if err != nil {
			return err
		}
		if err := b.Put(numberKey(number), text); err != nil {
			return err
		}
		if number > deedsKept {
			if err := b.Delete(numberKey(number - deedsKept)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Deeds returns all deeds that are remembered, newest last.
func (s *Store) Deeds() ([]Deed, error) {
	var raw []numbered
	err := s.view(func(tx *bbolt.Tx) (err error) {
		if bucketDeeds.in(tx) != nil { // schema 1
			raw, err = readLast(s, bucketDeeds, tx, -1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Deed, len(raw))
	for i, r := range raw {
		if err := s.decode(fmt.Sprintf("deed %d", r.number), r.text, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
