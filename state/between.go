package state

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// RowsBetween returns the rows with a wall clock from from to to, oldest first: every look of the
// last 7 days.
func (s *Store) RowsBetween(from, to time.Time) ([]Row, error) {
	return s.between(bucketRows, from, to)
}

// ChangesBetween returns the rows whose observation is kept, with a wall clock from from to to,
// oldest first: those of the last 90 days.
func (s *Store) ChangesBetween(from, to time.Time) ([]Row, error) {
	return s.between(bucketChanges, from, to)
}

// between looks at every row: where a wall clock jumped they are not in its order.
func (s *Store) between(in bucket, from, to time.Time) ([]Row, error) {
	var raw []numbered
	err := s.view(func(tx *bbolt.Tx) error {
		b := in.in(tx)
		if b == nil { // schema 1
			return nil
		}
		return b.ForEach(func(key, text []byte) error {
			number, err := s.number(in, key)
			raw = append(raw, numbered{number, bytes.Clone(text)})
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	rows, err := s.decodeRows(raw)
	var out []Row
	for _, r := range rows {
		if !r.At.Wall.Before(from) && !r.At.Wall.After(to) {
			out = append(out, r)
		}
	}
	return out, err
}
