package main

import (
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// The unit's TimeoutStartSec. Past it systemd ends a tick, whatever it is doing; so the sum of
// all our own deadlines must stay below. A test compares it with the unit.
const unitTimeout = 45 * time.Minute

// How long each part of a tick may take at most, besides the steps of the sequence.
const (
	lookLimit      = watchdog.LookLimit // one look; a tick has one or two
	noticesPerTick = 4                  // of two looks, of the attempt's start and of its end
)

// span is one part of a tick, with the key that decides about it.
type span struct {
	key  string
	long time.Duration
}

// spans lists what the config adds to a tick.
func (c Config) spans() []span {
	return []span{
		{"judge.dead.apart", c.Judge.Dead.Apart}, // the pause between two looks
		{"launch.stop_seconds", time.Duration(c.Launch.StopSeconds) * time.Second},
		{"settle.memory_wait", c.Settle.MemoryWait},
		{"launch.timeout", c.launchesLimit()},
		{"notify.timeout", noticesPerTick * c.Notify.Timeout},
	}
}

// stepBudget is the longest that a tick can take, and the key that takes most of it.
func (c Config) stepBudget() (sum time.Duration, most string) {
	plan, err := restart.NewPlan(c.settings(), restart.Steps())
	if err != nil { // the order of the steps, not the config
		panic("internal error: " + err.Error())
	}
	sum = tickMargin + 2*lookLimit + plan.Longest() + c.Judge.Dead.Apart + noticesPerTick*c.Notify.Timeout
	longest := time.Duration(0)
	for _, s := range c.spans() {
		if s.long > longest {
			longest, most = s.long, s.key
		}
	}
	return sum, most
}
