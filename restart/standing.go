package restart

import (
	"fmt"
	"slices"
	"strings"

	"cluster-watchdog/watchdog"
)

// standing says what a run that ended early leaves behind, whose memory is held, and how it goes on.
func (t *try) standing() string {
	a := t.o.Attempt
	switch {
	case a.Committed.IsZero():
		return "nothing was touched"
	case !a.Launching.IsZero():
		return t.ranksWords() + "; `cluster-watchdog stop --reason` frees what is held, `restart --reason` begins anew"
	default:
		return t.leftWords() + t.goesOn()
	}
}

// ranksWords says which ranks this attempt has started.
func (t *try) ranksWords() string {
	var run, not []int
	for rank := range t.plan.settings.Nodes {
		started := slices.ContainsFunc(t.o.Attempt.Launched, func(l watchdog.Launched) bool { return l.Rank == rank })
		if started {
			run = append(run, rank)
		} else {
			not = append(not, rank)
		}
	}
	if len(run) == 0 {
		return "no rank is known to have been started"
	}
	words := t.held(run, "runs", "run")
	if len(not) > 0 {
		words += "; not known to have been started: " + t.names(not)
	}
	return words
}

// leftWords says which ranks are not known to be removed.
func (t *try) leftWords() string {
	var left []int
	for rank, id := range t.o.Attempt.Destroy {
		if id != "" && !t.gone[rank] && !t.o.Attempt.Removed {
			left = append(left, rank)
		}
	}
	switch {
	case len(left) == 0:
		return "no rank runs, the group is down"
	case !t.began:
		return "nothing was removed yet: " + t.held(left, "is as it was", "are as they were")
	default:
		return "the group is half down: " + t.held(left, "may still run", "may still run")
	}
}

func (t *try) held(ranks []int, one, many string) string {
	if len(ranks) == 1 {
		return t.names(ranks) + " " + one + ", and its memory is held"
	}
	return t.names(ranks) + " " + many + ", and their memory is held"
}

func (t *try) names(ranks []int) string {
	names := make([]string, len(ranks))
	for i, rank := range ranks {
		names[i] = fmt.Sprintf("rank %d (%s)", rank, t.plan.settings.Nodes[rank])
	}
	return strings.Join(names, ", ")
}

// goesOn says what comes after a run that was ended between its commit and its launch.
func (t *try) goesOn() string {
	switch {
	case t.o.Attempt.Stop:
		return "; `cluster-watchdog stop --reason` goes on"
	case thrown(t.world.Switch()):
		return "; `cluster-watchdog arm` closes this attempt, taking the flag away lets it go on"
	default:
		return "; the next tick goes on where it is armed, `cluster-watchdog disarm --reason` keeps it down"
	}
}

// tellStanding lets people hear that something was left half done: nobody may be watching.
func (t *try) tellStanding() {
	if !t.o.Attempt.Committed.IsZero() {
		t.world.Notice(watchdog.NoticeTrouble, "", fmt.Sprintf("a %s%s ended early: %s", strings.ToLower(t.what()), t.askedFor(), t.o.Attempt.Error))
	}
}
