package state

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cluster-watchdog/state/disktest"
	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// earlier is a folder as an earlier watchdog left it. testdata/schema-1.db was written by one.
func earlier(t testing.TB, dir string) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/schema-1.db")
	check(t, err)
	check(t, os.MkdirAll(dir, folderMode))
	check(t, os.WriteFile(filepath.Join(dir, fileName), content, fileMode))
	check(t, os.WriteFile(filepath.Join(dir, sidecarName), []byte(sidecarText), fileMode))
	return content
}

// An older database is read as it is, without a change, and the first save migrates it. Its file is
// kept as it was.
func TestOlderSchemaIsMigrated(t *testing.T) {
	dir := t.TempDir()
	was := earlier(t, dir)
	s, err := Open(dir, examined)
	check(t, err)
	before := folder(t, dir)
	want, told := load(t, s), history(t, s)
	same(t, "phase", watchdog.Serving, want.Phase)
	same(t, "attempts", 5, len(want.Attempts))
	same(t, "armed by", "anna", want.Arm.Who)
	same(t, "what reading left", before, folder(t, dir))

	check(t, s.SaveTold(nil))
	want.Told = nil
	same(t, "after the migration", want, load(t, s))
	same(t, "its history", told, history(t, s))
	check(t, s.SaveReset(at(2*time.Hour)))
	kept, err := os.ReadFile(s.CopyPath(1))
	check(t, err)
	same(t, "the kept file is as it was", true, bytes.Equal(was, kept))
	check(t, s.view(func(tx *bbolt.Tx) error {
		version, err := s.checkSchema(tx)
		same(t, "version", schemaVersion, version)
		return err
	}))
	check(t, os.Rename(s.CopyPath(1), s.Path()))
	check(t, s.unstamp())
	load(t, s) // the kept file is a database
}

// There is a migration to every schema, and a file of each earlier one in testdata.
func TestEverySchemaHasItsMigration(t *testing.T) {
	same(t, "migrations", schemaVersion-1, len(migrations()))
	for version := 1; version < schemaVersion; version++ {
		if _, err := os.Stat(fmt.Sprintf("testdata/schema-%d.db", version)); err != nil {
			t.Error(err)
		}
	}
}

// Whatever write of a migration fails, the database is the old one or the new one, and the next save
// goes on with it.
func TestMigrationOnAFailingDisk(t *testing.T) {
	d, root := failingDisk(t)
	n := 0
	next := func() string {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		earlier(t, dir)
		return dir
	}
	reference, err := Open(next(), examined)
	check(t, err)
	want := load(t, reference)
	_, err = d.Do(disktest.Fault{}, "reset", next())
	check(t, err)
	for _, f := range faults(d.Writes()) {
		dir := next()
		answer, err := d.Do(f, "reset", dir)
		check(t, err)
		s, err := Open(dir, examined)
		check(t, err)
		got := load(t, s)
		if answer != "" && !got.Reset.IsZero() && got.Reset != want.Reset && !got.Reset.Equal(at(0)) {
			t.Errorf("%s: neither before nor after: %+v", f, got.Reset)
		}
		got.Reset = want.Reset
		same(t, f.String(), want, got)
		check(t, s.SaveReset(at(0)))
		leftovers(t, f, dir)
	}
}

// Of a newer watchdog's folder nothing is touched, by whatever is called.
func TestNewerSchemaLeavesItsFolderAlone(t *testing.T) {
	for name, change := range map[string]func(*Store){
		"":                      func(*Store) {},
		"no sidecar":            func(s *Store) { check(t, os.Remove(filepath.Join(s.dir, sidecarName))) },
		"no last save":          func(s *Store) { check(t, s.unstamp()) },
		"an older one put back": func(s *Store) { check(t, os.WriteFile(s.savedPath(), []byte(`{"transaction":999}`), fileMode)) },
	} {
		s := filled(t)
		inside(t, s, func(tx *bbolt.Tx) error { return writeSchema(tx, schemaVersion+1) })
		change(s)
		before := folder(t, s.dir)
		other, err := Open(s.dir, examined)
		check(t, err)
		_, errLoad := other.Load()
		_, errRows := other.Rows(1)
		_, errDeeds := other.Deeds()
		_, errID := other.NextAttemptID()
		for call, err := range map[string]error{
			"Load": errLoad, "Rows": errRows, "Deeds": errDeeds, "NextAttemptID": errID,
			"SaveReset": other.SaveReset(at(0)), "SaveLook": other.SaveLook(watchdog.State{}, Row{}, nil), "SaveArm": other.SaveArm(&watchdog.Arm{}),
			"ClearArm": other.ClearArm(), "SaveAttempt": other.SaveAttempt(watchdog.Attempt{ID: 1}), "Record": other.Record(Deed{}), "SaveTold": other.SaveTold(nil),
		} {
			if newer, ok := err.(*NewerError); !ok || newer.Version != schemaVersion+1 {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		same(t, "the folder", before, folder(t, s.dir))
	}
}

// folder is every name with its content and when that changed.
func folder(t testing.TB, dir string) (all []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		check(t, err)
		info, err := d.Info()
		check(t, err)
		var content []byte
		if info.Mode().IsRegular() {
			content, err = os.ReadFile(path)
			check(t, err)
		}
		all = append(all, fmt.Sprintf("%s %s %s %x", path, info.Mode(), info.ModTime(), sumBytes(content)))
		return nil
	}))
	return all
}
