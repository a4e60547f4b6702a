package fakenode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Mount is one line of the node's mount table.
type Mount struct{ Target, Source, Type, Options string }

// SetMounts writes the node's mount table.
func (n Node) SetMounts(mounts ...Mount) error {
	var b strings.Builder
	for _, m := range mounts {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", m.Target, m.Source, m.Type, m.Options)
	}
	return replace(n.Run(fileMounts), []byte(b.String()))
}

func (w *world) mounts() ([]Mount, error) {
	b, err := os.ReadFile(w.node.Run(fileMounts))
	if err != nil {
		return nil, err
	}
	var mounts []Mount
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("bad line in the mount table: %q", line)
		}
		if w.has(MountAbsent) && f[0] != "/" {
			continue
		}
		mounts = append(mounts, Mount{f[0], f[1], f[2], f[3]})
	}
	return mounts, nil
}

// holding returns the mount that holds the path.
func holding(mounts []Mount, path string) (Mount, bool) {
	var found Mount
	path = filepath.Clean(path)
	for _, m := range mounts {
		inside := m.Target == "/" || path == m.Target || strings.HasPrefix(path, m.Target+"/")
		if inside && len(m.Target) > len(found.Target) {
			found = m
		}
	}
	return found, found.Target != ""
}

var findmntColumns = map[string]func(Mount) string{
	"TARGET":  func(m Mount) string { return m.Target },
	"SOURCE":  func(m Mount) string { return m.Source },
	"FSTYPE":  func(m Mount) string { return m.Type },
	"OPTIONS": func(m Mount) string { return m.Options },
	"FSROOT":  func(Mount) string { return "/" },
}

func findmnt(w *world) int {
	p, ok := w.options(flags{
		values: spell("--output,-o", "--target,-T", "--mountpoint,-M", "--types,-t"),
		bools:  spell("--noheadings,-n", "--raw,-r", "--first-only,-f", "--kernel,-k", "--list,-l"),
	}, w.args)
	if !ok || len(p.words) > 1 {
		return w.unknown(strings.Join(w.args, " "))
	}
	columns := []string{"TARGET", "SOURCE", "FSTYPE", "OPTIONS"}
	if p.has("--output") {
		columns = strings.Split(strings.ToUpper(p.last("--output")), ",")
	}
	for _, c := range columns {
		if findmntColumns[c] == nil {
			return w.unknown(strings.Join(w.args, " "))
		}
	}
	mounts, err := w.mounts()
	if err != nil {
		return w.broken(err)
	}
	return w.showMounts(p, columns, w.chosen(p, mounts))
}

// chosen applies the ways of naming a mount.
func (w *world) chosen(p parsed, mounts []Mount) []Mount {
	exact := p.last("--mountpoint")
	if exact == "" && len(p.words) == 1 {
		exact = p.words[0]
	}
	if inside := p.last("--target"); inside != "" {
		if m, ok := holding(mounts, inside); ok {
			if w.has(MountHangs) && m.Target != "/" {
				w.hangHard() // it looks at the path itself
			}
			return []Mount{m}
		}
		return nil
	}
	return slices.DeleteFunc(slices.Clone(mounts), func(m Mount) bool {
		return exact != "" && m.Target != filepath.Clean(exact)
	})
}

func (w *world) showMounts(p parsed, columns []string, mounts []Mount) int {
	if types := p.last("--types"); types != "" {
		allowed := strings.Split(types, ",")
		mounts = slices.DeleteFunc(mounts, func(m Mount) bool { return !slices.Contains(allowed, m.Type) })
	}
	if len(mounts) == 0 {
		return 1 // findmnt finds nothing silently
	}
	if !p.has("--noheadings") {
		fmt.Fprintln(w.stdout, strings.Join(columns, " "))
	}
	for _, m := range mounts {
		var row []string
		for _, c := range columns {
			row = append(row, findmntColumns[c](m))
		}
		fmt.Fprintln(w.stdout, strings.Join(row, " "))
	}
	return 0
}
