package fakenode

import (
	"bytes"
	"fmt"
	"strings"
)

// df runs the machine's own df; on a full disk it shows nothing available.
func df(w *world) int {
	if code, stuck := w.onBadMount(); stuck {
		return code
	}
	if !w.has(DiskFull) {
		return w.real(w.args...)
	}
	var b bytes.Buffer
	code, err := w.realTo(&b, w.args...)
	if err != nil {
		return w.broken(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	column := -1
	for i, name := range strings.Fields(lines[0]) {
		if name == "Available" || name == "Avail" {
			column = i
		}
	}
	if column < 0 {
		return w.unknown(strings.Join(w.args, " ") + " (shows nothing that could be full)")
	}
	fmt.Fprintln(w.stdout, lines[0])
	for _, line := range lines[1:] {
		f := strings.Fields(line)
		if column < len(f) {
			f[column] = "0"
		}
		fmt.Fprintln(w.stdout, strings.Join(f, " "))
	}
	return code
}
