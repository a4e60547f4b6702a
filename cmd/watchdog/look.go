package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// look looks once, decides, saves and tells. When saving fails the decision is made again with
// that fact, and it can only be to do nothing.
func (s *session) look(ctx context.Context, st watchdog.State, fault string, ranksOnly bool) (watchdog.Decision, watchdog.Observation, error) {
	began := time.Now()
	skip := func(at watchdog.Clock, before watchdog.Counters) bool { return s.policy.SkipCanary(st, at, before) }
	o := s.observe(ctx, st, ranksOnly, skip)
	o.StoreFault = fault
	s.askChecks(ctx, &o)
	if err := ctx.Err(); err != nil {
		return watchdog.Decision{}, o, s.interrupted(ctx, "while looking")
	}
	d := watchdog.Decide(s.policy, st, o)
	if fault == "" {
		if err := s.remembering(st, d, o, time.Since(began)); err != nil {
			var damage *state.DamageError
			if errors.As(err, &damage) { // found in a page that loading never reads
				s.setAside(damage)
			} else {
				s.tellUnsaved(fmt.Sprintf("cannot save what was seen: %v: nothing is done until it can be", err))
			}
			o.StoreFault = err.Error()
			d = watchdog.Decide(s.policy, st, o)
			s.say(st, d)
			return d, o, fmt.Errorf("cannot save what was seen: %w: nothing is done until it can be", err)
		}
	}
	s.say(st, d)
	if st.Incident != nil && d.Readings.Served && fault == "" && !d.Next.ClockDoubt {
		s.forgetCases(st.Incident.ID)
	}
	if s.tell(&d) || fault != "" {
		return d, o, nil
	}
	return d, o, s.store.SaveTold(d.Next.Told)
}

// observe makes one observation.
func (s *session) observe(ctx context.Context, st watchdog.State, ranksOnly bool, skip probe.MaySkip) watchdog.Observation {
	defer s.at.begin("looking at the group")()
	if skip != nil {
		asked := skip
		skip = func(at watchdog.Clock, before watchdog.Counters) bool { return asked(at.InLifeOf(s.last), before) }
	}
	var o watchdog.Observation
	if ranksOnly {
		o = s.prober.LookAtRanks(ctx, probe.Questions{Known: st.Asked()})
	} else {
		o = s.prober.Look(ctx, probe.Questions{Known: st.Asked(), Closely: st.LooksClosely(), Skip: skip})
	}
	o.At = o.At.InLifeOf(s.last)
	o.Flag = state.ReadFlag(s.config.StateDir)
	return o
}

// remembering saves the look: a row for each, the full observation where something changed.
func (s *session) remembering(before watchdog.State, d watchdog.Decision, o watchdog.Observation, took time.Duration) error {
	row := state.Row{At: o.At, Phase: d.Next.Phase.String(), Action: d.Action.String(), Reason: d.Reason.String(), Sentence: d.Sentence(),
		Verdict: d.Condition().String(), Took: took, Deeds: deedsOf(s.policy, before, d, o)}
	if d.Readings.Served {
		row.Canary = o.Canary.Took
	}
	var full *watchdog.Observation
	if before.Phase != d.Next.Phase || s.lastReason() != row.Reason {
		full = &o
	}
	if err := s.store.SaveLook(d.Next, row, full); err != nil {
		return err
	}
	if good := lastGood(s.policy, before, d.Next, o); good != nil {
		return s.store.SaveLastGood(good)
	}
	return nil
}

// lastReason returns the reason of the look before, "" where there is none.
func (s *session) lastReason() string {
	rows, err := s.store.Rows(1)
	if err != nil || len(rows) == 0 {
		return ""
	}
	return rows[0].Reason
}

// seen returns the container id per rank as this look saw it.
func seen(o watchdog.Observation) []string {
	ids := make([]string, len(o.Ranks))
	for i, r := range o.Ranks {
		if r.Container != nil {
			ids[i] = r.Container.ID
		}
	}
	return ids
}

// ranDead says whether this look found a dead rank: then no canary can be served.
func ranDead(r watchdog.Readings) bool {
	return slices.ContainsFunc(r.Ranks, func(v watchdog.Verdict) bool { return v.Reading == watchdog.Failing })
}
