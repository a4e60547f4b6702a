package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func armCommand(a *app) *cobra.Command {
	var launch, takeOver bool
	c := &cobra.Command{
		Use:   "arm [--launch] [--take-over]",
		Short: "Let the watchdog act on exactly this config; all checks must pass first",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			return s.arm(c.Context(), launch, takeOver)
		},
	}
	c.Flags().BoolVar(&launch, "launch", false, "the group is down: launch it with the next ticks")
	c.Flags().BoolVar(&takeOver, "take-over", false, "another head, or another config of this one, claims the group: it is this one's from now on")
	return c
}

// arm runs the checks, refuses what a person will not have meant, claims the nodes, and says what
// comes next.
func (s *session) arm(ctx context.Context, launch, takeOver bool) error {
	flag := state.ReadFlag(s.config.StateDir) // the one that the person knows of
	_, o, failures, err := s.check(ctx, takeOver)
	if err != nil {
		return err
	}
	if failures > 0 {
		return codeError{exitRefused, fmt.Sprintf("cannot arm: %s failed; mend what is said above, nothing was changed", checksWords(failures))}
	}
	if text := refuseArm(o, s.config.Container, launch); text != "" {
		return codeError{exitRefused, "cannot arm: " + text}
	}
	return s.underLock(ctx, "arm", func(st watchdog.State) error {
		if err := s.claimNodes(ctx, restart.Claimant{Who: whoami(), At: s.now().Wall}, takeOver); err != nil {
			return err
		}
		return s.saveArm(st, o, flag, launch)
	})
}

// saveArm records the leave to act, and takes away the flag that the person knows of.
func (s *session) saveArm(st watchdog.State, o watchdog.Observation, flag watchdog.Flag, launch bool) error {
	arm := &watchdog.Arm{Who: whoami(), At: s.now(), Identity: s.policy.Identity, Launch: launch}
	if err := s.store.SaveArm(arm); err != nil {
		return err
	}
	if err := s.removeFlag(flag); err != nil {
		return err
	}
	s.record("armed", "armed by %s", arm.Who)
	wish := ""
	if launch {
		wish = "and launch it"
	}
	if err := s.store.Record(state.Deed{At: arm.At, Kind: deedArmed, Who: arm.Who, Text: wish}); err != nil {
		return err
	}
	st.Arm = arm
	fmt.Fprintf(s.out, "armed by %s. %s\n", arm.Who, s.whatNext(st, o))
	return nil
}

// refuseArm says what speaks against arming this, "" where nothing does.
func refuseArm(o watchdog.Observation, container string, launch bool) string {
	var missing []string
	running := 0
	for i, r := range o.Ranks {
		switch {
		case r.Container == nil:
			missing = append(missing, fmt.Sprintf("rank %d (%s)", i, r.Node))
		case r.Container.Running():
			running++
		}
	}
	switch {
	case o.Canary.Served() && len(missing) > 0:
		return fmt.Sprintf("the group serves, but %s has no container named %q: name the containers as launch.command does", strings.Join(missing, ", "), container)
	case running == 0 && !launch:
		return "no rank runs: start the group yourself, or use `cluster-watchdog arm --launch`"
	case running > 0 && launch:
		return fmt.Sprintf("%d/%d ranks run: --launch is for a group that is down; arm without it", running, len(o.Ranks))
	}
	return ""
}

// whatNext plays the next two looks through, as if they saw what was just seen.
func (s *session) whatNext(st watchdog.State, o watchdog.Observation) string {
	o.Flag = watchdog.Flag{}
	o.At = st.Arm.At.Add(s.config.Period)
	first := watchdog.Decide(s.policy, st, o)
	next := carry(first.Next, st)
	o.At = o.At.Add(s.config.Period)
	second := watchdog.Decide(s.policy, next, o)
	return fmt.Sprintf("The next tick only looks; if nothing changes, the one after it says: %s", plain(second.Sentence()))
}
