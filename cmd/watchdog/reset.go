package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cluster-watchdog/watchdog/probe"
)

func resetCommand(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "reset --reason TEXT",
		Short: "Leave GIVEN_UP and refill the budget: restarts may happen again",
		RunE: func(c *cobra.Command, _ []string) error {
			if reason == "" {
				return usageError{fmt.Errorf("cannot reset without a reason: say with --reason what was found, the next person will ask")}
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			lock, err := s.lock(c.Context(), "reset")
			if err != nil {
				return err
			}
			defer func() { _ = lock.Release() }()
			st, damage, err := s.load()
			if err != nil {
				return err
			}
			if damage != nil {
				return fmt.Errorf("cannot reset: %w: the next tick sets the database aside", damage)
			}
			now := probe.Now()
			if err := s.store.SaveReset(now); err != nil {
				return err
			}
			s.log.Info().Str("event", "reset").Str("phase", st.Phase.String()).Msgf("reset by %s: %s", whoami(), plain(reason))
			fmt.Fprintf(a.out, "reset: budget restart 0/%d in %s; the next tick goes on from phase %s\n", s.policy.BudgetCount, s.policy.BudgetWindow, st.Phase)
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "what was found")
	return c
}
