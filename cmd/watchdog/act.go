package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// memoryShare of what the last good launch had must be free again before the next.
const memoryShare = 0.9

// act does what was decided, and returns the exit code as an error.
func (s *session) act(ctx context.Context, d watchdog.Decision, o watchdog.Observation) error {
	st, err := s.store.Load()
	if err != nil {
		return err
	}
	if d.EndFlag {
		if err := s.removeFlag(o.Flag); err != nil {
			return err
		}
		s.log.Info().Str("event", "armed").Msg("the time of the disarm is over: acting again")
	}
	told := st.Told
	tell := func(kind watchdog.NoticeKind, key, text string) {
		if key != "" && slices.Contains(told, key) {
			return
		}
		if s.notify(kind, text) && key != "" {
			told = append(told, key)
		}
	}
	runner := restart.NewRunner(s.plan, s.nodes, s.world(tell))
	if d.EndFlusher {
		if a, found := st.Flusher(); found {
			if err := runner.EndFlusher(ctx, a); err != nil {
				return err
			}
		}
	}
	if d.Preserve {
		runner.Preserve(ctx, incidentOf(st), seen(o))
	}
	switch d.Action {
	case watchdog.ActRestart, watchdog.ActLaunch, watchdog.ActResume:
		err := s.acting(ctx, d.Next.Phase, tell, func() error { return s.restart(ctx, runner, st, d, o) })
		if len(told) > len(st.Told) {
			err = errors.Join(err, s.store.SaveTold(told))
		}
		return err
	}
	return s.quiet(d)
}

// quiet returns the exit code of a tick that did nothing.
func (s *session) quiet(d watchdog.Decision) error {
	switch {
	case d.Next.Phase == watchdog.GivenUp:
		return codeError{code: exitGivenUp}
	case d.Wanted != watchdog.ActNone && d.Reason != watchdog.ReasonLookFirst:
		return codeError{code: exitRefused}
	}
	return nil
}

// restart runs the sequence and tells how it ended.
func (s *session) restart(ctx context.Context, r *restart.Runner, st watchdog.State, d watchdog.Decision, o watchdog.Observation) error {
	a, err := s.attempt(st, d)
	if err != nil {
		return err
	}
	begin := fmt.Sprintf("RESTART begin (%s): %s", s.policy.BudgetWords(st, o.At), plain(a.Why))
	if a.Tries > 0 {
		verb := "tries again"
		if !a.Committed.IsZero() {
			verb = "goes on"
		}
		begin = fmt.Sprintf("RESTART %s (attempt %d, try %d): %s", verb, a.ID, a.Tries+1, plain(a.Why))
	}
	s.log.Warn().Str("event", "restart").Int("attempt", a.ID).Str("phase", d.Next.Phase.String()).Msg(begin)
	a, err = r.Run(ctx, s.order(st, d, o, a))
	s.at.stepsOver()
	if err != nil {
		return err
	}
	switch a.Outcome {
	case watchdog.OutcomeLaunched, watchdog.OutcomeRecovered:
		return nil
	case watchdog.OutcomeBroken, watchdog.OutcomeLaunchFailed:
		return codeError{code: exitBroken}
	case watchdog.OutcomeInterrupted:
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return codeError{exitFault, s.lateWords(a.Error)}
		}
		return codeError{code: exitRefused}
	default:
		return codeError{code: exitRefused}
	}
}

// order is what the runner is told: what was seen, and whether to ask once more before destroying.
// A group that is to be launched has nobody to ask, and no group serves with a dead rank.
func (s *session) order(st watchdog.State, d watchdog.Decision, o watchdog.Observation, a watchdog.Attempt) restart.Order {
	order := restart.Order{Attempt: a, Looked: o.At, Seen: seen(o), Started: startedAt(o), MemFloor: s.memoryFloor(st), Claimant: claimant(st)}
	if d.Action != watchdog.ActLaunch && !ranDead(d.Readings) {
		order.Canary = func(ctx context.Context) bool { return s.prober.Canary(ctx).Served() }
	}
	return order
}

// attempt returns the attempt to run: the open one, the one that is still refused, or a new one.
func (s *session) attempt(st watchdog.State, d watchdog.Decision) (watchdog.Attempt, error) {
	by := ""
	if d.Action == watchdog.ActLaunch {
		by = st.Arm.Who
	}
	if n := len(st.Attempts); n > 0 {
		last := st.Attempts[n-1]
		refused := !last.Stop && last.Committed.IsZero() && last.By == by && last.Incident == incidentOf(st) && last.Outcome != watchdog.OutcomeRecovered
		if d.Action == watchdog.ActResume || refused {
			return last, nil
		}
	}
	id, err := s.store.NextAttemptID()
	if err != nil {
		return watchdog.Attempt{}, err
	}
	why := d.Why.String()
	if d.Detail != "" && by == "" {
		why += ": " + d.Detail
	}
	return watchdog.Attempt{ID: id, By: by, Why: why, Incident: incidentOf(st)}, nil
}

func incidentOf(st watchdog.State) int {
	if st.Incident == nil {
		return 0
	}
	return st.Incident.ID
}

// memoryFloor returns what must be free on each rank before a launch: the configured floor, else a
// share of what the last good launch of this config had; 0: unknown.
func (s *session) memoryFloor(st watchdog.State) []int64 {
	floors := make([]int64, len(s.config.Nodes))
	for i := range floors {
		switch {
		case s.config.Settle.MemoryFloor > 0:
			floors[i] = int64(s.config.Settle.MemoryFloor)
		case st.LastGood != nil && st.LastGood.Identity == s.policy.Identity && i < len(st.LastGood.MemFree):
			floors[i] = int64(memoryShare * float64(st.LastGood.MemFree[i]))
		}
	}
	return floors
}
