package main

import (
	"fmt"
	"strings"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// The kinds of deeds.
const (
	deedPhase    = "phase"
	deedArmed    = "armed"
	deedDisarmed = "disarmed"
	deedFlagGone = "flag gone"
	deedReset    = "reset"
	deedSetAside = "set aside"

	deedInterrupted = "interrupted" // before anything was decided
	deedHung        = "hung"
	deedKilled      = "killed"
)

// deedsOf returns what a look has changed that history tells: the phase, and the disarmed flag,
// which anybody may write without the lock and which is therefore told as a look first sees it.
func deedsOf(p watchdog.Policy, before watchdog.State, d watchdog.Decision, o watchdog.Observation) []state.Deed {
	var deeds []state.Deed
	if before.Phase != d.Next.Phase {
		why := strings.TrimPrefix(d.Sentence(), fmt.Sprintf("phase=%s ", d.Next.Phase))
		deeds = append(deeds, state.Deed{At: o.At, Kind: deedPhase, Text: fmt.Sprintf("%s → %s: %s", before.Phase, d.Next.Phase, why)})
	}
	was, is := before.Flag, o.Flag
	switch {
	case (is.Present || is.Err != "") && !is.Equal(was):
		deeds = append(deeds, state.Deed{At: writtenAt(is, before.Last, o.At), Kind: deedDisarmed, Who: orFlagFile(is.Who), Text: flagText(is)})
	case (was.Present || was.Err != "") && !is.Present && is.Err == "":
		deeds = append(deeds, state.Deed{At: o.At, Kind: deedFlagGone, Text: goneText(p, before, was, o.At)})
	}
	return deeds
}

// writtenAt is when a flag says that it was written, where that fits between two looks.
func writtenAt(f watchdog.Flag, last, now watchdog.Clock) watchdog.Clock {
	if f.When.Before(last.Wall.Truncate(time.Second)) || f.When.After(now.Wall) {
		return now
	}
	now.Boot -= now.Wall.Sub(f.When)
	now.Wall = f.When
	return now
}

func orFlagFile(who string) string {
	if who == "" {
		return "the flag file"
	}
	return who
}

func flagText(f watchdog.Flag) string {
	text := f.Reason
	if f.Err != "" {
		text = "it cannot be read: " + f.Err
	}
	if !f.Until.IsZero() {
		text += ", until " + dateWords(f.Until)
	}
	return text
}

// goneText says how a flag went, as far as it can be told.
func goneText(p watchdog.Policy, before watchdog.State, was watchdog.Flag, now watchdog.Clock) string {
	switch {
	case before.Arm != nil && now.Later(before.Arm.At, before.Last):
		return "by arm"
	case p.FlagOver(was, now):
		return "its time was over, and the checks passed"
	default:
		return "taken away by hand"
	}
}
