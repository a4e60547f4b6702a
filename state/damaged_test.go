package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/state/disktest"
	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

var everyPage = flag.Bool("every-page", false, "damage every page in every way: minutes")

// corpus is a database as life makes it, with what is known of it.
type corpus struct {
	dir        string
	good, old  []byte // the file, and the file of the save before
	saved      []byte
	state      watchdog.State
	history    string
	pages      int
	branches   []int
	randomness *rand.Rand
}

// lived has branch pages, overflow pages, free pages and an inline bucket or two.
func lived(t *testing.T, looks int) *corpus {
	t.Helper()
	u := openUnsynced(t, 50)
	seen := seenOf(8, at(0)) // larger than a page
	for m := range looks {
		now := at(time.Duration(m) * time.Minute)
		row := Row{At: now, Phase: "SERVING", Sentence: fmt.Sprint("phase=SERVING served: look ", m), Deeds: []Deed{{At: now, Kind: "phase", Text: fmt.Sprint(m)}}}
		var full *watchdog.Observation
		if m%20 == 0 {
			seen.At, full = now, seen
		}
		u.look(sampleState(), row, full)
	}
	for id := range 12 {
		u.attempt(id+1, at(time.Duration(id)*time.Hour))
	}
	s := u.close()
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 13, Why: strings.Repeat("rank 2 exited ", 900), Started: at(13 * time.Hour)}))
	check(t, s.SaveArm(&watchdog.Arm{Who: "anna", At: at(0), Identity: "i1"}))
	c := &corpus{dir: disktest.Folder(t), randomness: rand.New(rand.NewPCG(3, 4))}
	var err error
	c.old, err = os.ReadFile(s.Path())
	check(t, err)
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 14, Started: at(14 * time.Hour), Launching: at(14 * time.Hour)}))
	c.good, err = os.ReadFile(s.Path())
	check(t, err)
	c.saved, err = os.ReadFile(s.savedPath())
	check(t, err)
	c.state, c.history = load(t, s), history(t, s)
	c.measure(t)
	return c
}

func (c *corpus) measure(t *testing.T) {
	t.Helper()
	var head [minimumBytes]byte
	copy(head[:], c.good)
	newest, err := checkMeta(head, int64(len(c.good)))
	check(t, err)
	c.pages = int(newest.pages)
	const branch = 0x01
	for page := 2; page < c.pages; page++ {
		if p := c.good[page*boltPageSize:]; binary.NativeEndian.Uint64(p) == uint64(page) && binary.NativeEndian.Uint16(p[8:]) == branch {
			c.branches = append(c.branches, page)
		}
	}
	if len(c.branches) == 0 || c.pages < 40 {
		t.Fatalf("%d pages, of which %v are branches: too small a database", c.pages, c.branches)
	}
}

// history is all that is told and decides nothing; what cannot be read of it is damage.
func history(t *testing.T, s *Store) string {
	t.Helper()
	rows, errRows := s.Rows(rowsMost)
	days, errDays := s.Days(daysKept)
	deeds, errDeeds := s.Deeds()
	kept, errKept := s.Kept()
	all := []any{rows, days, deeds, kept}
	errs := []error{errRows, errDays, errDeeds, errKept}
	for _, number := range kept[:min(len(kept), 3)] {
		o, err := s.Observation(number)
		before, errBefore := s.Before(number)
		all, errs = append(all, o, before), append(errs, err, errBefore)
	}
	for _, err := range errs {
		if isDamage(err) {
			return ""
		}
		check(t, err)
	}
	text, err := encode(map[string]any{"all": all})
	check(t, err)
	return string(text)
}

// some are pages from from on: all of them, or so many that a usual run ends soon.
func (c *corpus) some(from int) (pages []int) {
	step := 1
	if !*everyPage {
		step = max(1, (c.pages-from)/9)
	}
	for page := from; page < c.pages; page += step {
		pages = append(pages, page)
	}
	return pages
}

type oneDamage struct {
	name string
	file []byte
	told bool // the history may be wrong: it carries no checksum, and decides nothing
}

// all damages.
func (c *corpus) all() (all []oneDamage) {
	add := func(name string, told bool, change func(file []byte) []byte) {
		if file := change(bytes.Clone(c.good)); !bytes.Equal(file, c.good) {
			all = append(all, oneDamage{name, file, told})
		}
	}
	page := func(file []byte, n int) []byte { return file[n*boltPageSize:][:boltPageSize] }
	order := binary.NativeEndian
	for _, n := range c.some(0) {
		add(fmt.Sprint("cut off at page ", n), false, func(f []byte) []byte { return f[:n*boltPageSize] })
		add(fmt.Sprint("cut off in page ", n), false, func(f []byte) []byte { return f[:n*boltPageSize+1000] })
	}
	for _, n := range c.some(2) {
		other := 2 + c.randomness.IntN(c.pages-2)
		content := order.Uint64(page(c.good, n)) != uint64(n) // of a value that is larger than a page
		add(fmt.Sprint("zeros in page ", n), content, func(f []byte) []byte { clear(page(f, n)); return f })
		add(fmt.Sprint("zeros from page ", n), false, func(f []byte) []byte { clear(f[n*boltPageSize:]); return f })
		add(fmt.Sprintf("page %d is page %d", n, other), content, func(f []byte) []byte { copy(page(f, n), page(f, other)); return f })
		add(fmt.Sprintf("page %d is page %d under its own id", n, other), true, func(f []byte) []byte {
			copy(page(f, n)[8:], page(f, other)[8:])
			return f
		})
		add(fmt.Sprint("another id in page ", n), content, func(f []byte) []byte { order.PutUint64(page(f, n), uint64(other)); return f })
		add(fmt.Sprint("other flags in page ", n), content, func(f []byte) []byte { f[n*boltPageSize+8] ^= 0x13; return f })
		add(fmt.Sprint("many elements in page ", n), content, func(f []byte) []byte { order.PutUint16(page(f, n)[10:], 0xffff); return f })
		add(fmt.Sprint("overflow of page ", n), content, func(f []byte) []byte { order.PutUint32(page(f, n)[12:], 1<<30); return f })
	}
	for n := range min(len(c.old), len(c.good))/boltPageSize - 2 {
		if n += 2; !bytes.Equal(page(c.old, n), page(c.good, n)) {
			add(fmt.Sprint("stale page ", n), true, func(f []byte) []byte { copy(page(f, n), page(c.old, n)); return f })
		}
	}
	for _, n := range c.branches {
		for _, to := range append([]int{n}, c.branches...) {
			add(fmt.Sprintf("page %d leads to page %d", n, to), false, func(f []byte) []byte {
				for e := range int(order.Uint16(page(f, n)[10:])) {
					order.PutUint64(page(f, n)[16+16*e+8:], uint64(to))
				}
				return f
			})
		}
	}
	flips := 40
	if *everyPage {
		flips = 4000
	}
	for seed := range flips {
		add(fmt.Sprint("flip ", seed), true, func(f []byte) []byte {
			random := rand.New(rand.NewPCG(uint64(seed), 0))
			for range 1 + seed%3 {
				bit := random.IntN(c.pages * boltPageSize * 8)
				f[bit/8] ^= 1 << (bit % 8)
			}
			return f
		})
	}
	return all
}

// However a file is damaged: what decides is exactly what was saved, or it is damage; nothing panics
// or hangs; what is set aside is kept byte by byte, and disarmed. A row is played once more by its
// name: go test ./state -every-page -run 'TestDamagedFilesB03/flip_17$'.
func TestDamagedFilesB03(t *testing.T) {
	c := lived(t, 150)
	damaged := 0
	all := c.all()
	for i, d := range all {
		t.Run(d.name, func(t *testing.T) {
			defer time.AfterFunc(2*time.Minute, func() { panic(d.name + " hangs") }).Stop()
			if c.judge(t, d, filepath.Join(c.dir, fmt.Sprint(i))) {
				damaged++
			}
		})
	}
	t.Logf("%d of %d files are damage, the others hit what is free or only told", damaged, len(all))
}

// judge says whether it was damage.
func (c *corpus) judge(t *testing.T, d oneDamage, dir string) bool {
	s, err := Open(dir, examined)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, sidecarName), nil, fileMode))
	check(t, os.WriteFile(s.savedPath(), c.saved, fileMode))
	write(t, s, d.file)
	defer os.RemoveAll(dir)
	got, err := s.Load()
	if err == nil {
		same(t, "state", c.state, got)
		if told := history(t, s); told != "" && told != c.history && !d.told {
			t.Error("the history is another one, and nobody says so")
		}
		err = s.SaveReset(at(time.Hour))
	}
	if err == nil {
		want := c.state
		want.Reset = at(time.Hour)
		same(t, "state after a save", want, load(t, s))
		return false
	}
	if !isDamage(err) {
		t.Fatal(err)
	}
	recovers(t, s, d.file)
	return true
}

// bbolt alone would never come back from a cycle: the examiner does, and says why.
func TestCycleB03(t *testing.T) {
	c := lived(t, 150)
	s := open(t)
	found := 0
	for _, n := range c.branches { // some of them are free
		file := bytes.Clone(c.good)
		binary.NativeEndian.PutUint64(file[n*boltPageSize+16+8:], uint64(n))
		write(t, s, file)
		err := examined(s.Path())
		if isDamage(err) && strings.Contains(err.Error(), "its pages contradict each other") {
			found++
		} else if err != nil {
			t.Errorf("page %d: %v", n, err)
		}
	}
	if found < 2 {
		t.Errorf("%d cycles were found", found)
	}
}

// What decides is sealed: a digit that became another one is seen, though bbolt and JSON take it.
func TestSealB03(t *testing.T) {
	for name, change := range map[string]func(tx *bbolt.Tx) error{
		"a value": func(tx *bbolt.Tx) error {
			text := bytes.Replace(bucketAttempts.in(tx).Get(numberKey(3)), []byte("exited"), []byte("existed"), 1)
			return bucketAttempts.in(tx).Put(numberKey(3), text)
		},
		"a value is gone":    func(tx *bbolt.Tx) error { return bucketAttempts.in(tx).Delete(numberKey(12)) },
		"the arm is another": func(tx *bbolt.Tx) error { return bucketCurrent.in(tx).Put([]byte(keyArm), []byte(`{"who":"eve"}`)) },
		"the seal is gone":   func(tx *bbolt.Tx) error { return bucketCurrent.in(tx).Delete([]byte(keySeal)) },
		"only a transaction": func(tx *bbolt.Tx) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			db, err := bbolt.Open(s.Path(), fileMode, nil)
			check(t, err)
			check(t, db.Update(change))
			check(t, db.Close())
			if _, err := s.Load(); !isDamage(err) {
				t.Errorf("Load: %v", err)
			}
			if err := s.SaveReset(at(0)); !isDamage(err) {
				t.Errorf("SaveReset: %v", err)
			}
		})
	}
}

func watchdogAttempt(id int) watchdog.Attempt { return watchdog.Attempt{ID: id, Started: at(0)} }

func sumBytes(b []byte) [sha256.Size]byte { return sha256.Sum256(b) }
