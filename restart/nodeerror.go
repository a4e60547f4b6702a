package restart

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"cluster-watchdog/watchdog"
)

// NodeError is a failure on one node. A script that exits non-zero is one with ReachOK and its
// exit code; every other Reach is a failure of SSH and says nothing about the node's mounts or
// its Docker.
type NodeError struct {
	Node    string
	Script  string // empty: the node was not reached, so no script was at stake
	Reach   watchdog.Reach
	Unknown bool // the outcome is unknown: the script may have run, wholly or in part
	Exit    int
	Stderr  string // full
	Err     error  // nil for a script that exited non-zero

	onTheWay bool // a jump host failed, and has had its retry
}

// Error is short and ends in what to do next, where anything can be done.
func (e *NodeError) Error() string {
	if e.Script == "" && e.Reach != watchdog.ReachOK {
		return fmt.Sprintf("cannot reach %s by SSH: %v", e.Node, e.Err)
	}
	script := cmp.Or(e.Script, "a script")
	if e.Err == nil {
		return fmt.Sprintf("cannot run %s on %s: exit %d: %s", script, e.Node, e.Exit,
			cmp.Or(lastPrintableLine(e.Stderr), "it printed no reason"))
	}
	if e.Unknown {
		return fmt.Sprintf("cannot run %s on %s: %v: its outcome is unknown: look at the node before repeating it", script, e.Node, e.Err)
	}
	return fmt.Sprintf("cannot run %s on %s: %v", script, e.Node, e.Err)
}

// Reason is the script's own words where it had some: they name the thing and what to do next.
func (e *NodeError) Reason() string {
	if said := lastPrintableLine(e.Stderr); e.Exit != 0 && said != "" {
		return said
	}
	return e.Error()
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// ReachOf says how far we got; packages that may not import this one ask for it by its method.
func (e *NodeError) ReachOf() watchdog.Reach { return e.Reach }

// maxShownLine is how much of a foreign line stands in a message, in runes.
const maxShownLine = 200

// lastPrintableLine is the last line that holds anything: a script's own reason comes after what the
// login shell and other programs printed.
func lastPrintableLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if shown := printableLine(line); shown != "" && !strings.HasPrefix(shown, "Run 'docker ") && !strings.HasPrefix(shown, "See 'docker ") {
			last = shown // and not docker's advice, which follows its reason
		}
	}
	return last
}

// printableLine makes text that came from a node safe to keep and to show: one line, no control
// characters, no secrets.
func printableLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, text)
	text = string(redact([]byte(strings.TrimSpace(text))))
	if runes := []rune(text); len(runes) > maxShownLine {
		text = string(runes[:maxShownLine]) + "…"
	}
	return text
}
