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
	if l.first {
		return
	}
	incomplete := ""
	for i, r := range l.o.Ranks {
		k := l.next.Ranks[i]
		if !r.DockerAnswered() || k.Container == nil || !k.Container.Running() {
			continue
		}
		if at, found := l.stopOf(r, k); found {
			why := fmt.Sprintf("rank %d (%s) was stopped by someone else", i, r.Node)
			l.next.Grace = &Grace{From: l.o.At.Add(-max(0, r.Clock.Sub(at))), Why: why}
			l.tell(NoticePerson, "", fmt.Sprintf("%s: nothing is done for %s", why, brief(l.p.Grace)))
			return
		}
		if historyIncomplete(l.p, r, k) {
			incomplete = fmt.Sprintf("rank %d (%s) ended and its node's history does not say how", i, r.Node)
		}
	}
	if incomplete != "" && !l.anyRuns() {
		l.next.Grace = &Grace{From: l.o.At, Why: incomplete + ", and no rank runs"}
		l.tell(NoticePerson, "", fmt.Sprintf("%s: it may be a person's stop, nothing is done for %s", l.next.Grace.Why, brief(l.p.Grace)))
	}
}

// stopOf finds a person's stop of the container that rank was known to run: a stop, a destroy, or a
// kill shortly before its die. What an attempt of ours recorded at its commit is ours; a container
// that removes itself (--rm) is destroyed by Docker after any crash.
func (l *look) stopOf(r Rank, k Known) (at time.Time, found bool) {
	id := k.Container.ID
	if slices.ContainsFunc(l.prev.Attempts, func(a Attempt) bool { return slices.Contains(a.Destroy, id) }) {
		return at, false
	}
	var killed time.Time
	for _, e := range r.Events {
		if e.ID != id {
			continue
		}
		switch {
		case e.Action == "stop", e.Action == "destroy" && !k.Container.AutoRemove:
			return e.At, true
		case e.Action == "kill" && slices.Contains([]string{"TERM", "INT", "QUIT", "KILL"}, e.Signal):
			killed = e.At
		case e.Action == "die" && !killed.IsZero() && e.At.Sub(killed) <= l.p.KillToDie:
			return e.At, true
		}
	}
	return at, false
}

// historyIncomplete says whether the node's events cannot tell how a rank that ran has ended.
func historyIncomplete(p Policy, r Rank, k Known) bool {
	if c := r.Container; c != nil && c.Running() && c.Start() == k.Container.Start() {
		return false // it has not ended
	}
	if r.EventsErr != "" || r.EventsSeen >= p.MaxEvents || k.Clock.After(r.Clock) {
		return true
	}
	return !slices.ContainsFunc(r.Events, func(e Event) bool { return e.ID == k.Container.ID && e.Action == "die" })
}

// anyRuns says whether any rank is seen running, or may run on a node that does not answer.
func (l *look) anyRuns() bool {
	return slices.ContainsFunc(l.o.Ranks, func(r Rank) bool {
		return !r.DockerAnswered() || (r.Container != nil && r.Container.Running())
	})
}
