package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func stopCommand(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "stop --reason TEXT",
		Short: "Disarm, preserve the logs, and remove the group; nothing starts it again but you",
		Long: `Disarm, preserve the logs, and remove the group on every node that answers. A silent node keeps
none of the others from being stopped, and is named. Nothing starts the group again but you:
` + "`cluster-watchdog arm --launch`" + ` does, or your own start and ` + "`cluster-watchdog arm`" + `.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if reason = plain(reason); reason == "" {
				return noReason("stop")
			}
			outliveTerminal()
			s, err := a.openForPerson()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			return s.stop(c.Context(), reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`why`, for those who come later")
	return c
}

// stop disarms first, so that a restart that runs ends before its next step and no tick begins one.
func (s *session) stop(ctx context.Context, reason string) error {
	now := s.now()
	flag := watchdog.Flag{Present: true, Who: whoami(), When: now.Wall, Reason: "stopped: " + reason}
	if before := state.ReadFlag(s.config.StateDir); before.Present && before.Reason != flag.Reason {
		flag.Reason += fmt.Sprintf(" (before that disarmed by %q: %q)", before.Who, before.Reason)
	}
	if err := state.WriteFlag(s.config.StateDir, flag); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "disarmed until `cluster-watchdog arm`")
	var a watchdog.Attempt
	var failures []restart.Failure
	err := s.underLock(ctx, "stop", func(st watchdog.State) (err error) {
		a, failures, err = s.stopNow(ctx, st, reason)
		return err
	})
	var busy *state.BusyError
	switch {
	case errors.As(err, &busy):
		return fmt.Errorf("cannot stop the group yet: %w; it is disarmed, so that one ends before its next step: stop again then", err)
	case err != nil:
		return err
	}
	return s.answerStop(a, failures)
}

// stopNow removes the group, under the lock.
func (s *session) stopNow(ctx context.Context, st watchdog.State, reason string) (watchdog.Attempt, []restart.Failure, error) {
	flag := state.ReadFlag(s.config.StateDir) // as it is read back
	o := s.observe(ctx, st, false, nil)
	if ctx.Err() != nil {
		return watchdog.Attempt{}, nil, codeError{exitRefused, "interrupted while looking; nothing was removed, and it stays disarmed"}
	}
	id, err := s.store.NextAttemptID()
	if err != nil {
		return watchdog.Attempt{}, nil, err
	}
	a := watchdog.Attempt{ID: id, By: whoami(), Why: reason, Stop: true, Incident: incidentOf(st)}
	d := watchdog.Decide(s.policy, st, o)
	s.sayWhatGoes("stop", a, d, o)
	s.log.Warn().Str("event", "stop").Int("attempt", a.ID).Str("by", a.By).Str("phase", st.Phase.String()).
		Msgf("STOP begin, asked for by %s: %s", plain(a.By), plain(a.Why))
	var failures []restart.Failure
	a, err = s.watching(true, func(see func(restart.Progress)) (a2 watchdog.Attempt, err error) {
		runner := restart.NewRunner(s.plan, s.nodes, s.personsWorld(flag, see))
		a2, failures, err = runner.Stop(ctx, s.order(st, d, o, a))
		return a2, err
	})
	return a, failures, err
}

func (s *session) answerStop(a watchdog.Attempt, failures []restart.Failure) error {
	for _, f := range failures {
		fmt.Fprintf(s.out, "NOT STOPPED  %s: %s\n", f.Node, plain(f.Error()))
	}
	const again = "; it stays disarmed, stop again once that is mended"
	switch a.Outcome {
	case watchdog.OutcomeStopped:
		fmt.Fprintf(s.out, "stopped: no rank is left on %d/%d nodes; `cluster-watchdog arm --launch` launches it again\n", len(s.config.Nodes), len(s.config.Nodes))
		return nil
	case watchdog.OutcomeBroken:
		return codeError{exitBroken, "cannot stop " + nodesWords(failures) + again}
	case watchdog.OutcomeRefused:
		return codeError{exitRefused, "cannot stop " + nodesWords(failures) + again}
	default:
		return codeError{exitRefused, plain(a.Error) + again}
	}
}

// nodesWords counts the nodes, and says that the others are stopped.
func nodesWords(failures []restart.Failure) string {
	nodes := map[string]bool{}
	for _, f := range failures {
		nodes[f.Node] = true
	}
	if len(nodes) == 1 {
		return failures[0].Node
	}
	return fmt.Sprintf("%d nodes", len(nodes))
}
