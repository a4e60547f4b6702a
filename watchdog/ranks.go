package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// neverStarted is what Docker gives as StartedAt of a container that was created only.
const neverStarted = "0001-01-01T00:00:00Z"

// Started says whether Docker has ever started this container.
func (c Container) Started() bool { return c.StartedAt != "" && c.StartedAt != neverStarted }

// Running says whether the container's process runs; a paused one does not serve.
func (c Container) Running() bool { return c.Status == "running" }

// IsContainerID says whether s has the shape of a full container id. Only such a one goes back into
// a script.
func IsContainerID(s string) bool {
	const length = 64
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

// DockerAnswered says whether the node's Docker said what there is, also "nothing".
func (r Rank) DockerAnswered() bool { return r.SSH == ReachOK && r.Docker == ReachOK }

// readRanks reads each rank on its own.
func (l *look) readRanks() []Verdict {
	all := make([]Verdict, len(l.o.Ranks))
	for i := range l.o.Ranks {
		all[i] = l.readRank(i)
	}
	return all
}

// readRank reads one rank. Only a Docker that answers can say that a rank is dead, and only a rank
// that was seen running in this start can be: Unknown is the answer to everything else.
func (l *look) readRank(i int) Verdict {
	r, k := l.o.Ranks[i], l.next.Ranks[i]
	v := Verdict{Term: TermRank}
	say := func(reading Reading, cause Cause, format string, args ...any) Verdict {
		v.Reading, v.Cause = reading, cause
		v.What = fmt.Sprintf("rank %d (%s) ", i, r.Node) + fmt.Sprintf(format, args...)
		return v
	}
	if r.SSH != ReachOK {
		return say(Unknown, CauseNodeSilent, "cannot be asked: %s", r.Err)
	}
	if r.Docker != ReachOK {
		return say(Unknown, CauseDockerSilent, "cannot be asked: %s", r.Err)
	}
	c := r.Container
	if c == nil {
		if k.Ran != "" {
			return say(Failing, CauseRankGone, "is gone")
		}
		return say(Unknown, CauseRankMissing, "has no container")
	}
	switch c.Status {
	case "running":
		if l.stale(i) {
			return say(Failing, CauseStaleWorker, "served under an earlier head")
		}
		return l.readProcess(i, v, say)
	case "paused":
		return say(Unknown, CausePaused, "is paused")
	case "restarting":
		return say(Unknown, CauseRestarting, "is being restarted by Docker")
	}
	if c.Status == "created" && c.startFailed() && l.ofThisBoot(*c) {
		return say(Failing, CauseRankDead, "could not be started: %s", orElse(c.Error, fmt.Sprintf("exit code %d", c.ExitCode)))
	}
	if k.Ran == "" {
		return say(Unknown, CauseRankMissing, "%s, never seen running", deathWords(*c))
	}
	return say(Failing, CauseRankDead, "%s", deathWords(*c))
}

// readProcess reads a container that runs. It may do so without its engine, where a shell or Ray keeps
// it alive: then the engine's process is the rank, by the same rules. A pattern that never matched in
// this start proves nothing, since it may be wrong (D05).
func (l *look) readProcess(i int, v Verdict, say func(Reading, Cause, string, ...any) Verdict) Verdict {
	r, k := l.o.Ranks[i], l.next.Ranks[i]
	switch {
	case r.Process == Absent && k.Worked == r.Container.Start():
		return say(Failing, CauseProcessGone, "runs, but its engine's process is gone")
	case r.Process == Absent:
		return say(Unknown, CauseNoProcess, "runs, and no process in it has matched yet")
	case r.ProcessErr != "":
		return say(Unknown, CauseDockerSilent, "runs, but its processes cannot be asked: %s", r.ProcessErr)
	}
	v.Reading = Healthy
	return v
}

// startFailed says whether Docker tried to start a container and could not: it will not try again.
func (c Container) startFailed() bool { return c.Error != "" || c.ExitCode != 0 }

// ofThisBoot says whether a container was created in the present boot, and not left over from before.
func (l *look) ofThisBoot(c Container) bool {
	return l.next.Phase == Booting && c.Made <= l.o.At.Since(l.next.Since)+clockSlack
}

// readGroup reads all ranks together: one Failing rank suffices, one Unknown rank keeps the group
// from being Healthy.
func (l *look) readGroup() Verdict {
	group := Verdict{Term: TermRank, Reading: Healthy}
	var what []string
	for _, v := range l.r.Ranks {
		if v.Reading == Failing || (v.Reading == Unknown && group.Reading != Failing) {
			if v.Reading != group.Reading {
				what, group.Cause = nil, v.Cause
			}
			group.Reading = v.Reading
			what = append(what, v.What)
		}
	}
	if len(l.r.Ranks) == 0 {
		group.Reading = Unknown
	}
	group.What = strings.Join(what, "; ")
	if group.Reading == Failing {
		return group
	}
	if l.next.DockerStarts >= l.p.DockerStarts {
		return Verdict{Term: TermRank, Reading: Failing, Cause: CauseRestartLoop,
			What: fmt.Sprintf("Docker has started a rank %d times without a completion", l.next.DockerStarts)}
	}
	if missing := l.missing(); missing != "" {
		return Verdict{Term: TermRank, Reading: Failing, Cause: CauseRankMissing, What: missing}
	}
	return group
}

// missing says which ranks of a boot should have appeared by now; "" where none.
func (l *look) missing() string {
	if l.next.Phase != Booting {
		return ""
	}
	var names []string
	appeared := l.next.Since
	if appeared.BootID != l.o.At.BootID { // its wall clock may have been wrong
		appeared = l.o.At.Latest(appeared, l.next.Seen)
	}
	for i, v := range l.r.Ranks {
		if v.Cause == CauseRankMissing {
			names = append(names, v.What)
		}
		if l.next.Ranks[i].Ran != "" {
			appeared = l.o.At.Latest(appeared, l.next.Ranks[i].FirstSeen)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if l.launchOver() || l.o.At.Since(appeared) >= l.p.RankAppears {
		return strings.Join(names, "; ")
	}
	return ""
}

// launchOver says whether this boot is of our own launch and that launch failed, or was cut off so
// long ago that nothing more can come of it: then a missing rank need not be waited for.
func (l *look) launchOver() bool {
	a := l.launch()
	if a == nil || !a.Launching.Equal(l.next.Since) {
		return false
	}
	if a.Ended.IsZero() {
		return l.o.At.Since(a.Launching) > l.p.LaunchTimeout
	}
	return a.Outcome != OutcomeLaunched
}

// headStart names the head's container as it runs now, by the last answer of its Docker.
func (l *look) headStart() string {
	if len(l.next.Ranks) == 0 || l.next.Ranks[0].Container == nil {
		return ""
	}
	return l.next.Ranks[0].Container.Start()
}

// stale says whether rank i, which runs, serves a head that is gone: it waits for that one for ever.
// Where workers join a head that runs, one that is older than its head has joined it, or ends.
func (l *look) stale(i int) bool {
	under := l.next.Ranks[i].ServedUnder
	return !l.p.HeadFirst && i > 0 && under != "" && under != l.headStart() && l.headSeenFor() >= l.p.StaleWorker
}

// headSeenFor returns how long the present head has been known.
func (l *look) headSeenFor() time.Duration {
	if l.headStart() == "" || l.next.Ranks[0].FirstSeen.IsZero() {
		return 0
	}
	return l.o.At.Since(l.next.Ranks[0].FirstSeen)
}

// deathWords says how a container stands that does not run. Exit 137 is SIGKILL and no proof of an
// OOM kill; OOMKilled may be a child's (D08).
func deathWords(c Container) string {
	if c.Status != "exited" && c.Status != "dead" {
		return "is " + joinWords(c.Status, c.Error)
	}
	s := fmt.Sprintf("%s %d", c.Status, c.ExitCode)
	switch c.ExitCode {
	case 137:
		s += " (SIGKILL)"
	case 139:
		s += " (SIGSEGV)"
	case 143:
		s += " (SIGTERM)"
	case 134:
		s += " (SIGABRT)"
	}
	if c.OOMKilled {
		s += ", Docker notes an OOM kill in it"
	}
	return joinWords(s, c.Error)
}
