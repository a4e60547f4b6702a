package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// clockSlack is how far an age computed on a node may be off against the head's clock.
const clockSlack = 5 * time.Second

// newStart takes in what each node's Docker says of its rank and judges whose start a changed one
// is: ours, Docker's own, or a person's.
func (l *look) newStart() {
	var foreign []string
	youngest, found := time.Duration(0), false
	for i, r := range l.o.Ranks {
		if !r.DockerAnswered() {
			continue
		}
		who := l.whose(i)
		l.learn(i)
		if who == startDocker {
			l.next.DockerStarts++
		}
		if who == startPerson {
			foreign = append(foreign, fmt.Sprintf("rank %d (%s)", i, r.Node))
			if !found || r.Container.Age < youngest {
				youngest, found = r.Container.Age, true
			}
		}
	}
	l.headByDocker()
	if len(foreign) > 0 {
		l.personStarted(strings.Join(foreign, ", "), l.o.At.Add(-youngest))
	}
}

// starter is who started a rank that was not known before.
type starter int

const (
	startKnown starter = iota // unchanged, gone, or not to be told
	startOurs
	startDocker // by its restart policy: the RestartCount rose under the same id
	startPerson
)

// whose tells who made the start that this look sees on rank i. Starts are compared for equality
// only; a container that was created and never started is not a start.
func (l *look) whose(i int) starter {
	c, k := l.o.Ranks[i].Container, l.next.Ranks[i]
	switch {
	case c == nil || !c.Started():
		return startKnown
	case k.Container != nil && k.Container.Start() == c.Start():
		return startKnown
	case l.ours(i, *c):
		return startOurs
	case k.Container != nil && k.Container.ID == c.ID && c.RestartCount > k.Container.RestartCount:
		return startDocker
	case l.next.Phase == None:
		if c.Running() { // the group is adopted whoever started it
			return startPerson
		}
		return startKnown
	case !k.Answered:
		return startKnown // seen for the first time, not changed
	default:
		return startPerson
	}
}

// ours says whether an attempt of ours launched c: by the recorded id, or, where the launch was cut
// off before an id could be recorded, because it began while that launch ran.
func (l *look) ours(i int, c Container) bool {
	for _, a := range l.prev.Attempts {
		for _, started := range a.Launched {
			if started.Rank == i && started.ID == c.ID && started.StartedAt == c.StartedAt {
				return true
			}
		}
	}
	a := l.last()
	if a == nil || a.Launching.IsZero() || a.Outcome == OutcomeLaunched {
		return false
	}
	began := l.o.At.Since(a.Launching) - c.Age // after launching
	over := l.p.LaunchTimeout
	if !a.Ended.IsZero() {
		over = a.Ended.Since(a.Launching)
	}
	return began >= -clockSlack && began <= over+clockSlack
}

// learn remembers what a Docker that answers said of rank i.
func (l *look) learn(i int) {
	r, k := l.o.Ranks[i], &l.next.Ranks[i]
	k.Answered, k.Clock = true, r.Clock
	c := r.Container
	if c == nil {
		k.Container = nil
		return
	}
	same := k.Container != nil && k.Container.Start() == c.Start()
	adopted := k.Ran == c.Start() // by its launch, before any look saw it
	if !same && c.Started() && !adopted {
		k.Ran, k.ServedUnder, k.FirstSeen = "", "", l.o.At
	}
	copied := *c
	k.Container = &copied
	if c.Running() {
		k.Ran = c.Start()
	}
}

// headByDocker begins a new boot when Docker itself restarted a head that had served: it loads
// again. A boot that Docker restarts keeps its clock, so that a loop of crashes meets the limit.
func (l *look) headByDocker() {
	if l.next.Phase != Serving || len(l.next.Ranks) == 0 {
		return
	}
	k := l.next.Ranks[0]
	if was := l.prev.Ranks; len(was) > 0 && was[0].Container != nil && k.Container != nil &&
		was[0].Container.ID == k.Container.ID && k.Container.RestartCount > was[0].Container.RestartCount {
		starts := l.next.DockerStarts
		l.boot(l.o.At.Add(-k.Container.Age))
		l.next.DockerStarts = starts
	}
}

// personStarted answers a start that is not ours: we do not fight people. While the head that
// served runs on, the phase stays and its doer gets time; else this is a boot since that start.
func (l *look) personStarted(who string, since Clock) {
	n := &l.next
	known := !l.prev.Last.IsZero() && l.prev.Phase != None
	head := l.o.Ranks[0]
	runsOn := !head.DockerAnswered() ||
		(head.Container != nil && head.Container.Running() && head.Container.Start() == n.ServedBy)
	if n.Phase == Serving && runsOn {
		n.Strikes = nil
		n.Grace = &Grace{From: l.o.At, Why: who + " was started by someone else"}
		l.tell(NoticePerson, "", fmt.Sprintf("%s was started by someone else while the head serves on: watching, nothing is done for %s", who, brief(l.p.Grace)))
		return
	}
	l.boot(since)
	n.PersonStart = l.o.At
	if known {
		l.tell(NoticePerson, "", fmt.Sprintf("%s was started by someone else: BOOTING since then", who))
	}
}
