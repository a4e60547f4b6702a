package state

import (
	"time"

	"go.etcd.io/bbolt"
)

// How long looks are kept, by the state's own clock. The counts bound the file where looks come
// more often than once a minute, and keep some where that clock was led astray.
const (
	day = 24 * time.Hour

	rowsFor   = 7 * day
	rowsLeast = 1000
	rowsMost  = 2 * 7 * 24 * 60 // for two looks a minute, or a period of 30 s

	changesFor   = 90 * day
	changesLeast = 100
	changesMost  = 50_000
	changesBytes = 32 << 20 // of observations and what they were judged by; both together some 5 KiB for four nodes
	fullMost     = changesBytes / 8

	daysKept = 400
)

// forgetMost is how many rows, and how many observations, one look deletes at most: two come with a
// tick, so a backlog goes away soon and no look pays for all of it.
const forgetMost = 32

// forget deletes what was kept long enough.
func (s *Store) forget(tx *bbolt.Tx, l *ledger) error {
	if err := s.forgetRows(tx, l); err != nil {
		return err
	}
	return s.forgetChanges(tx, l)
}

func (s *Store) forgetRows(tx *bbolt.Tx, l *ledger) error {
	rows := bucketRows.in(tx)
	newest := rows.Sequence()
	for range forgetMost {
		key, text := rows.Cursor().First()
		number, err := s.number(bucketRows, key)
		if err != nil || key == nil {
			return err
		}
		behind := newest - number
		if behind < rowsMost {
			if behind < rowsLeast {
				return nil
			}
			old, err := s.olderThan(text, l.Age, rowsFor)
			if err != nil || !old {
				return err
			}
		}
		if err := rows.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// forgetChanges deletes observations with their rows. Beyond the bytes that may be kept it deletes
// as many as the new one needs, however small they are.
func (s *Store) forgetChanges(tx *bbolt.Tx, l *ledger) error {
	full, changes := bucketFull.in(tx), bucketChanges.in(tx)
	for n := 0; n < forgetMost || l.Bytes > changesBytes; n++ {
		key, text := full.Cursor().First()
		if key == nil || l.Changes <= 1 {
			return nil
		}
		if l.Bytes <= changesBytes && l.Changes <= changesMost {
			if l.Changes <= changesLeast {
				return nil
			}
			row := changes.Get(key)
			if row == nil {
				return s.damaged("observation %x has no row", key)
			}
			old, err := s.olderThan(row, l.Age, changesFor)
			if err != nil || !old {
				return err
			}
		}
		before, err := forgetBefore(tx, key)
		if err != nil {
			return err
		}
		l.Bytes -= int64(len(text) + before)
		l.Changes--
		if err := changes.Delete(key); err != nil {
			return err
		}
		if err := full.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// olderThan says whether a row was saved longer ago than that.
func (s *Store) olderThan(text []byte, now, than time.Duration) (bool, error) {
	var row Row
	if err := s.decode("row", text, &row); err != nil {
		return false, err
	}
	return now-row.Age > than, nil
}

func (s *Store) number(in bucket, key []byte) (uint64, error) {
	if key == nil {
		return 0, nil
	}
	number, err := keyNumber(key)
	if err != nil {
		return 0, s.damaged("%s: %v", in, err)
	}
	return number, nil
}
