package main

import (
	"context"
	"slices"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// askChecks runs all checks on all nodes where the time of a disarm has passed and a rank runs: the
// watchdog acts again only where they pass. Nothing is changed.
func (s *session) askChecks(ctx context.Context, o *watchdog.Observation) {
	if !s.policy.FlagOver(o.Flag, o.At) || o.StoreFault != "" || !slices.ContainsFunc(o.Ranks, runs) {
		return
	}
	runner := restart.NewRunner(s.plan, s.nodes, s.world(func(watchdog.NoticeKind, string, string) {}))
	_, failures := runner.Check(ctx, restart.Order{Seen: seen(*o), Started: startedAt(*o)})
	o.Checks = &watchdog.Checks{}
	if len(failures) > 0 {
		o.Checks.Failed = (&restart.Refusal{Failures: failures}).Error()
	}
}

func runs(r watchdog.Rank) bool { return r.Container != nil && r.Container.Running() }

// startedAt returns when the container of each rank was started, as this look saw it.
func startedAt(o watchdog.Observation) []string {
	times := make([]string, len(o.Ranks))
	for i, r := range o.Ranks {
		if r.Container != nil {
			times[i] = r.Container.StartedAt
		}
	}
	return times
}
