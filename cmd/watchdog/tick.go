package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

func tickCommand(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "tick [--dry-run]",
		Short: "One run: look, decide, save, and rarely act",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			if dry {
				return s.dryRun(c.Context())
			}
			return s.tick(c.Context())
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done; save nothing, do nothing")
	return c
}

// tickMargin is kept free below the unit's timeout, to write down where a hung run was.
const tickMargin = time.Minute

// tick is one run by the timer: under the lock it loads, looks, decides, saves and perhaps acts.
func (s *session) tick(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, unitTimeout-tickMargin)
	defer cancel()
	lock, err := state.Acquire(ctx, s.config.StateDir, "tick", time.Now)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	st, fault := s.remember()
	d, o, err := s.look(ctx, st, fault, false)
	if d.Action == watchdog.ActLookAgain && err == nil {
		if err := s.sleepUntil(ctx, o.At, s.policy.Dead.Apart); err != nil {
			return codeError{exitRefused, "interrupted between two looks; nothing was touched"}
		}
		d, o, err = s.look(ctx, carry(d.Next, st), fault, true)
	}
	if err != nil {
		return err
	}
	if fault != "" {
		return codeError{exitFault, "cannot keep state: " + fault}
	}
	return s.act(ctx, d, o)
}

// remember loads the state. A damaged database is set aside, with the disarmed flag written first;
// one that cannot be read at all leaves us looking without a memory. Both are told.
func (s *session) remember() (st watchdog.State, fault string) {
	st, damage, err := s.load()
	switch {
	case damage != nil:
		return watchdog.State{}, s.setAside(damage)
	case err != nil:
		return watchdog.State{}, err.Error()
	}
	return st, ""
}

// setAside replaces a damaged database, disarms, and tells; it returns why that failed.
func (s *session) setAside(damage *state.DamageError) (fault string) {
	aside, err := s.store.SetAside(time.Now(), damage.Cause.Error())
	text := fmt.Sprintf("the state %s was damaged (%v): kept as %s, and disarmed; start with `cluster-watchdog check`, then `cluster-watchdog arm`",
		damage.Path, damage.Cause, orUnknown(aside))
	if err != nil {
		fault = fmt.Sprintf("the state %s is damaged (%v): %v", damage.Path, damage.Cause, err)
		text = fault
	}
	s.notify(watchdog.NoticeSetAside, text)
	return fault
}

// carry gives a next state the records that Decide reads and others write.
func carry(next, from watchdog.State) watchdog.State {
	next.Attempts, next.Arm, next.Reset, next.LastGood = from.Attempts, from.Arm, from.Reset, from.LastGood
	return next
}

// look looks once, decides, saves and tells. When saving fails the decision is made again with
// that fact, and it can only be to do nothing.
func (s *session) look(ctx context.Context, st watchdog.State, fault string, ranksOnly bool) (watchdog.Decision, watchdog.Observation, error) {
	began := time.Now()
	o := s.observe(ctx, st, ranksOnly)
	o.StoreFault = fault
	if err := ctx.Err(); err != nil {
		return watchdog.Decision{}, o, codeError{exitRefused, "interrupted while looking; nothing was touched"}
	}
	d := watchdog.Decide(s.policy, st, o)
	if fault == "" {
		if err := s.remembering(st, d, o, time.Since(began)); err != nil {
			var damage *state.DamageError
			if errors.As(err, &damage) { // found in a page that loading never reads
				s.setAside(damage)
			}
			o.StoreFault = err.Error()
			d = watchdog.Decide(s.policy, st, o)
			s.say(st, d)
			return d, o, fmt.Errorf("cannot save what was seen: %w: nothing is done until it can be", err)
		}
	}
	s.say(st, d)
	if s.tell(&d) || fault != "" {
		return d, o, nil
	}
	return d, o, s.store.SaveTold(d.Next.Told)
}

// tell lets people hear of the notices of a look. What did not get through is not told yet: the
// next look says it again. It returns whether all did.
func (s *session) tell(d *watchdog.Decision) (all bool) {
	all = true
	for _, n := range d.Notices {
		if !s.notify(n.Kind, n.Text) && n.Key != "" {
			all = false
			d.Next.Told = slices.DeleteFunc(d.Next.Told, func(key string) bool { return key == n.Key })
		}
	}
	return all
}

// observe makes one observation.
func (s *session) observe(ctx context.Context, st watchdog.State, ranksOnly bool) watchdog.Observation {
	var o watchdog.Observation
	if ranksOnly {
		o = s.prober.LookAtRanks(ctx, st.Ranks)
	} else {
		o = s.prober.Look(ctx, st.Ranks)
	}
	o.Flag = state.ReadFlag(s.config.StateDir)
	return o
}

// remembering saves the look: a row for each, the full observation where something changed.
func (s *session) remembering(before watchdog.State, d watchdog.Decision, o watchdog.Observation, took time.Duration) error {
	row := state.Row{At: o.At, Phase: d.Next.Phase.String(), Action: d.Action.String(), Reason: d.Reason.String(), Sentence: d.Sentence(), Took: took}
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

// lastGood describes a boot of ours that has just served; nil where none has.
func lastGood(p watchdog.Policy, before, next watchdog.State, o watchdog.Observation) *watchdog.LastGood {
	if len(before.Attempts) == 0 || !justServed(next, o.At) {
		return nil
	}
	a := before.Attempts[len(before.Attempts)-1]
	if a.Launching.IsZero() || before.Served.After(a.Launching) || next.PersonStart.After(a.Launching) {
		return nil // that launch has served before, or this start is somebody else's
	}
	good := &watchdog.LastGood{At: o.At, Identity: p.Identity, MemFree: a.MemFree, Boot: o.At.Since(a.Launching)}
	for _, r := range o.Ranks {
		image := ""
		if r.Container != nil {
			image = r.Container.ImageID
		}
		good.Images = append(good.Images, image)
	}
	return good
}

// say writes the one sentence of this look to the journal.
func (s *session) say(before watchdog.State, d watchdog.Decision) {
	phase := d.Next.Phase.String()
	event := func(e *zerolog.Event, name string) *zerolog.Event { return e.Str("event", name).Str("phase", phase) }
	if justServed(d.Next, d.Next.Last) {
		event(s.log.Info(), "serving").Msg("health OK → SERVING")
		return
	}
	e, name := s.log.Info(), "tick"
	switch {
	case d.Next.Phase == watchdog.GivenUp && before.Phase != watchdog.GivenUp:
		e, name = s.log.Error(), "gave-up"
	case d.Action == watchdog.ActRestart, d.Action == watchdog.ActLaunch, d.Action == watchdog.ActResume:
		e, name = s.log.Warn(), "restart"
	case d.Wanted != watchdog.ActNone, len(d.Next.Strikes) > 0:
		e = s.log.Warn()
	}
	event(e, name).Str("reason", d.Reason.String()).Msg(plain(d.Sentence()))
}

// justServed says whether the look at that time made the phase SERVING by a completion. A reset makes
// it SERVING without one.
func justServed(next watchdog.State, at watchdog.Clock) bool {
	return next.Phase == watchdog.Serving && next.Since.Equal(at) && next.Served.Equal(at)
}

// sleepUntil waits until so long after the look began.
func (s *session) sleepUntil(ctx context.Context, from watchdog.Clock, apart time.Duration) error {
	timer := time.NewTimer(apart - probe.Now().Since(from) + 10*time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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

// dryRun says what a tick would do now. It saves nothing and needs no lock.
func (s *session) dryRun(ctx context.Context) error {
	st, damage, err := s.load()
	o := s.observe(ctx, st, false)
	if fault := errors.Join(err, asError(damage)); fault != nil {
		o.StoreFault = fault.Error()
	}
	d := watchdog.Decide(s.policy, st, o)
	fmt.Fprintln(s.out, plain(d.Sentence()))
	s.printRanks(d, o)
	return nil
}

func asError(d *state.DamageError) error {
	if d == nil {
		return nil
	}
	return d
}
