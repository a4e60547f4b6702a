package watchdog

import (
	"fmt"
	"slices"
	"time"
)

// personsStop looks for a stop that is not ours since the last look, and gives its doer time. A
// plain die is a crash whatever its exit code (E03). Where a node's history is incomplete nobody
// can tell; then time is given only if no rank runs at all.
func (l *look) personsStop() {
	why, latest, incomplete := "", l.p.Grace, ""
	for i, r := range l.o.Ranks {
		k := &l.next.Ranks[i]
		if !r.DockerAnswered() || (k.Container == nil && k.Ran == "") {
			continue
		}
		if ago, found := l.stopOf(r, k); found && ago < latest {
			why, latest = fmt.Sprintf("rank %d (%s) was stopped by someone else", i, r.Node), ago
		}
		if k.Container != nil && historyIncomplete(l.p, r, *k) && !l.stoppedByUs(k.Container.ID, 0) {
			incomplete = fmt.Sprintf("rank %d (%s) ended and its node's history does not say how", i, r.Node)
		}
	}
	switch {
	case why != "":
		l.next.Grace = &Grace{From: l.o.At.Add(-latest), Why: why}
		l.tell(NoticePerson, "", fmt.Sprintf("%s: nothing is done for %s", why, brief(l.p.Grace-latest)))
	case incomplete != "" && !l.anyRuns():
		l.next.Grace = &Grace{From: l.o.At, Why: incomplete + ", and no rank runs"}
		l.tell(NoticePerson, "", fmt.Sprintf("%s: it may be a person's stop, nothing is done for %s", l.next.Grace.Why, brief(l.p.Grace)))
	}
}

// stopOf returns how long ago a person stopped the container that rank was known to have, or that we
// launched since: a stop, a destroy, or a kill shortly before its die, which may fall into the next
// look. A container that removes itself (--rm) is destroyed by Docker after any crash; of one
// that no look has seen yet nobody knows.
func (l *look) stopOf(r Rank, k *Known) (ago time.Duration, found bool) {
	for _, e := range r.Events {
		since := k.ago(e, r.Clock, l.o.At)
		looked := k.Container != nil && e.ID == k.Container.ID
		if !looked && !k.ran(e.ID) || e.At.After(r.Clock) || l.stoppedByUs(e.ID, since) {
			continue // one in the node's future was seen before its clock was set back
		}
		if looked && e.Action == "die" {
			k.Died = k.Container.Start()
		}
		switch {
		case e.kills():
			k.Killed = e.At
		case e.Action == "stop",
			e.Action == "destroy" && looked && !k.Container.AutoRemove,
			e.Action == "die" && (!k.Killed.IsZero() && e.At.Sub(k.Killed) <= l.p.KillToDie || l.p.killed(e, r.Events)):
			ago, found = since, true
		}
	}
	return ago, found
}

// ago returns how long ago an event was that our last answer of its node did not hold. The node's clock
// may have been set since, so it is bounded by ours.
func (k Known) ago(e Event, node time.Time, now Clock) time.Duration {
	ago := max(0, node.Sub(e.At))
	if !k.Heard.IsZero() {
		ago = min(ago, now.Since(k.Heard)+LookLimit)
	}
	return ago
}

// kills says whether the event is a signal that ends the container.
func (e Event) kills() bool {
	return e.Action == "kill" && slices.Contains([]string{"TERM", "INT", "QUIT", "KILL"}, e.Signal)
}

// killed says whether one of the events is the signal that led to this die, in whatever order they came.
func (p Policy) killed(die Event, all []Event) bool {
	return slices.ContainsFunc(all, func(e Event) bool {
		before := die.At.Sub(e.At)
		return e.kills() && e.ID == die.ID && before >= 0 && before <= p.KillToDie
	})
}

// stoppedByUs says whether what happened to id that long ago was our doing: an attempt recorded the
// id at its commit, and has removed it, is still at it, or was at it then.
func (l *look) stoppedByUs(id string, ago time.Duration) bool {
	return slices.ContainsFunc(l.prev.Attempts, func(a Attempt) bool {
		if !slices.Contains(a.Destroy, id) {
			return false
		}
		open := l.open()
		return !a.Launching.IsZero() || a.Stop || (open != nil && open.ID == a.ID) ||
			(!a.Ended.IsZero() && ago+clockSlack >= l.o.At.Since(a.Ended))
	})
}

// historyIncomplete says whether the node's events cannot tell how a rank that ran has ended. stopOf has
// noted its die, of this look or of the one before.
func historyIncomplete(p Policy, r Rank, k Known) bool {
	c := r.Container
	switch {
	case !k.Container.Running() && k.Container.Status != "paused":
		return false // it had ended before
	case c != nil && (c.Running() || c.Status == "paused") && c.Start() == k.Container.Start():
		return false // it has not ended
	case r.EventsErr != "" || r.EventsSeen >= p.MaxEvents || k.Clock.After(r.Clock):
		return true
	}
	return k.Died != k.Container.Start()
}

// anyRuns says whether any rank is seen running, or may run on a node that does not answer.
func (l *look) anyRuns() bool {
	return slices.ContainsFunc(l.o.Ranks, func(r Rank) bool {
		return !r.DockerAnswered() || (r.Container != nil && r.Container.Running())
	})
}
