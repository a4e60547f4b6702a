package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// unsynced keeps a store's database open for many looks without waiting for the disk, and with
// several of them in one transaction where it does not matter how its pages come to lie.
type unsynced struct {
	t     testing.TB
	s     *Store
	db    *bbolt.DB
	tx    *bbolt.Tx
	batch int // looks in one transaction
	open  int // in the present one
}

func openUnsynced(t testing.TB, batch int) *unsynced {
	t.Helper()
	u := &unsynced{t: t, s: open(t), batch: batch}
	check(t, u.s.SaveReset(at(0)))
	var err error
	u.db, err = bbolt.Open(u.s.Path(), fileMode, &bbolt.Options{NoSync: true, PageSize: boltPageSize})
	check(t, err)
	return u
}

// do is part of the present transaction.
func (u *unsynced) do(change func(*bbolt.Tx) error) {
	u.t.Helper()
	if u.tx == nil {
		var err error
		u.tx, err = u.db.Begin(true)
		check(u.t, err)
	}
	check(u.t, change(u.tx))
	if u.open++; u.open >= u.batch {
		u.commit()
	}
}

func (u *unsynced) commit() {
	u.t.Helper()
	if u.tx != nil {
		check(u.t, sealNow(u.tx))
		check(u.t, u.tx.Commit())
	}
	u.tx, u.open = nil, 0
}

// close lets the store itself read.
func (u *unsynced) close() *Store {
	u.t.Helper()
	u.commit()
	check(u.t, u.db.Close())
	return u.s
}

func (u *unsynced) look(next watchdog.State, row Row, full *watchdog.Observation) {
	u.t.Helper()
	stateText, err := encode(next)
	check(u.t, err)
	text, err := encodeFull(full)
	check(u.t, err)
	row.Full = full != nil
	u.do(func(tx *bbolt.Tx) error {
		before, err := beforeOf(tx, next)
		check(u.t, err)
		if err := bucketCurrent.in(tx).Put([]byte(keyState), stateText); err != nil {
			return err
		}
		return u.s.appendLook(tx, next, row, text, before)
	})
}

// tick is a healthy look at that time since noon; with full where it is one of a change.
func (u *unsynced) tick(at watchdog.Clock, change bool) {
	u.t.Helper()
	var full *watchdog.Observation
	if change {
		full = &watchdog.Observation{At: at}
	}
	u.look(watchdog.State{Phase: watchdog.Serving, Served: at}, Row{At: at, Sentence: at.Wall.Format(time.DateTime)}, full)
}

func TestRowsAreKeptSevenDays(t *testing.T) {
	u := openUnsynced(t, 200)
	for m := range 9 * 24 * 60 {
		u.tick(at(time.Duration(m)*time.Minute), m%1000 == 0)
	}
	last := at((9*24*60 - 1) * time.Minute)
	s := u.close()
	rows, err := s.Rows(1 << 20)
	check(t, err)
	same(t, "a row per tick for 7 days", 7*24*60+1, len(rows))
	same(t, "the first is 7 days old", rowsFor, last.Since(rows[0].At))
	same(t, "the last is new", true, rows[len(rows)-1].At.Equal(last))
	changes, err := s.ChangesBetween(noon, noon.Add(10*day))
	check(t, err)
	same(t, "a change of the first day is there", at(0).Wall, changes[0].At.Wall.UTC())
	o, err := s.Observation(changes[0].Number)
	check(t, err)
	same(t, "with what was seen", true, o != nil && o.At.Equal(at(0)))
	two, err := s.RowsBetween(noon.Add(8*day), noon.Add(8*day+time.Minute))
	check(t, err)
	same(t, "rows of a time", 2, len(two))
	newest, err := s.Rows(2)
	check(t, err)
	same(t, "newest last", []uint64{9*24*60 - 1, 9 * 24 * 60}, []uint64{newest[0].Number, newest[1].Number})
	for _, n := range []int{0, -1} {
		rows, err := s.Rows(n)
		check(t, err)
		same(t, "no rows", 0, len(rows))
	}
}

func TestChangesAreKeptNinetyDays(t *testing.T) {
	u := openUnsynced(t, 200)
	for h := range 100 * 24 {
		u.tick(at(time.Duration(h)*time.Hour), h%4 == 0)
	}
	s := u.close()
	changes, err := s.ChangesBetween(time.Time{}, noon.Add(1000*day))
	check(t, err)
	first, last := changes[0], changes[len(changes)-1]
	same(t, "the oldest", true, last.At.Since(first.At) > changesFor-5*time.Hour && last.At.Since(first.At) <= changesFor)
	same(t, "how many", 90*6, len(changes))
	for _, c := range changes {
		o, err := s.Observation(c.Number)
		check(t, err)
		if o == nil || !o.At.Equal(c.At) {
			t.Fatalf("the observation of %s is %v", c.Sentence, o)
		}
	}
	o, err := s.Observation(first.Number - 4)
	check(t, err)
	same(t, "the one before is gone", true, o == nil)
}

// However often looks come, and however large they are, so much is kept and no more.
func TestRetentionIsBoundedInCountAndBytes(t *testing.T) {
	u := openUnsynced(t, 200)
	large := watchdog.Observation{StoreFault: strings.Repeat("x", 1<<20)}
	for n := range rowsMost + 500 {
		var full *watchdog.Observation
		if n%500 == 0 {
			full = &large
		}
		u.look(watchdog.State{}, Row{At: at(time.Duration(n) * time.Second)}, full)
	}
	s := u.close()
	rows, err := s.Rows(1 << 20)
	check(t, err)
	same(t, "rows", rowsMost, len(rows))
	changes, err := s.ChangesBetween(time.Time{}, noon.Add(day))
	check(t, err)
	text, err := encodeFull(&large)
	check(t, err)
	same(t, "observations", changesBytes/len(text), len(changes))
	inside(t, s, func(tx *bbolt.Tx) error {
		l, err := s.ledger(tx)
		bytes, n := 0, 0
		_ = bucketFull.in(tx).ForEach(func(_, text []byte) error { bytes, n = bytes+len(text), n+1; return nil })
		_ = bucketBefore.in(tx).ForEach(func(_, text []byte) error { bytes += len(text); return nil })
		same(t, "the ledger is right", []int{n, bytes}, []int{l.Changes, int(l.Bytes)})
		return err
	})
	// One that is larger than all that may be kept is left out, the look itself is not.
	huge := watchdog.Observation{StoreFault: strings.Repeat("x", fullMost)}
	check(t, s.SaveLook(watchdog.State{}, Row{At: at(day)}, &huge))
	last, err := s.Rows(1)
	check(t, err)
	same(t, "too large", false, last[0].Full)
}

// clockAt is a wall clock of its own on a boot of its own.
func clockAt(boot int, after time.Duration, wall time.Time) watchdog.Clock {
	return watchdog.Clock{Wall: wall, Boot: after, BootID: fmt.Sprint("boot", boot)}
}

// A wall clock that says 1970 or 2098 deletes nothing that is young, and what follows is forgotten
// in its time all the same.
func TestJumpingClocksNeitherDeleteNorKeepEverything(t *testing.T) {
	walls := map[string]time.Time{"1970": time.Unix(0, 0).UTC(), "2098": time.Date(2098, 1, 1, 0, 0, 0, 0, time.UTC)}
	for name, wrong := range walls {
		t.Run(name+" after a reboot", func(t *testing.T) {
			u := openUnsynced(t, 200)
			for m := range 3000 {
				u.tick(at(time.Duration(m)*time.Minute), true)
			}
			for m := range 60 {
				after := time.Duration(m) * time.Minute
				u.tick(clockAt(2, after, wrong.Add(after)), true)
			}
			for m := range 60 { // and a third boot has the right time again
				after := time.Duration(m) * time.Minute
				u.tick(clockAt(3, after, noon.Add(4*day+after)), true)
			}
			s := u.s
			u.wants("right after", 3120)
			for m := range 8 * 24 * 12 {
				after := time.Hour + time.Duration(m)*5*time.Minute
				u.tick(clockAt(3, after, noon.Add(4*day+after)), false)
			}
			u.close()
			rows, err := s.Rows(1 << 20)
			check(t, err)
			same(t, "a week later", 7*24*12+1, len(rows))
		})
		t.Run(name+" within a boot", func(t *testing.T) {
			u := openUnsynced(t, 200)
			for m := range 3000 {
				u.tick(at(time.Duration(m)*time.Minute), true)
			}
			for m := range 60 {
				c := at(time.Duration(3000+m) * time.Minute)
				c.Wall = wrong.Add(time.Duration(m) * time.Minute)
				u.tick(c, true)
			}
			u.wants("right after", 3060)
		})
	}
}

func (u *unsynced) wants(when string, rows int) {
	u.t.Helper()
	u.commit()
	check(u.t, u.db.View(func(tx *bbolt.Tx) error {
		same(u.t, "rows "+when, rows, bucketRows.in(tx).Stats().KeyN)
		same(u.t, "observations "+when, rows, bucketFull.in(tx).Stats().KeyN)
		return nil
	}))
}

// However wrong the clock is at every boot, the newest rows stay.
func TestEveryBootInAnotherCentury(t *testing.T) {
	u := openUnsynced(t, 200)
	for b := range 300 {
		for m := range 10 {
			after := time.Duration(m) * time.Minute
			u.tick(clockAt(b, after, noon.AddDate(b%2*100, 0, b).Add(after)), true)
		}
	}
	u.commit()
	check(t, u.db.View(func(tx *bbolt.Tx) error {
		same(t, "rows", rowsLeast, bucketRows.in(tx).Stats().KeyN)
		if n := bucketFull.in(tx).Stats().KeyN; n < changesLeast || n > 3000 {
			t.Errorf("%d observations", n)
		}
		return nil
	}))
}

// A database of before goes on, without what it kept in another way.
func TestAnEarlierDatabaseGoesOn(t *testing.T) {
	s := filled(t)
	inside(t, s, func(tx *bbolt.Tx) error {
		for _, b := range addedBuckets() {
			check(t, tx.DeleteBucket([]byte(b)))
		}
		check(t, writeSchema(tx, 1))
		return bucketCurrent.in(tx).Delete([]byte(keyLedger))
	})
	want := load(t, s)
	days, err := s.Days(9)
	check(t, err)
	changes, err := s.ChangesBetween(time.Time{}, noon.Add(day))
	check(t, err)
	deeds, err := s.Deeds()
	check(t, err)
	before, err := s.Before(2)
	check(t, err)
	same(t, "nothing yet", 0, len(days)+len(changes)+len(deeds))
	same(t, "nor this", (*Before)(nil), before)
	o := sampleLook(time.Hour)
	check(t, s.SaveLook(sampleState(), Row{At: o.At}, &o))
	same(t, "the rest stays", want, load(t, s))
	rows, err := s.Rows(99)
	check(t, err)
	same(t, "rows", 13, len(rows))
	got, err := s.Observation(13)
	check(t, err)
	same(t, "observation", &o, got)
}
