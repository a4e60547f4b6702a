package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cluster-watchdog/state/disktest"
	"cluster-watchdog/watchdog"
)

// diskWrites are the things that write, one by one. What each needs to be there before is made by
// prepare, in this process, whose disk is well.
var diskWrites = []struct {
	name    string
	prepare func(t *testing.T, dir string)
	do      func(dir string) error
}{
	{"first save", func(*testing.T, string) {}, saveOneLook},
	{"look", someState, saveOneLook},
	{"attempt", someState, onStore(func(s *Store) error {
		return s.SaveAttempt(watchdog.Attempt{ID: 3, Started: at(0), Committed: at(0), Destroy: []string{"aa"}})
	})},
	{"arm", someState, onStore(func(s *Store) error { return s.SaveArm(&watchdog.Arm{Who: "bert", At: at(0), Identity: "i2"}) })},
	{"disarm", someState, onStore(func(s *Store) error { return s.ClearArm() })},
	{"reset", someState, onStore(func(s *Store) error { return s.SaveReset(at(0)) })},
	{"last good", someState, onStore(func(s *Store) error { return s.SaveLastGood(&watchdog.LastGood{Identity: "i2"}) })},
	{"told", someState, onStore(func(s *Store) error { return s.SaveTold([]string{"blind"}) })},
	{"flag", someState, writeSomeFlag},
	{"flag over a flag", func(t *testing.T, dir string) {
		someState(t, dir)
		check(t, WriteFlag(dir, watchdog.Flag{Present: true, Who: "carl", Reason: "before"}))
	}, writeSomeFlag},
	{"flag away", func(t *testing.T, dir string) {
		someState(t, dir)
		check(t, writeSomeFlag(dir))
	}, RemoveFlag},
	{"flag ended", func(t *testing.T, dir string) {
		someState(t, dir)
		check(t, writeSomeFlag(dir))
	}, func(dir string) error { _, err := EndFlag(dir, ReadFlag(dir)); return err }},
}

func someState(t *testing.T, dir string) {
	s, err := Open(dir, examined)
	check(t, err)
	o := sampleLook(0)
	check(t, s.SaveLook(sampleState(), Row{At: at(0)}, &o))
	for id := range 2 {
		check(t, s.SaveAttempt(watchdog.Attempt{ID: id + 1, Started: at(0), Launching: at(0)}))
	}
	check(t, s.SaveArm(&watchdog.Arm{Who: "anna", At: at(0), Identity: "i1"}))
}

func onStore(do func(*Store) error) func(string) error {
	return func(dir string) error {
		s, err := Open(dir, examined)
		if err != nil {
			return err
		}
		return do(s)
	}
}

func saveOneLook(dir string) error {
	return onStore(func(s *Store) error {
		next := sampleState()
		next.Phase, next.Incidents = watchdog.GivenUp, 1
		o := sampleLook(60e9)
		return s.SaveLook(next, Row{At: o.At, Sentence: "gave up"}, &o)
	})(dir)
}

func writeSomeFlag(dir string) error {
	return WriteFlag(dir, watchdog.Flag{Present: true, Who: "anna", When: noon, Reason: "new model"})
}

func setAsideHere(dir string) error {
	return onStore(func(s *Store) error { _, err := s.SetAside(noon, "the test says so"); return err })(dir)
}

func lockHere(dir string) error {
	lock, err := Acquire(context.Background(), dir, "tick", clock)
	if err != nil {
		return err
	}
	return lock.Release()
}

// playDisk does in a judged process what the parent asks for; the answer is the error.
func playDisk(string) error {
	if err := disktest.Submit(); err != nil {
		return err
	}
	return disktest.Serve(func(words []string) string {
		do := map[string]func(string) error{"set aside": setAsideHere, "lock": lockHere}
		for _, w := range diskWrites {
			do[w.name] = w.do
		}
		if err := do[words[0]](words[1]); err != nil {
			return err.Error()
		}
		return ""
	})
}

// failingDisk starts the process of playDisk.
func failingDisk(t *testing.T) (d *disktest.Disk, root string) {
	t.Helper()
	root = disktest.Folder(t)
	d, err := disktest.Start(command("disk", ""), root)
	if errors.Is(err, disktest.ErrNotHere) {
		t.Skip(err)
	}
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d, root
}

// errnos are the ways of a disk to fail, with what a person is told to do.
var errnos = map[syscall.Errno]string{
	syscall.ENOSPC: "free some disk space",
	syscall.EIO:    "look at the disk",
	syscall.EROFS:  "mounted read-only",
}

// faults are all ways in which these writes can fail.
func faults(writes []string) (all []disktest.Fault) {
	for _, w := range writes {
		for errno := range errnos {
			for _, stays := range []bool{false, true} {
				all = append(all, disktest.Fault{Write: w, Errno: errno, Stays: stays})
			}
		}
	}
	slices.SortFunc(all, func(a, b disktest.Fault) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// everything is what a folder holds, for a comparison.
func everything(t *testing.T, dir string) string {
	t.Helper()
	s, err := Open(dir, examined)
	check(t, err)
	rows, err := s.Rows(9)
	check(t, err)
	days, err := s.Days(9)
	check(t, err)
	st := load(t, s)
	text, err := json.MarshalIndent([]any{st, st.Attempts, st.Arm, st.Reset, st.LastGood, rows, days, ReadFlag(dir)}, "", " ")
	check(t, err)
	return string(text)
}

// Every write of everything that is saved fails once in each way, and stays so. What is on the disk
// is then what was there before or what was to be saved, never a mix; the error says what to do; and
// with the disk mended it goes on.
func TestAnyWriteFailsB06(t *testing.T) {
	d, root := failingDisk(t)
	for _, w := range diskWrites {
		t.Run(w.name, func(t *testing.T) {
			n := 0
			folder := func() string {
				n++
				dir := filepath.Join(root, fmt.Sprint(strings.ReplaceAll(w.name, " ", "-"), n))
				w.prepare(t, dir)
				return dir
			}
			dir := folder()
			check(t, os.MkdirAll(dir, 0o700))
			before := everything(t, dir)
			answer, err := d.Do(disktest.Fault{}, w.name, dir)
			check(t, err)
			same(t, "on a disk that is well", "", answer)
			after := everything(t, dir)
			writes := d.Writes()
			if len(writes) < 1 {
				t.Fatal("nothing was written")
			}
			for _, f := range faults(writes) {
				dir := folder()
				answer, err := d.Do(f, w.name, dir)
				check(t, err)
				if d.Failed() {
					judgeAnswer(t, f, answer, before, after, everything(t, dir))
				}
				check(t, w.do(dir)) // on the mended disk
				if !strings.HasPrefix(w.name, "flag") {
					leftovers(t, f, dir)
				}
			}
		})
	}
}

func judgeAnswer(t *testing.T, f disktest.Fault, answer, before, after, now string) {
	t.Helper()
	switch {
	case answer == "" && now == after && !strings.Contains(f.Write, " sync "): // nobody needs to know
	case answer == "":
		t.Errorf("%s: no error, but not surely saved", f)
	case now != before && now != after && !strings.Contains(answer, "disarms nevertheless"):
		t.Errorf("%s: a mix is on the disk: %s", f, now)
	case !strings.HasPrefix(answer, "cannot ") || !strings.Contains(answer, errnos[f.Errno]):
		t.Errorf("%s: the error does not say what to do: %s", f, answer)
	}
}

// leftovers: no temporary file stays behind, unless deleting was what failed.
func leftovers(t *testing.T, f disktest.Fault, dir string) {
	t.Helper()
	if f.Stays || strings.Contains(f.Write, "unlink") {
		return
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s: %s is left behind", f, e.Name())
		}
	}
}

// A damaged database is never out of sight without the flag, whatever write fails.
func TestSettingAsideOnAFailingDisk(t *testing.T) {
	d, root := failingDisk(t)
	n := 0
	folder := func() string {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		someState(t, dir)
		check(t, os.Truncate(filepath.Join(dir, fileName), 5000))
		return dir
	}
	answer, err := d.Do(disktest.Fault{}, "set aside", folder())
	check(t, err)
	same(t, "on a disk that is well", "", answer)
	for _, f := range faults(d.Writes()) {
		dir := folder()
		answer, err := d.Do(f, "set aside", dir)
		check(t, err)
		s, err := Open(dir, examined)
		check(t, err)
		_, errLoad := s.Load()
		if !isDamage(errLoad) && !ReadFlag(dir).Present {
			t.Errorf("%s: no damage is seen any more (%v) and nothing disarms", f, errLoad)
		}
		kept, _ := filepath.Glob(s.Path() + "*")
		if !slices.ContainsFunc(kept, func(path string) bool { info, err := os.Stat(path); return err == nil && info.Size() == 5000 }) {
			t.Errorf("%s: the damaged file is gone", f)
		}
		if isDamage(errLoad) && answer == "" {
			t.Errorf("%s: answered %q, and then %v", f, answer, errLoad)
		}
		if isDamage(errLoad) {
			check(t, setAsideHere(dir)) // by the next tick
		}
		same(t, "a new state", watchdog.State{}, load(t, s))
	}
}

// That nobody can be named as the holder is no reason not to lock.
func TestLockingOnAFailingDisk(t *testing.T) {
	d, root := failingDisk(t)
	_, err := d.Do(disktest.Fault{}, "lock", filepath.Join(root, "0"))
	check(t, err)
	for i, f := range faults(d.Writes()) {
		dir := filepath.Join(root, fmt.Sprint(i+1))
		answer, err := d.Do(f, "lock", dir)
		check(t, err)
		needed := strings.HasPrefix(f.Write, ". mkdir") || f.Write == "lock open 1"
		if d.Failed() && needed != (answer != "") {
			t.Errorf("%s: %q", f, answer)
		}
		if answer != "" && !strings.Contains(answer, errnos[f.Errno]) {
			t.Errorf("%s: the error does not say what to do: %s", f, answer)
		}
		check(t, lockHere(dir))
	}
}

// A look costs two syncs, one for its pages and one for the page that makes them count, however
// much it adds to totals and forgets.
func TestALookCostsTwoSyncs(t *testing.T) {
	d, root := failingDisk(t)
	dir := filepath.Join(root, "0")
	someState(t, dir)
	_, err := d.Do(disktest.Fault{}, "look", dir)
	check(t, err)
	var syncs []string
	for _, w := range d.Writes() {
		if strings.Contains(w, " sync ") {
			syncs = append(syncs, w)
		}
	}
	same(t, "syncs", []string{"state.db sync 1", "state.db sync 2"}, syncs)
}
