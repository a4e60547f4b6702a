package fakenode

import (
	"fmt"
	"slices"
	"strings"
)

// dropCaches is the one line that the node's user may run as root.
var dropCaches = []string{"/usr/bin/tee", "/proc/sys/vm/drop_caches"}

// sudo plays that one line and the question whether it is allowed. It notes what would have been
// written; nothing of the machine is touched.
func sudo(w *world) int {
	list := slices.Equal(w.args, append([]string{"-n", "-l"}, dropCaches...))
	drop := slices.Equal(w.args, append([]string{"-n"}, dropCaches...))
	switch {
	case !list && !drop:
		return w.unknown(strings.Join(w.args, " "))
	case w.has(NoSudo):
		fmt.Fprintln(w.stderr, "sudo: a password is required")
		return 1
	case list:
		fmt.Fprintln(w.stdout, strings.Join(dropCaches, " "))
		return 0
	}
	written := strings.TrimSpace(w.readAll())
	if written == "" {
		return 0 // tee opened the file and wrote nothing
	}
	if written != "1" && written != "2" && written != "3" {
		fmt.Fprintln(w.stdout, written)
		fmt.Fprintln(w.stderr, "/usr/bin/tee: /proc/sys/vm/drop_caches: Invalid argument")
		return 1
	}
	if err := w.node.Note(fileDrops, written); err != nil {
		return w.broken(err)
	}
	fmt.Fprintln(w.stdout, written)
	return 0
}

// Drops returns when the node's page cache was dropped.
func (n Node) Drops() []Line { return n.Noted(fileDrops) }

// Calls returns the labels of the programs called and of whatever else was noted as a call.
func (n Node) Calls() []Line { return n.Noted(fileCalls) }

// NoteCall adds a call that was not one of the programs'.
func (n Node) NoteCall(label string) error { return n.Note(fileCalls, label) }

// Unknown returns what programs of this node refused as unknown.
func (n Node) Unknown() []Line { return n.Noted(fileUnknown) }

// NoteUnknown adds something that nobody here knows.
func (n Node) NoteUnknown(what string) error { return n.Note(fileUnknown, what) }
