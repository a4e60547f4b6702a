package watchdog

import "fmt"

// LookVoid is how long a look may take by CLOCK_BOOTTIME. All that is asked has a deadline far below, by
// a clock that stands still while the machine is suspended: a look that took longer was interrupted by
// a suspension, or this process hardly ran.
const LookVoid = 2 * LookLimit

// interrupted says why nothing seen in this look can be believed, "" where it can: part of it was seen
// before the interruption and part after, and a question that was asked before and got no answer after it
// was asked of nobody.
func (o Observation) interrupted() string {
	if o.Took <= LookVoid {
		return ""
	}
	return fmt.Sprintf("the look took %s: this machine was suspended, or stood still, in the middle of it", brief(o.Took))
}

// believed returns what of a look counts. Of an interrupted one that is nothing but good news.
func (o Observation) believed() Observation {
	why := o.interrupted()
	if why == "" {
		return o
	}
	kept := Observation{At: o.At, Took: o.Took, RanksOnly: o.RanksOnly, Flag: o.Flag, Checks: o.Checks, StoreFault: o.StoreFault}
	if served(o.Canary) {
		kept.Canary = o.Canary
	}
	for _, r := range o.Ranks {
		kept.Ranks = append(kept.Ranks, Rank{Node: r.Node, Err: why})
	}
	return kept
}
