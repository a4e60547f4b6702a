package state

import (
	"bytes"
	"fmt"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// Row is one look in a line.
type Row struct {
	Number   uint64         `json:"-"` // counts up; given by SaveLook
	At       watchdog.Clock `json:"at"`
	Phase    string         `json:"phase"`
	Action   string         `json:"action"`
	Reason   string         `json:"reason"`
	Sentence string         `json:"sentence"`
	Took     time.Duration  `json:"took"`
	Verdict  string         `json:"verdict,omitempty"` // serving, busy, wedged ...
	Canary   time.Duration  `json:"canary,omitempty"`  // how long a served completion took; zero: none was served
	Full     bool           `json:"full,omitempty"`    // the observation is kept; set by SaveLook
	Age      time.Duration  `json:"age,omitempty"`     // of the state at this look, by its own clock; set by SaveLook
	Deeds    []Deed         `json:"-"`                 // what changed with it; SaveLook keeps them longer than rows
}

// SaveLook writes the next state and the row of a look in one transaction, and the observation
// where full is given. It adds the look to the totals of its day, and forgets what was kept long
// enough. Attempts, the arm record, the reset and the last-good record in next are not written:
// others own them.
func (s *Store) SaveLook(next watchdog.State, row Row, full *watchdog.Observation) error {
	next.Baseline.Engines = finite(next.Baseline.Engines)
	stateText, err := encode(next)
	if err != nil {
		return s.fault("save", err)
	}
	fullText, err := encodeFull(full)
	if err != nil {
		return s.fault("save", err)
	}
	if len(fullText) > fullMost {
		fullText = nil
	}
	row.Full = fullText != nil
	return s.update(func(tx *bbolt.Tx) error {
		var before []byte
		if fullText != nil {
			if before, err = beforeOf(tx, next); err != nil {
				return err
			}
		}
		if err := bucketCurrent.in(tx).Put([]byte(keyState), stateText); err != nil {
			return err
		}
		if err := s.appendLook(tx, next, row, fullText, before); err != nil {
			return err
		}
		return recordDeeds(tx, row.Deeds)
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

// appendLook writes everything about a look but the state that it led to.
func (s *Store) appendLook(tx *bbolt.Tx, next watchdog.State, row Row, full, before []byte) error {
	l, err := s.ledger(tx)
	if err != nil {
		return err
	}
	passed := l.advance(row.At)
	row.Age = l.Age
	if err := s.countLook(tx, &l, next, row, passed); err != nil {
		return err
	}
	if err := appendRow(tx, &l, row, full, before); err != nil {
		return err
	}
	if err := s.forget(tx, &l); err != nil {
		return err
	}
	return l.save(tx)
}

func appendRow(tx *bbolt.Tx, l *ledger, row Row, full, before []byte) error {
	text, err := encode(row)
	if err != nil {
		return err
	}
	rows := bucketRows.growing(tx)
	number, err := rows.NextSequence()
	if err != nil {
		return err
	}
	if err := rows.Put(numberKey(number), text); err != nil || full == nil {
		return err
	}
	l.Bytes += int64(len(full) + len(before))
	l.Changes++
	if err := keepBefore(tx, number, before); err != nil {
		return err
	}
	if err := bucketChanges.growing(tx).Put(numberKey(number), text); err != nil {
		return err
	}
	return bucketFull.growing(tx).Put(numberKey(number), full)
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
	return s.decodeRows(raw)
}

func (s *Store) decodeRows(raw []numbered) ([]Row, error) {
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
