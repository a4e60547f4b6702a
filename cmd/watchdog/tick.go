package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func tickCommand(a *app) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "tick [--dry-run]",
		Short: "One run: look, decide, save, and rarely act",
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), a.host.bounds().finish)
			defer cancel()
			if !dry {
				defer a.guard(c.Context())()
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			if dry {
				return s.dryRun(ctx)
			}
			return s.tick(ctx)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be done; save nothing, do nothing")
	return c
}

// tickMargin is kept free below the unit's timeout, to write down where a hung run was.
const tickMargin = time.Minute

// tick is one run by the timer, under the lock.
func (s *session) tick(ctx context.Context) error {
	if err := refuseSharedState(s.configPath, s.config); err != nil {
		return err
	}
	through := s.at.begin("taking the lock of " + s.config.StateDir)
	lock, err := state.Acquire(ctx, s.config.StateDir, "tick", s.now)
	through()
	var busy *state.BusyError
	if errors.As(err, &busy) {
		s.tellHeld(state.StateLock, busy.Holder)
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	s.lock.Store(lock)
	return s.run(ctx)
}

// run loads, looks, decides, saves and perhaps acts. The caller holds the lock.
func (s *session) run(ctx context.Context) error {
	st, fault := s.remember()
	if l := s.lock.Load(); l != nil && fault == "" {
		s.tellBefore(l.Left())
	}
	s.leaveAlone(st)
	d, o, err := s.look(ctx, st, fault, false)
	if d.Action == watchdog.ActLookAgain && err == nil {
		if err := s.sleepUntil(ctx, o.At, s.policy.Dead.Apart); err != nil {
			return s.interrupted(ctx, "between two looks")
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

// interrupted ends a run before it has decided anything, by a signal or by its own deadline, and
// leaves that in the history.
func (s *session) interrupted(ctx context.Context, where string) error {
	end := codeError{exitRefused, "interrupted " + where + "; nothing was touched"}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		end = codeError{exitFault, s.lateWords(end.text)}
	}
	if err := s.store.Record(state.Deed{At: s.now(), Kind: deedInterrupted, Text: end.text}); err != nil {
		s.log.Error().Str("event", "save").Msg(err.Error())
	}
	return end
}

// lateWords says that our own deadline ended a run.
func (s *session) lateWords(where string) string {
	return fmt.Sprintf("cannot finish within %s: %s", briefDuration(s.host.bounds().finish), where)
}

// leaveAlone keeps this tick from asking nodes that have not accepted our key a little while ago. A
// person's commands ask at once.
func (s *session) leaveAlone(st watchdog.State) {
	for rank := range s.config.Nodes {
		if left := st.LeaveAlone(s.policy, rank, s.now()); left > 0 {
			s.nodes.LeaveAlone(rank, left)
		}
	}
}

// sleepUntil waits until so long after the look began.
func (s *session) sleepUntil(ctx context.Context, from watchdog.Clock, apart time.Duration) error {
	defer s.at.begin("waiting for a second look")()
	timer := time.NewTimer(apart - s.now().Since(from) + 10*time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dryRun says what a tick would do now. It saves nothing and needs no lock.
func (s *session) dryRun(ctx context.Context) error {
	st, damage, err := s.load()
	o := s.observe(ctx, st, false, nil)
	if fault := errors.Join(err, asError(damage)); fault != nil {
		o.StoreFault = fault.Error()
		fmt.Fprintln(s.out, "without its state: "+plain(fault.Error()))
	}
	s.askChecks(ctx, &o)
	d := watchdog.Decide(s.policy, st, o)
	fmt.Fprintln(s.out, plain(d.Sentence()))
	s.printRanks(d, o)
	if h, busy := state.ActingBy(s.config.ActingLock); busy {
		fmt.Fprintf(s.out, "a restart would wait: %s\n", actingWords(h))
	}
	return nil
}

func asError(d *state.DamageError) error {
	if d == nil {
		return nil
	}
	return d
}
