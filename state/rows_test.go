package state

import (
	"fmt"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

func TestRowsKeepTheNewest(t *testing.T) {
	s := open(t)
	check(t, s.SaveReset(at(0)))
	// All but the last few rows in one transaction: a thousand syncs would be slow.
	inside(t, s, func(tx *bbolt.Tx) error {
		for i := 1; i <= rowsKept; i++ {
			row := Row{At: at(time.Duration(i) * time.Minute), Sentence: fmt.Sprint("tick ", i), Full: i%10 == 3}
			text, err := encode(row)
			if err != nil {
				return err
			}
			var full []byte
			if row.Full {
				if full, err = encode(watchdog.Observation{At: row.At}); err != nil {
					return err
				}
			}
			if err := appendRow(tx, text, full); err != nil {
				return err
			}
		}
		return nil
	})
	o := sampleLook(0)
	for i := rowsKept + 1; i <= rowsKept+5; i++ {
		check(t, s.SaveLook(sampleState(), Row{Sentence: fmt.Sprint("tick ", i)}, &o))
	}
	rows, err := s.Rows(2 * rowsKept)
	check(t, err)
	same(t, "how many", rowsKept, len(rows))
	for i, r := range rows {
		same(t, "sentence", fmt.Sprint("tick ", i+6), r.Sentence)
		same(t, "number", uint64(i+6), r.Number)
		kept, err := bucketKept(s, r.Number)
		check(t, err)
		same(t, fmt.Sprint("observation of ", r.Sentence), r.Full, kept)
	}
	if kept, _ := bucketKept(s, 3); kept {
		t.Error("an observation without its row was kept")
	}
	rows, err = s.Rows(2)
	check(t, err)
	same(t, "newest last", []string{"tick 1004", "tick 1005"}, []string{rows[0].Sentence, rows[1].Sentence})
	for _, n := range []int{0, -1} {
		rows, err := s.Rows(n)
		check(t, err)
		same(t, "no rows", 0, len(rows))
	}
}

func bucketKept(s *Store, number uint64) (bool, error) {
	o, err := s.Observation(number)
	return o != nil, err
}
