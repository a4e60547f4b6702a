package restart

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// evidence makes folders of incidents with a file of so many bytes, the first the oldest.
func evidence(t *testing.T, bytes int, names ...string) Cases {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		folder := filepath.Join(dir, name)
		must(t, os.Mkdir(folder, 0o700))
		must(t, os.WriteFile(filepath.Join(folder, "rank0-n1-aa.logs.gz"), make([]byte, bytes), 0o600))
		at := time.Date(2026, 3, 1, 12, i, 0, 0, time.UTC)
		must(t, os.Chtimes(folder, at, at))
	}
	return Cases{Folder: dir}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (c Cases) left(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(c.Folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestOldCasesGo(t *testing.T) {
	names := []string{"incident-1", "incident-2", "incident-3", "incident-4"}
	for _, row := range []struct {
		name      string
		incidents int
		bytes     int64
		present   int
		left      []string
	}{
		{"the newest stay", 2, 0, 4, names[2:]},
		{"nothing is bounded", 0, 0, 4, names},
		{"all fit", 4, 4000, 4, names},
		{"bytes count", 9, 2999, 4, names[2:]},
		{"one alone is too large", 9, 999, 4, names[3:]},
		{"the present one stays, however old", 2, 0, 1, []string{names[0], names[3]}},
		{"and however large", 9, 999, 1, names[:1]},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := evidence(t, 1000, names...)
			c.Incidents, c.Bytes = row.incidents, row.bytes
			gone, err := c.Forget(row.present)
			must(t, err)
			if left := c.left(t); !slices.Equal(left, row.left) || len(gone) != len(names)-len(left) {
				t.Errorf("left %q, gone %q, want left %q", left, gone, row.left)
			}
		})
	}
}

// After a state was set aside numbers begin again: the newest is the one written to last.
func TestAgeOfACaseIsNoNumber(t *testing.T) {
	c := evidence(t, 1, "incident-7", "incident-8", "incident-1")
	c.Incidents = 2
	if gone, err := c.Forget(1); err != nil || !slices.Equal(gone, []string{"incident-7"}) {
		t.Errorf("gone %q, %v", gone, err)
	}
}

// What is not ours stays, and no link leads outside.
func TestForgettingCasesFollowsNoLink(t *testing.T) {
	outside := evidence(t, 10, "incident-1")
	c := evidence(t, 10, "incident-1", "incident-2", "incident-3", "mine", "incident-x")
	c.Incidents = 1
	must(t, os.WriteFile(filepath.Join(c.Folder, "incident-9"), []byte("a file"), 0o600))
	must(t, os.Symlink(outside.Folder, filepath.Join(c.Folder, "incident-8")))
	must(t, os.Symlink(outside.Folder, filepath.Join(c.Folder, "incident-1", "link")))
	gone, err := c.Forget(3)
	must(t, err)
	slices.Sort(gone)
	if want := []string{"incident-1", "incident-2"}; !slices.Equal(gone, want) {
		t.Errorf("gone %q, want %q", gone, want)
	}
	if want := []string{"incident-3", "incident-8", "incident-9", "incident-x", "mine"}; !slices.Equal(c.left(t), want) {
		t.Errorf("left %q, want %q", c.left(t), want)
	}
	if _, err := os.Stat(filepath.Join(outside.Folder, "incident-1", "rank0-n1-aa.logs.gz")); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestNoCasesYet(t *testing.T) {
	if gone, err := (Cases{Folder: filepath.Join(t.TempDir(), "cases"), Incidents: 1}).Forget(1); err != nil || len(gone) > 0 {
		t.Errorf("gone %q, %v", gone, err)
	}
}
