package main

import "time"

// bounds are the ends of a tick, each for when the one before it is not enough.
type bounds struct {
	finish time.Duration // its contexts end: it stops before its next step, and saves how far it got
	end    time.Duration // the process ends, whatever call hangs in it
	stop   time.Duration // likewise after SIGTERM, counted from there
}

// Two parts of tickMargin: half a minute to save how far a run got, and the rest for what is left to
// say of one that hangs in that too.
const savingMargin = tickMargin / 2

// unitBounds fit into the unit: TimeoutStartSec and, after SIGTERM, TimeoutStopSec. A test compares.
var unitBounds = bounds{finish: unitTimeout - tickMargin, end: unitTimeout - tickMargin + savingMargin, stop: unitStop - lastWords}

const (
	unitStop = 30 * time.Second // the unit's TimeoutStopSec
	// What a run that hangs has for its last words, see hung.go.
	lastWords = sayLimit + 2*noteLimit + unlockLimit + tellLimit
	sayLimit  = 2 * time.Second // for the journal
	noteLimit = 2 * time.Second // for the note on the disk, twice
	tellLimit = 5 * time.Second // for notify.command
	// For giving the lock back; the end of the process does it too, unless a call cannot be ended.
	unlockLimit = time.Second
	// After SIGTERM people are told for at most this long, and what is to be saved has the rest.
	tellAfterTerm = 10 * time.Second
)
