package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.etcd.io/bbolt"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func at(after time.Duration) watchdog.Clock {
	return watchdog.Clock{Wall: noon.Add(after), Boot: time.Hour + after, BootID: "b1"}
}

func open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state"), examined)
	check(t, err)
	return s
}

// filled is a store with some of everything, several pages large.
func filled(t testing.TB) *Store {
	t.Helper()
	s := open(t)
	for i := range 12 {
		o := sampleLook(time.Duration(i) * time.Minute)
		check(t, s.SaveLook(sampleState(), Row{At: o.At, Phase: "SERVING", Sentence: strings.Repeat("serving ", 40)}, &o))
		check(t, s.SaveAttempt(watchdog.Attempt{ID: i + 1, Why: strings.Repeat("rank 2 exited ", 40), Started: o.At}))
	}
	check(t, s.SaveArm(&watchdog.Arm{Who: "anna", At: at(0), Identity: "i1"}))
	check(t, s.SaveReset(at(time.Minute)))
	check(t, s.SaveLastGood(&watchdog.LastGood{Identity: "i1", MemFree: []int64{1, 2}}))
	return s
}

func sampleState() watchdog.State {
	return watchdog.State{Phase: watchdog.Serving, Last: at(0), Served: at(0), Config: "c1",
		Ranks: []watchdog.Known{{Container: &watchdog.Container{ID: "aa", Status: "running"}, Ran: "aa@1"}}}
}

func sampleLook(after time.Duration) watchdog.Observation {
	return watchdog.Observation{At: at(after), Ranks: []watchdog.Rank{{Node: "spark1", SSH: watchdog.ReachOK}}}
}

func load(t testing.TB, s *Store) watchdog.State {
	t.Helper()
	got, err := s.Load()
	check(t, err)
	return got
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func isDamage(err error) bool {
	var damage *DamageError
	return errors.As(err, &damage)
}

func TestFirstStart(t *testing.T) {
	s := open(t)
	same(t, "nothing saved yet", watchdog.State{}, load(t, s))
	rows, err := s.Rows(10)
	check(t, err)
	same(t, "rows", []Row(nil), rows)
	id, err := s.NextAttemptID()
	check(t, err)
	same(t, "first id", 1, id)
	if _, err := os.Lstat(s.Path()); !os.IsNotExist(err) {
		t.Errorf("reading created the database: %v", err)
	}
	check(t, s.SaveReset(at(0)))
	same(t, "after the first save", watchdog.State{Reset: at(0)}, load(t, s))
	info, err := os.Stat(s.Path())
	check(t, err)
	same(t, "mode", os.FileMode(0o600), info.Mode())
	entries, err := os.ReadDir(s.dir)
	check(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	same(t, "no temporary file is left", []string{"initialized", "saved", "state.db"}, names)
}

// Two processes may both find no database: the slower one must not replace the faster one's.
func TestCreateDoesNotReplace(t *testing.T) {
	s := filled(t)
	want := load(t, s)
	check(t, s.create())
	same(t, "the first database", want, load(t, s))
}

// A crash between the database and its sidecar is repaired by the next save.
func TestSidecarComesBack(t *testing.T) {
	s := filled(t)
	sidecar := filepath.Join(s.dir, sidecarName)
	check(t, os.Remove(sidecar))
	load(t, s)
	check(t, s.ClearArm())
	if _, err := os.Lstat(sidecar); err != nil {
		t.Error(err)
	}
}

func TestEachValueHasOneWriter(t *testing.T) {
	s := filled(t)
	before := load(t, s)
	next := watchdog.State{Phase: watchdog.Booting, Since: at(time.Hour),
		Attempts: []watchdog.Attempt{{ID: 99}}, Arm: &watchdog.Arm{Who: "nobody"}, Reset: at(9 * time.Hour)}
	check(t, s.SaveLook(next, Row{}, nil))
	want := next
	want.Attempts, want.Arm, want.Reset, want.LastGood = before.Attempts, before.Arm, before.Reset, before.LastGood
	same(t, "SaveLook", want, load(t, s))
	check(t, s.ClearArm())
	want.Arm = nil
	same(t, "ClearArm", want, load(t, s))
	for what, err := range map[string]error{"arm": s.SaveArm(nil), "last good": s.SaveLastGood(nil), "id": s.SaveAttempt(watchdog.Attempt{})} {
		if err == nil || !strings.HasPrefix(err.Error(), "cannot save") {
			t.Errorf("%s: %v", what, err)
		}
	}
	same(t, "refused values", want, load(t, s))
}

func TestNewerSchemaIsRefusedUntouched(t *testing.T) {
	s := filled(t)
	inside(t, s, func(tx *bbolt.Tx) error { return writeSchema(tx, schemaVersion+1) })
	before, err := os.ReadFile(s.Path())
	check(t, err)
	_, errLoad := s.Load()
	_, errRows := s.Rows(1)
	for name, err := range map[string]error{"Load": errLoad, "Rows": errRows, "SaveReset": s.SaveReset(at(0)), "SaveLook": s.SaveLook(watchdog.State{}, Row{}, nil)} {
		var newer *NewerError
		if !errors.As(err, &newer) || newer.Version != schemaVersion+1 || isDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := os.ReadFile(s.Path())
	check(t, err)
	if string(before) != string(after) {
		t.Error("the file was changed")
	}
}

// A database that another process keeps open is an error after the timeout, and no damage.
func TestHeldDatabaseTimesOutB01(t *testing.T) {
	s := filled(t)
	s.timeout = 60 * time.Millisecond
	db, err := bbolt.Open(s.Path(), fileMode, nil)
	check(t, err)
	_, errLoad := s.Load()
	for name, err := range map[string]error{"Load": errLoad, "SaveReset": s.SaveReset(at(0))} {
		if err == nil || isDamage(err) || !strings.Contains(err.Error(), "another process has it open") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, db.Close())
	load(t, s)
}

// In the middle of a restart the lock is held and attempts are being saved; status still reads.
func TestLoadInTheMiddleOfARestartB01(t *testing.T) {
	s := filled(t)
	lock, err := Acquire(t.Context(), s.dir, "tick", clock)
	check(t, err)
	defer lock.Release()
	done := make(chan error)
	go func() {
		for try := range 30 {
			if err := s.SaveAttempt(watchdog.Attempt{ID: 13, Tries: try, Started: at(time.Hour)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	other, err := Open(s.dir, examined) // as another process has it
	check(t, err)
	for last := 0; ; {
		select {
		case err := <-done:
			check(t, err)
			return
		default:
		}
		got := load(t, other).Attempts
		if n := len(got); n == 13 {
			if got[12].Tries < last {
				t.Fatalf("tries went back from %d to %d", last, got[12].Tries)
			}
			last = got[12].Tries
		}
	}
}

// inside changes a database behind the store's back.
func inside(t testing.TB, s *Store, change func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(s.Path(), fileMode, nil)
	check(t, err)
	check(t, db.Update(func(tx *bbolt.Tx) error {
		if err := change(tx); err != nil {
			return err
		}
		if version := bucketSchema.in(tx).Get([]byte(keyVersion)); string(version) == "1" {
			return bucketCurrent.in(tx).Delete([]byte(keySeal))
		}
		return sealNow(tx)
	}))
	check(t, db.Close())
}

func TestSaveTold(t *testing.T) {
	s := filled(t)
	want := load(t, s)
	want.Told = []string{"budget 2/2"}
	check(t, s.SaveTold(want.Told))
	same(t, "the rest stays", want, load(t, s))
	putIn(bucketCurrent, keyState, "{")(t, s)
	if err := s.SaveTold(nil); !isDamage(err) {
		t.Errorf("on a damaged state: %v", err)
	}
}
