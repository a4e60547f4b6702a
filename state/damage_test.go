package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// damages are the ways a good database becomes one that cannot be believed.
var damages = []struct {
	name  string
	cause string
	do    func(t *testing.T, s *Store)
}{
	{"B04 zero length", "the file is empty", func(t *testing.T, s *Store) { check(t, os.Truncate(s.Path(), 0)) }},
	{"vanished", "the file vanished", func(t *testing.T, s *Store) { check(t, os.Remove(s.Path())) }},
	{"short", "the file is short", func(t *testing.T, s *Store) { check(t, os.Truncate(s.Path(), 5000)) }},
	{"B03 half", "the file is cut off", halve},
	{"only the meta pages", "the file is cut off", func(t *testing.T, s *Store) { check(t, os.Truncate(s.Path(), minimumBytes)) }},
	{"short text", "the file is short", func(t *testing.T, s *Store) { write(t, s, []byte("hello\n")) }},
	{"long text", "no bbolt file", func(t *testing.T, s *Store) { write(t, s, bytes.Repeat([]byte("hello "), 9000)) }},
	{"zeros", "no bbolt file", func(t *testing.T, s *Store) { write(t, s, make([]byte, 1<<16)) }},
	{"both meta pages", "no bbolt file", func(t *testing.T, s *Store) { overwrite(t, s, 0, make([]byte, minimumBytes)) }},
	{"B03 all but the meta pages", "its list of free pages is damaged", func(t *testing.T, s *Store) {
		info, err := os.Stat(s.Path())
		check(t, err)
		overwrite(t, s, minimumBytes, make([]byte, info.Size()-minimumBytes))
	}},
	{"no freelist", "no list of free pages", dropFreelist},
	{"other page size", "its pages have 8192 bytes", otherPageSize},
	{"someone else's database", "no schema marker", someoneElses},
	{"other marker", "no schema marker", putIn(bucketSchema, keyMarker, "some other program")},
	{"garbage version", "its schema version is", putIn(bucketSchema, keyVersion, "one")},
	{"version zero", "its schema version is", putIn(bucketSchema, keyVersion, "0")},
	{"a part is missing", `its part "full" is missing`, func(t *testing.T, s *Store) {
		inside(t, s, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucketFull)) })
	}},
	{"garbage state", "its state does not decode", putIn(bucketCurrent, keyState, "\x00\x01garbage")},
	{"state without content", "its state does not decode", putIn(bucketCurrent, keyState, "")},
	{"state null", "its state does not decode", putIn(bucketCurrent, keyState, "null")},
	{"state cut off", "its state does not decode", putIn(bucketCurrent, keyState, `{"phase":2,"last":{`)},
	{"state with more behind", "its state does not decode", putIn(bucketCurrent, keyState, `{"phase":2}{}`)},
	{"state of another type", "its state does not decode", putIn(bucketCurrent, keyState, `{"phase":"serving"}`)},
	{"state with an unknown field", "its state does not decode", putIn(bucketCurrent, keyState, `{"phase":2,"mood":1}`)},
	{"state missing", "its state does not decode", func(t *testing.T, s *Store) {
		inside(t, s, func(tx *bbolt.Tx) error { return bucketCurrent.in(tx).Delete([]byte(keyState)) })
	}},
	{"garbage arm", "its arm does not decode", putIn(bucketCurrent, keyArm, "[]")},
	{"garbage reset", "its reset does not decode", putIn(bucketCurrent, keyReset, "12")},
	{"garbage last good", "its last_good does not decode", putIn(bucketCurrent, keyLastGood, "-")},
	{"garbage attempt", "its attempt 3 does not decode", putIn(bucketAttempts, string(numberKey(3)), "{")},
	{"attempt under another id", "attempt 3 says that it is 4", putIn(bucketAttempts, string(numberKey(3)), `{"id":4,"why":"","started":{"wall":"0001-01-01T00:00:00Z","boot":0,"boot_id":""},"tries":0}`)},
	{"attempt under a bad key", "a key has 3 bytes", putIn(bucketAttempts, "abc", `{}`)},
	{"a folder", "no regular file", func(t *testing.T, s *Store) {
		check(t, os.Remove(s.Path()))
		check(t, os.Mkdir(s.Path(), 0o700))
	}},
	{"a link to nowhere", "no regular file", func(t *testing.T, s *Store) {
		check(t, os.Remove(s.Path()))
		check(t, os.Symlink("nowhere", s.Path()))
	}},
}

func TestDamage(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			s := filled(t)
			d.do(t, s)
			was, _ := os.ReadFile(s.Path())
			for range 2 { // a failed call leaves no lock and no new file behind
				_, err := s.Load()
				var damage *DamageError
				if !errors.As(err, &damage) || damage.Path != s.Path() || !strings.Contains(damage.Cause.Error(), d.cause) {
					t.Fatalf("Load: %v, want damage with %q", err, d.cause)
				}
			}
			is, _ := os.ReadFile(s.Path())
			if !bytes.Equal(was, is) {
				t.Error("reading changed the file")
			}
			recovers(t, s, was)
		})
	}
}

// recovers sets a damaged database aside and sees that all is in place.
func recovers(t *testing.T, s *Store, was []byte) {
	t.Helper()
	to, err := s.SetAside(noon, "the test says so")
	check(t, err)
	flag := ReadFlag(s.dir)
	same(t, "flag", watchdog.Flag{Present: true, Who: "watchdog", When: noon, Reason: "the database was damaged: the test says so"}, flag)
	if info, err := os.Stat(to); err == nil && info.Mode().IsRegular() {
		same(t, "new path", s.Path()+".corrupt-20260304T120000Z", to)
		kept, err := os.ReadFile(to)
		check(t, err)
		if !bytes.Equal(was, kept) {
			t.Error("the damaged file was changed")
		}
	}
	same(t, "fresh state", watchdog.State{}, load(t, s))
	check(t, s.SaveLook(sampleState(), Row{}, nil))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1}))
}

// What Save meets on a database that only it reads must be damage too, not a crash.
func TestDamageMetByWriters(t *testing.T) {
	for _, d := range damages[:13] {
		t.Run(d.name, func(t *testing.T) {
			s := filled(t)
			d.do(t, s)
			if err := s.SaveLook(sampleState(), Row{}, nil); !isDamage(err) {
				t.Errorf("SaveLook: %v", err)
			}
			if _, err := s.NextAttemptID(); !isDamage(err) {
				t.Errorf("NextAttemptID: %v", err)
			}
		})
	}
}

// Whatever page is overwritten, calls end well or with a DamageError.
func TestAnyPageOverwritten(t *testing.T) {
	s := filled(t)
	good, err := os.ReadFile(s.Path())
	check(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	fills := map[string]func(i int) byte{
		"zeros":  func(int) byte { return 0 },
		"ones":   func(int) byte { return 0xff },
		"random": func(int) byte { return byte(random.Uint32()) },
	}
	found := 0
	for page := 2; page < len(good)/boltPageSize; page++ {
		for name, fill := range fills {
			bad := bytes.Clone(good)
			for i := range boltPageSize {
				bad[page*boltPageSize+i] = fill(i)
			}
			write(t, s, bad)
			_, errLoad := s.Load()
			_, errRows := s.Rows(rowsMost)
			for call, err := range map[string]error{
				"Load": errLoad, "Rows": errRows,
				"SaveLook":    s.SaveLook(sampleState(), Row{}, &watchdog.Observation{}),
				"SaveAttempt": s.SaveAttempt(watchdog.Attempt{ID: 20}),
			} {
				if isDamage(err) {
					found++
				} else if err != nil {
					t.Errorf("page %d of %s, %s: %v", page, name, call, err)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d calls met damage", found)
	}
}

func TestGarbageRow(t *testing.T) {
	s := filled(t)
	putIn(bucketRows, string(numberKey(2)), "no row")(t, s)
	putIn(bucketFull, string(numberKey(2)), "no look")(t, s)
	if _, err := s.Rows(100); !isDamage(err) {
		t.Errorf("Rows: %v", err)
	}
	if _, err := s.Observation(2); !isDamage(err) {
		t.Errorf("Observation: %v", err)
	}
}

func TestDamageErrorSaysWhatToDo(t *testing.T) {
	err := &DamageError{Path: "/x/state.db", Cause: errors.New("the file is empty")}
	same(t, "text", "cannot use the state /x/state.db: it is damaged: the file is empty; the next tick sets it aside and disarms", err.Error())
	newer := &NewerError{Path: "/x/state.db", Version: 7}
	same(t, "text", fmt.Sprintf("cannot use the state /x/state.db: it has schema 7 and this watchdog knows only %d; install the later watchdog again", schemaVersion), newer.Error())
}

func write(t *testing.T, s *Store, content []byte) {
	t.Helper()
	check(t, os.WriteFile(s.Path(), content, fileMode))
}

func overwrite(t *testing.T, s *Store, offset int, content []byte) {
	t.Helper()
	all, err := os.ReadFile(s.Path())
	check(t, err)
	copy(all[offset:], content)
	write(t, s, all)
}

func halve(t *testing.T, s *Store) {
	info, err := os.Stat(s.Path())
	check(t, err)
	check(t, os.Truncate(s.Path(), info.Size()/2))
}

func putIn(b bucket, key, value string) func(*testing.T, *Store) {
	return func(t *testing.T, s *Store) {
		inside(t, s, func(tx *bbolt.Tx) error { return b.in(tx).Put([]byte(key), []byte(value)) })
	}
}

// someoneElses is a good bbolt file that is not ours.
func someoneElses(t *testing.T, s *Store) {
	check(t, os.Remove(s.Path()))
	db, err := bbolt.Open(s.Path(), fileMode, &bbolt.Options{PageSize: boltPageSize})
	check(t, err)
	check(t, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("songs")); return err }))
	check(t, db.Close())
}

// dropFreelist is what bbolt leaves with NoFreelistSync.
func dropFreelist(t *testing.T, s *Store) {
	db, err := bbolt.Open(s.Path(), fileMode, &bbolt.Options{NoFreelistSync: true})
	check(t, err)
	check(t, db.Update(func(tx *bbolt.Tx) error { return bucketRows.in(tx).SetSequence(99) }))
	check(t, db.Close())
}

// otherPageSize lets both meta pages, with good checksums, tell of larger pages.
func otherPageSize(t *testing.T, s *Store) {
	all, err := os.ReadFile(s.Path())
	check(t, err)
	for page := range metaPages {
		m := all[page*boltPageSize+metaAt:][:metaSize]
		binary.NativeEndian.PutUint32(m[8:], 8192)
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		binary.NativeEndian.PutUint64(m[56:], sum.Sum64())
	}
	write(t, s, all)
}

func TestSetAsideKeepsAPersonsWords(t *testing.T) {
	s := filled(t)
	check(t, WriteFlag(s.dir, watchdog.Flag{Who: "anna", Reason: "new switch", Until: noon.Add(time.Hour)}))
	for range 2 {
		_, err := s.SetAside(noon, "torn")
		check(t, err)
		flag := ReadFlag(s.dir)
		if !flag.Until.IsZero() {
			t.Error("the flag still ends by itself")
		}
		if !strings.HasPrefix(flag.Reason, "the database was damaged: torn") {
			t.Error(flag.Reason)
		}
		if want := `(before that disarmed by "anna": "new switch")`; !strings.Contains(flag.Reason, want) {
			t.Errorf("%s does not keep %s", flag.Reason, want)
		}
	}
}

// Two files set aside in one second are both kept.
func TestSetAsideKeepsEarlierFiles(t *testing.T) {
	s := filled(t)
	var paths []string
	for range 3 {
		to, err := s.SetAside(noon, "torn")
		check(t, err)
		paths = append(paths, filepath.Base(to))
	}
	same(t, "paths", []string{"state.db.corrupt-20260304T120000Z", "state.db.corrupt-20260304T120000Z-2", "state.db.corrupt-20260304T120000Z-3"}, paths)
	for _, p := range paths {
		if _, err := os.Stat(filepath.Join(s.dir, p)); err != nil {
			t.Error(err)
		}
	}
}

// The disk may lose the pages of an open file: touching its map is then a fault, not an error.
func TestFaultInTheMap(t *testing.T) {
	s := filled(t)
	err := s.with(true, func(db *bbolt.DB) error {
		check(t, os.Truncate(s.Path(), minimumBytes))
		return db.View(func(tx *bbolt.Tx) error { _, err := s.checkSchema(tx); return err })
	})
	if !isDamage(err) {
		t.Errorf("%v", err)
	}
}

// A commit cut off by a power loss leaves one torn meta page; the other one still tells all. Torn
// after a commit that was well it has lost a save, and that is damage.
func TestTornMetaPageB03(t *testing.T) {
	for page := range metaPages {
		s := filled(t)
		before, was := s.lastSave(), load(t, s)
		check(t, s.SaveReset(at(time.Hour)))
		last := s.lastSave()
		overwrite(t, s, page*boltPageSize+metaAt+40, bytes.Repeat([]byte{0xee}, 16)) // pages and transaction
		if page != last.Transaction%metaPages {
			same(t, "reset", at(time.Hour), load(t, s).Reset)
			check(t, s.SaveReset(at(0)))
			continue
		}
		if _, err := s.Load(); !isDamage(err) || !strings.Contains(err.Error(), "it is older than what was saved last") {
			t.Errorf("after a commit: %v", err)
		}
		check(t, os.WriteFile(s.savedPath(), []byte(fmt.Sprintf(`{"transaction":%d}`, before.Transaction)), fileMode))
		same(t, "after half a commit", was, load(t, s))
		check(t, s.SaveReset(at(0)))
	}
}
