package restart

import (
	"errors"
	"slices"

	"cluster-watchdog/watchdog"
)

// Clearance is the proof that all checks passed a moment ago. Only Check makes one, and nothing is
// destroyed without one. It works once.
type Clearance struct {
	at  watchdog.Clock
	ids []string
	ok  bool // false in a zero or a spent one
}

// spend uses the clearance up and returns the container ids it allows to destroy.
func (c *Clearance) spend(now watchdog.Clock, flag watchdog.Flag) ([]string, error) {
	if c == nil || !c.ok {
		return nil, errors.New("cannot use clearance: it is none, or spent")
	}
	c.ok = false
	if now.BootID != c.at.BootID || now.Since(c.at) > ClearanceLife {
		return nil, errors.New("cannot use clearance: it is older than 60 s")
	}
	if thrown(flag) {
		return nil, errSwitch
	}
	return slices.Clone(c.ids), nil
}

// errSwitch ends a run between two steps: the switch was thrown.
var errSwitch = errors.New("the switch was thrown")

// thrown says whether the disarmed flag stands. An action is decided only where it did not, so any
// flag that stands now was put there since – also one that appeared before the runner began.
func thrown(f watchdog.Flag) bool { return f.Present || f.Err != "" }
