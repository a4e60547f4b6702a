//go:build lab

package accept

import (
	"fmt"
	"testing"
	"time"
)

// moment is when a fault strikes, seen from a restart that another rank's death has made necessary.
type moment string

const (
	beforeDecision moment = "before the decision"
	duringChecks   moment = "during the checks"
	afterCommit    moment = "after the commit"
	duringLaunch   moment = "during launch"
	duringBoot     moment = "during boot"
)

var everyMoment = []moment{beforeDecision, duringChecks, afterCommit, duringLaunch, duringBoot}

// other is the rank whose death makes the restart necessary; the fault strikes on another node.
const other = 3

// bootLoad is how long the group loads where a fault is to strike in a boot.
const bootLoad = 15 * time.Second

// doorway is a docker that lets a command of ops' wait, before it runs or before its end is told, so
// that a fault strikes exactly there.
const doorway = `#!/bin/sh
[ -e /run/lab/before ] || [ -e /run/lab/after ] || exec /usr/bin/docker "$@"
[ "$(id -u)" != 0 ] || exec /usr/bin/docker "$@"
hold() {
	[ -r "/run/lab/$1" ] && printf '%s\n' "$2" | grep -qEf "/run/lab/$1" || return 0
	: >/run/lab/held
	while [ -e "/run/lab/$1" ]; do sleep 0.05; done
}
hold before "$*"
rc=0
/usr/bin/docker "$@" || rc=$?
hold after "$*"
exit $rc
`

// doorways puts one on every node for as long as the test lasts.
func doorways(t *testing.T) {
	t.Helper()
	everywhere(t, "cat >/usr/local/bin/docker <<'END'\n"+doorway+"END\nchmod 755 /usr/local/bin/docker")
	t.Cleanup(func() { everywhere(t, "rm -rf /usr/local/bin/docker /run/lab") })
}

// strike makes the fault at that moment. What is held in the doorway goes on as soon as it is made; on a
// node that stands still, when it is released again.
func (c cell) strike(t *testing.T) {
	t.Helper()
	side, command := "before", ""
	switch c.moment {
	case duringChecks:
		command = "^version "
	case afterCommit:
		command = "^stop "
	case duringLaunch:
		command = "^run "
		if c.fault.endsRank() || c.fault.effect == rankPaused {
			side = "after" // there must be a container
		}
	}
	if command != "" {
		on(t, c.node, fmt.Sprintf("mkdir -p -m 1777 /run/lab && rm -f /run/lab/* && echo '%s' >/run/lab/%s", command, side))
	}
	if c.moment == beforeDecision {
		c.fault.inject(t, c.node)
		if !c.fault.endsRank() {
			die(t, other)
		}
		return
	}
	from := time.Now()
	die(t, other)
	if c.moment == duringBoot {
		eventually(t, deadWithin, "all ranks are launched", func() bool { return seenSince(from).has("launched") })
	} else {
		eventually(t, deadWithin, command+" is held on the node", func() bool {
			_, err := try(c.node, "test -e /run/lab/held")
			return err == nil
		})
	}
	c.fault.inject(t, c.node)
	release(c.node)
}

func release(node int) { _, _ = try(node, "rm -rf /run/lab") }

// endsRank says whether the fault is itself the death of a rank.
func (f nodeFault) endsRank() bool {
	switch f.effect {
	case dockerGone, dockerDies, rankKilled, rankCrash, powerLost, rebooted:
		return true
	}
	return false
}
