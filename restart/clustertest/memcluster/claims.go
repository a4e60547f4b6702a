package memcluster

import (
	"slices"

	"cluster-watchdog/restart"
)

// claim is what a head has written down on a node: the group and the name of its container are its own.
type claim struct{ group, container, head, stateDir string }

// claim returns the claim that this script speaks for.
func (j *job) claim() claim {
	return claim{j.env["WATCHDOG_GROUP"], j.env["WATCHDOG_CONTAINER"], j.env["WATCHDOG_HEAD_ID"], j.env["WATCHDOG_STATE_DIR"]}
}

func (c claim) sameOwner(other claim) bool {
	return c.head == other.head && c.stateDir == other.stateDir
}

func (c claim) against(other claim) bool {
	return !c.sameOwner(other) && (c.group == other.group || c.container == other.container)
}

// refuseClaimed fails where another one claims the group.
func (j *job) refuseClaimed() (res restart.Result, refused bool) {
	mine := j.claim()
	if i := slices.IndexFunc(j.n.claims, mine.against); i >= 0 {
		return fails("group %s is claimed by %s", mine.group, j.n.claims[i].head), true
	}
	return restart.Result{}, false
}

// checkClaim looks, writeClaim writes.
func (j *job) checkClaim() restart.Result {
	if j.claim().head == "" {
		return fails("this head cannot be told from another one")
	}
	res, _ := j.refuseClaimed()
	return res
}

func (j *job) writeClaim() restart.Result {
	if res, refused := j.refuseClaimed(); refused {
		return res
	}
	mine := j.claim()
	j.n.claims = append(slices.DeleteFunc(j.n.claims, mine.sameOwner), mine)
	return restart.Result{}
}
