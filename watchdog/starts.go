package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Ages are computed on a node, later than the look's only clock reading.
const clockSlack = 5 * time.Second // how far the two may be off

// newStart takes in what each node's Docker says of its rank and judges whose start a changed one
// is: ours, Docker's own, or a person's.
func (l *look) newStart() {
	var foreign []string
	youngest, found := time.Duration(0), false
	for i, r := range l.o.Ranks {
		if !r.DockerAnswered() {
			continue
		}
		who, age := l.whose(i), l.startAge(i)
		l.countDockerStarts(i)
		l.learn(i)
		if who == startPerson {
			foreign = append(foreign, fmt.Sprintf("rank %d (%s)", i, r.Node))
			if !found || age < youngest {
				youngest, found = age, true
			}
		}
	}
	l.headByDocker()
	l.headInside()
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
	case l.next.Phase == None:
		if c.Running() { // the group is adopted whoever started it, also by us for another config
			return startPerson
		}
		return startKnown
	case l.ours(i, *c):
		return startOurs
	case l.dockerStarts(i) > 0 || (k.Container != nil && k.Container.ID == c.ID && k.Container.Status == "restarting"):
		return startDocker
	case !k.Answered:
		return startKnown // seen for the first time, not changed
	default:
		return startPerson
	}
}

// dockerStarts returns how often Docker itself has started the container of rank i since it was
// last looked at, or since we launched it. Docker raises the count when it decides to restart, so a
// look may see it before the start; a start by hand sets it to 0.
func (l *look) dockerStarts(i int) int {
	c, k := l.o.Ranks[i].Container, l.next.Ranks[i]
	switch {
	case c == nil:
		return 0
	case k.Container != nil && k.Container.ID == c.ID:
		return max(0, c.RestartCount-k.Container.RestartCount)
	case slices.ContainsFunc(l.prev.Attempts, func(a Attempt) bool { return a.launched(i, c.ID) }):
		return c.RestartCount
	}
	return 0
}

// startAge returns how long the start that this look sees on rank i has lasted, by its node's clock. That
// may have been set since: one that is new is no older than our last answer of that node, and what would
// be older than anything has just begun.
func (l *look) startAge(i int) time.Duration {
	c, k := l.o.Ranks[i].Container, l.next.Ranks[i]
	switch {
	case c == nil:
		return 0
	case !k.Heard.IsZero() && (k.Container == nil || k.Container.Start() != c.Start()):
		return min(c.Age, l.o.At.Since(k.Heard)+LookLimit)
	case c.Age >= tooLong:
		return 0
	default:
		return c.Age
	}
}

// launched says whether the attempt recorded this container as the one it launched as rank.
func (a Attempt) launched(rank int, id string) bool {
	return slices.ContainsFunc(a.Launched, func(s Launched) bool { return s.Rank == rank && s.ID == id })
}

// countDockerStarts adds to the count of rank i; the group's is the largest, since one crash makes
// Docker start every rank once.
func (l *look) countDockerStarts(i int) {
	k := &l.next.Ranks[i]
	k.DockerStarts += l.dockerStarts(i)
	l.next.DockerStarts = max(l.next.DockerStarts, k.DockerStarts)
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
	a := l.launch()
	if a == nil || a.Outcome == OutcomeLaunched {
		return false
	}
	began := l.o.At.Since(a.Launching) - l.startAge(i) // after launching
	over := l.p.LaunchTimeout
	if !a.Ended.IsZero() {
		over = a.Ended.Since(a.Launching)
	}
	if served := l.prev.Served; l.o.At.Later(served, a.Launching) { // all that it started ran by then
		over = min(over, served.Since(a.Launching))
	}
	return began >= -LookLimit && began <= over+clockSlack
}

// learn remembers what a Docker that answers said of rank i.
func (l *look) learn(i int) {
	r, k := l.o.Ranks[i], &l.next.Ranks[i]
	k.Answered, k.Clock, k.Heard = true, r.Clock, l.o.At
	c := r.Container
	if c == nil {
		k.Container = nil
		return
	}
	same := k.Container != nil && k.Container.Start() == c.Start()
	adopted := k.Ran == c.Start() // by its launch, before any look saw it
	if !same && c.Started() && !adopted {
		k.Ran, k.ServedUnder, k.FirstSeen = "", "", l.o.At
		k.Killed = time.Time{}
	}
	copied := *c
	k.Container = &copied
	if c.Running() {
		k.Ran = c.Start()
	}
	l.learnWork(i, same)
}

// learnWork remembers what goes on in rank i's container, in the same start as before or in another.
func (l *look) learnWork(i int, same bool) {
	r, k := l.o.Ranks[i], &l.next.Ranks[i]
	k.Process = r.Process
	if r.Process == Present {
		k.Worked = r.Container.Start()
	}
	if !same {
		k.Load = Load{}
	}
	k.Load = k.Load.with(r.Load)
	if !l.o.RanksOnly {
		k.GPUs, k.GPUErr = r.GPUs, r.GPUErr
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
		since := l.o.At
		if k.Container.Running() { // else its age is that of the start that has just ended
			since = since.Add(-k.Container.Age)
		}
		grace := l.next.Grace // of a person, whom Docker does not speak for
		l.boot(since)
		l.next.Grace = grace
	}
}

// personStarted answers a start that is not ours: we do not fight people. While the head that
// served runs on, the phase stays and its doer gets time; else this is a boot since that start.
func (l *look) personStarted(who string, since Clock) {
	n := &l.next
	known := !l.prev.Last.IsZero() && l.prev.Phase != None && l.prev.Identity == l.p.Identity
	head := l.o.Ranks[0]
	runsOn := !head.DockerAnswered() ||
		(head.Container != nil && head.Container.Running() && head.Container.Start() == n.ServedBy)
	n.PersonStart = l.o.At
	if n.Phase == Serving && runsOn {
		n.Strikes = nil
		n.Grace = &Grace{From: l.o.At, Why: who + " was started by someone else"}
		l.tell(NoticePerson, "", fmt.Sprintf("%s was started by someone else while the head serves on: watching, nothing is done for %s", who, brief(l.p.Grace)))
		return
	}
	l.boot(since)
	l.newGroup()
	if known {
		l.tell(NoticePerson, "", fmt.Sprintf("%s was started by someone else: BOOTING since then", who))
	}
}

// headInside takes the head's engine that has come back in a container which something else keeps
// alive for a new boot: its container says nothing of it.
func (l *look) headInside() {
	if l.next.Phase != Serving || len(l.prev.Ranks) == 0 {
		return
	}
	was, is := l.prev.Ranks[0], l.next.Ranks[0]
	if was.Process == Absent && was.Worked != "" && is.Process == Present && was.Worked == is.Worked {
		l.boot(l.o.At)
		l.next.Live = ""
	}
}
