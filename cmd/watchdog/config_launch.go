package main

import "time"

// LaunchOrder says which side of the group is launched first.
type LaunchOrder int

// The orders. The zero value is not part of the identity, so that a config from before there was a
// choice keeps its own.
const (
	WorkersFirst LaunchOrder = iota
	HeadFirst                // the workers join a head that runs, as Ray wants it
)

// String returns the order as it is written in the config.
func (o LaunchOrder) String() string {
	if o == HeadFirst {
		return "head-first"
	}
	return "workers-first"
}

func parseLaunchOrder(text string) (LaunchOrder, bool) {
	for _, o := range []LaunchOrder{WorkersFirst, HeadFirst} {
		if text == o.String() {
			return o, true
		}
	}
	return 0, false
}

// launchesLimit is the longest that all launches of one restart take.
func (c Config) launchesLimit() time.Duration {
	follow := 2 // the workers side by side, and the head
	if c.Launch.Sequential {
		follow = max(follow, len(c.Nodes))
	}
	return time.Duration(follow) * c.Launch.Timeout
}
