package state

import (
	"bytes"
	"fmt"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// rowsKept is how many ticks are remembered, with the observations that were kept for them.
const rowsKept = 1000

// Row is one tick in a line.
type Row struct {
	Number   uint64         `json:"-"` // counts up; given by SaveLook
	At       watchdog.Clock `json:"at"`
	Phase    string         `json:"phase"`
	Action   string         `json:"action"`
	Reason   string         `json:"reason"`
	Sentence string         `json:"sentence"`
	Took     time.Duration  `json:"took"`
	Full     bool           `json:"full,omitempty"` // the observation is kept; set by SaveLook
}

// SaveLook writes the next state and the row of a look in one transaction, and the observation
// where full is given. Attempts, the arm record, the reset and the last-good record in next are
// not written: others own them.
func (s *Store) SaveLook(next watchdog.State, row Row, full *watchdog.Observation) error {
	next.Baseline.Engines = finite(next.Baseline.Engines)
	row.Full = full != nil
	stateText, err := encode(next)
	if err != nil {
		return s.fault("save", err)
	}
	rowText, err := encode(row)
	if err != nil {
		return s.fault("save", err)
	}
	fullText, err := encodeFull(full)
	if err != nil {
		return s.fault("save", err)
	}
	return s.update(func(tx *bbolt.Tx) error {
		if err := bucketCurrent.in(tx).Put([]byte(keyState), stateText); err != nil {
			return err
		}
		return appendRow(tx, rowText, fullText)
	})
}

func encodeFull(o *watchdog.Observation) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	kept := *o
	kept.Before.Engines = finite(kept.Before.Engines)
	kept.After.Engines = finite(kept.After.Engines)
	return encode(kept)
}

func appendRow(tx *bbolt.Tx, row, full []byte) error {
	number, err := bucketRows.in(tx).NextSequence()
	if err != nil {
		return err
	}
	if err := bucketRows.in(tx).Put(numberKey(number), row); err != nil {
		return err
	}
	if full != nil {
		if err := bucketFull.in(tx).Put(numberKey(number), full); err != nil {
			return err
		}
	}
	if number <= rowsKept {
		return nil
	}
	for _, b := range []bucket{bucketRows, bucketFull} {
		if err := forgetTo(b.in(tx), numberKey(number-rowsKept)); err != nil {
			return err
		}
	}
	return nil
}

// forgetTo deletes everything up to and with key last.
func forgetTo(b *bbolt.Bucket, last []byte) error {
	c := b.Cursor()
	for key, _ := c.First(); key != nil && bytes.Compare(key, last) <= 0; key, _ = c.First() {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// Rows returns the newest n rows, newest last.
func (s *Store) Rows(n int) ([]Row, error) {
	var raw []numbered
	err := s.view(func(tx *bbolt.Tx) (err error) {
		raw, err = readLast(s, bucketRows, tx, max(0, n))
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, r := range raw {
		row := Row{}
		if err := s.decode(fmt.Sprintf("row %d", r.number), r.text, &row); err != nil {
			return nil, err
		}
		row.Number = r.number
		out = append(out, row)
	}
	return out, nil
}

// Observation returns what was kept for the row with this number; nil when nothing was.
func (s *Store) Observation(number uint64) (*watchdog.Observation, error) {
	var text []byte
	err := s.view(func(tx *bbolt.Tx) error {
		text = bytes.Clone(bucketFull.in(tx).Get(numberKey(number)))
		return nil
	})
	if err != nil || text == nil {
		return nil, err
	}
	o := new(watchdog.Observation)
	if err := s.decode(fmt.Sprintf("observation %d", number), text, o); err != nil {
		return nil, err
	}
	return o, nil
}
