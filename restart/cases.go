package restart

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"time"
)

// Cases says how much preserved evidence is kept. The newest incidents stay; a zero bounds nothing.
type Cases struct {
	Folder    string
	Incidents int   // folders
	Bytes     int64 // in all of them
}

// caseFolder is the name of an incident's folder; nothing else in the evidence is ours to delete.
var caseFolder = regexp.MustCompile(`^incident-[0-9]+$`)

// CaseName is the name of the folder in Settings.Evidence where the evidence of an incident lies.
func CaseName(incident int) string { return fmt.Sprintf("incident-%d", incident) }

// Forget deletes the folders of the oldest incidents beyond what is kept, and returns their names.
// The folder of the given incident stays whatever its age and size. No link is followed, and what
// is no folder of an incident is left alone. On an error it goes on with the next.
func (c Cases) Forget(present int) (gone []string, err error) {
	root, err := os.OpenRoot(c.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no evidence yet
	}
	if err != nil {
		return nil, fmt.Errorf("cannot tidy the preserved logs: %w", err)
	}
	defer root.Close()
	all, err := listCases(root, CaseName(present))
	if err != nil {
		return nil, fmt.Errorf("cannot tidy the preserved logs in %s: %w", c.Folder, err)
	}
	var problems []error
	total := int64(0)
	for i, one := range all {
		total += one.bytes
		fits := (c.Incidents <= 0 || i < c.Incidents) && (c.Bytes <= 0 || total <= c.Bytes)
		if fits || one.name == CaseName(present) {
			continue
		}
		if err := root.RemoveAll(one.name); err != nil {
			problems = append(problems, fmt.Errorf("cannot delete the old logs %s/%s: %w; delete them by hand", c.Folder, one.name, err))
			continue
		}
		gone = append(gone, one.name)
	}
	return gone, errors.Join(problems...)
}

// oneCase is the folder of one incident.
type oneCase struct {
	name  string
	at    time.Time // when evidence was last added
	bytes int64
}

// listCases returns the folders of incidents, the present one first, then the newest. Their numbers
// tell no order: they begin again when a damaged state is set aside.
func listCases(root *os.Root, present string) ([]oneCase, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var all []oneCase
	for _, e := range entries {
		if !e.IsDir() || !caseFolder.MatchString(e.Name()) {
			continue
		}
		one, err := measure(root, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b oneCase) int {
		if (a.name == present) != (b.name == present) {
			return map[bool]int{true: -1, false: 1}[a.name == present]
		}
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.name, a.name))
	})
	return all, nil
}

func measure(root *os.Root, name string) (oneCase, error) {
	one := oneCase{name: name}
	err := fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info() // of a link itself
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if path == name {
			one.at = info.ModTime()
		} else {
			one.bytes += info.Size()
		}
		return nil
	})
	return one, err
}
