package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"cluster-watchdog/watchdog"
)

// inOrder merges deeds and attempts, each of them in the order in which it was written down, into the order
// in which all of it happened. Wall clocks cannot tell that: one entry of 2098 would be the newest for
// decades. Within a boot the time since boot tells; the boots are in the order of the deeds.
func inOrder(deeds, attempts []happening) []happening {
	var boots []string
	for _, d := range deeds {
		if !slices.Contains(boots, d.clock.BootID) {
			boots = append(boots, d.clock.BootID)
		}
	}
	after := 0
	for _, a := range attempts {
		i := slices.Index(boots, a.clock.BootID)
		if i < 0 { // nothing else is known of this boot
			i = after
			boots = slices.Insert(boots, i, a.clock.BootID)
		}
		after = i + 1
	}
	all := slices.Concat(deeds, attempts)
	slices.SortStableFunc(all, func(a, b happening) int {
		x, y := slices.Index(boots, a.clock.BootID), slices.Index(boots, b.clock.BootID)
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.clock.Boot, b.clock.Boot))
	})
	return all
}

// clockLine says that the head's clock was set between two entries, "" where it was not, or nobody can
// tell. Their dates would make no sense without it.
func clockLine(before, now watchdog.Clock) string {
	const told = time.Minute
	set := now.Wall.Sub(before.Wall) // across boots it can only be seen to go back
	if before.BootID == now.BootID {
		set = now.Jumped(before)
	}
	switch {
	case set <= -told:
		return fmt.Sprintf("%-19s  the head's clock was set back by %s", "", watchdog.Brief(-set))
	case set >= told && before.BootID == now.BootID:
		return fmt.Sprintf("%-19s  the head's clock was set ahead by %s", "", watchdog.Brief(set))
	default:
		return ""
	}
}
