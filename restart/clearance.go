package restart

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"cluster-watchdog/scripts"
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
	if olderThan(ClearanceLife, c.at, now) {
		return nil, errStale
	}
	if thrown(flag) {
		return nil, errSwitch
	}
	return slices.Clone(c.ids), nil
}

// errStale ends a run before anything is destroyed: what its checks have said was too long ago.
var errStale = fmt.Errorf("cannot use clearance: it is older than %s: this machine was suspended, or its disk was slow; the next try checks anew", ClearanceLife)

// errUnfit ends a run before anything is launched: that the nodes are fit was found too long ago.
var errUnfit = fmt.Errorf("cannot launch: the nodes were found fit more than %s ago: this machine was suspended meanwhile; the next try checks anew", LaunchLife)

// stale says why a step must not be the first that destroys or that launches; nil where it may. It is asked
// last: a save may have waited for its disk, or through a night.
func (t *try) stale(s Step) error {
	switch now := t.world.Clock(); {
	case s.Class() == scripts.Destroy && !t.began && olderThan(ClearanceLife, t.cleared, now):
		return errStale
	case s.Class() == scripts.Launch && len(t.o.Attempt.Launched) == 0 && olderThan(LaunchLife, t.cleared, now):
		return errUnfit
	default:
		return nil
	}
}

// olderThan says whether a reading was longer ago than that, or in another boot. Deadlines stand still
// while the machine is suspended, this does not.
func olderThan(life time.Duration, then, now watchdog.Clock) bool {
	return now.BootID != then.BootID || now.Since(then) > life
}

// sinceSuspended returns what is wrong with checks that began then: part of them may have been asked before
// a suspension and part after; nil where nothing is.
func (r *Runner) sinceSuspended(began watchdog.Clock) []Failure {
	now := r.world.Clock()
	if !olderThan(ClearanceLife, began, now) {
		return nil
	}
	return []Failure{{Step: stageChecks, Rank: -1, Node: "the head", Err: fmt.Errorf("they took %s: this machine was suspended meanwhile; the next try checks anew", now.Since(began).Round(time.Second))}}
}

// errSwitch ends a run between two steps: the switch was thrown.
var errSwitch = errors.New("the switch was thrown")

// thrown says whether the disarmed flag stands. An action is decided only where it did not, so any
// flag that stands now was put there since – also one that appeared before the runner began.
func thrown(f watchdog.Flag) bool { return f.Present || f.Err != "" }
