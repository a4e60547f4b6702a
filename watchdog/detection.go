package watchdog

import (
	"fmt"
	"time"
)

// The longest that looks take. What hangs is waited for until then, so a death is decided upon
// this long after the look that saw it began.
const (
	LookLimit      = 45 * time.Second // everything is asked
	LookAgainLimit = 15 * time.Second // only the ranks, over the connections of the look before
)

// Detection is one kind of death and how long it may lie there at worst before a restart is decided.
type Detection struct {
	Death string        `json:"death"`
	From  string        `json:"from"`  // what the time begins with
	Worst time.Duration `json:"worst"` // zero: never, with these rules
}

// String says it as README and `status` do.
func (d Detection) String() string {
	if d.Worst == 0 {
		return d.Death + ": never"
	}
	return fmt.Sprintf("%s: within %s of %s", d.Death, brief(d.Worst), d.From)
}

// Detections returns the worst case of each kind of death when a look begins every period, as it
// follows from the rules: the death comes just after a look, all looks take their longest, and what
// is compared with the look before moved until the death.
func (p Policy) Detections(period time.Duration) []Detection {
	step := nextTick(LookLimit, period) // from look to look, and from a death to the first look after it
	moved := step + roundUp(max(p.Baseline, step), step)
	dead := p.untilDecided(p.Dead, period, 0, true)
	return []Detection{
		{"a rank has ended or is gone, or its engine's process is", "its end", sum(step, dead)},
		{"vLLM calls itself dead (/health says 500 or 503)", "its death", sum(step, p.untilDecided(p.EngineDead, period, 0, false))},
		{"no completion, and live counters stand still", "the last movement", sum(moved, p.untilDecided(p.NoProgress, period, p.Baseline, false))},
		{"the API's port is closed while its container runs", "its closing", sum(step, p.untilDecided(p.NoProgress, period, 0, false))},
		{"no completion, and no counter is known to be live", "the last movement", sum(moved, p.untilDecided(p.NoProgressBlind, period, p.Baseline, false))},
		{"a worker of an earlier head runs on", "the new head's start", sum(step+roundUp(p.StaleWorker, step), dead)},
		{"a rank of a boot never appears", "the youngest rank's start", sum(step+roundUp(p.RankAppears, step), dead)},
		{"a boot never serves", "its start", sum(step+nextTick(p.BootLimit, step), p.untilDecided(p.BootOver, period, 0, false))},
	}
}

// sum adds up where the rule can be met at all.
func sum(before, rule time.Duration) time.Duration {
	if rule == 0 {
		return 0
	}
	return before + rule
}

// untilDecided returns the time from the start of a term's first failing look to the end of the look
// that completes its rule; zero where none ever does. Looks count only when they are at least
// compare apart, the time that counters need to be called flat. With again a tick looks twice.
func (p Policy) untilDecided(r Rule, period, compare time.Duration, again bool) time.Duration {
	looks, first, last, compared := 1, time.Duration(0), time.Duration(0), time.Duration(0)
	complete := func(at time.Duration) bool {
		if at-last > p.StrikeVoid {
			looks, first, last = 1, at, at
		}
		if at-compared >= compare {
			compared = at
			if at-last >= r.Apart && at > first {
				looks, last = looks+1, at
			}
		}
		return looks >= r.Looks && last-first >= r.Over
	}
	for tick, ticks := time.Duration(0), 0; ticks < maxTicks; ticks++ {
		if complete(tick) {
			return tick + LookLimit
		}
		end := tick + LookLimit
		if again {
			second := tick + max(r.Apart, LookLimit)
			if complete(second) {
				return second + LookAgainLimit
			}
			end = second + LookAgainLimit
		}
		tick = nextTick(end, period)
	}
	return 0
}

// maxTicks is more than a rule that can be met at all takes.
const maxTicks = 10_000

// nextTick returns the first tick after a time since a tick: one that falls due while the one before
// still runs is left out by systemd.
func nextTick(after, period time.Duration) time.Duration { return (after/period + 1) * period }

// roundUp returns the first tick at or after a time since a tick.
func roundUp(d, period time.Duration) time.Duration { return (d + period - 1) / period * period }
