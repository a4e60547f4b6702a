package watchdog

import "time"

// launchedAgo returns how long ago an attempt was launched, for the budget. Within a boot its clock since
// boot tells. Across boots a wall clock must be asked, which may have been set in either boot: of what is
// possible the shortest time counts, so that no wrong clock refills the budget; and never one shorter
// than the present boot, so that none keeps it spent for years.
func (p Policy) launchedAgo(a Attempt, s State, now Clock) time.Duration {
	then := a.Launching
	if then.BootID == now.BootID {
		return now.Since(then)
	}
	least := now.atLeast(then)
	for _, last := range []Clock{s.Last, s.Earlier} {
		if last.BootID == then.BootID { // its wall clock as it stood later in that boot, when it may have been set right
			least += max(0, last.Boot-then.Boot)
			then = last.Add(then.Boot - last.Boot)
			break
		}
	}
	if bootOf(then.BootID) == bootOf(now.BootID) { // put back to a snapshot, which sets the wall clock too: only what was watched counts
		if s.Began.BootID == now.BootID {
			least += max(0, now.Boot-s.Began.Boot)
		}
		return least
	}
	if !p.plausible(then.Wall) || !p.plausible(now.Wall) {
		return least
	}
	ago := now.Since(then)
	if s.Began.BootID == now.BootID { // as if the wall clock had not been set since
		ago = min(ago, s.Began.Add(now.Boot-s.Began.Boot).Since(then))
	}
	return max(ago, least)
}

// plausible says whether a wall clock may have been right: this program was built by then, and not too
// long ago.
func (p Policy) plausible(wall time.Time) bool {
	return p.Built.IsZero() || !wall.Before(p.Built) && wall.Sub(p.Built) <= p.ClockFuture
}
