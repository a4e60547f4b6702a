package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func resetCommand(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "reset --reason TEXT",
		Short: "Leave GIVEN_UP and refill the budget: restarts may happen again",
		RunE: func(c *cobra.Command, _ []string) error {
			if reason = plain(reason); reason == "" {
				return usageError{fmt.Errorf("cannot reset without a reason: say with --reason what was found, the next person will ask")}
			}
			s, err := a.openMemory()
			if err != nil {
				return err
			}
			return s.reset(c.Context(), reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`what` was found")
	return c
}

// reset is recorded under the lock: a restart in its middle keeps its budget.
func (s *session) reset(ctx context.Context, reason string) error {
	return s.underLock(ctx, "reset", func(st watchdog.State) error {
		now := s.now()
		if err := s.store.SaveReset(now); err != nil {
			return err
		}
		s.record("reset", "reset by %s: %s", whoami(), reason)
		if err := s.store.Record(state.Deed{At: now, Kind: deedReset, Who: whoami(), Text: reason}); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "reset by %s: budget restart 0/%d in %s; the next tick goes on from phase %s\n",
			whoami(), s.policy.BudgetCount, briefDuration(s.policy.BudgetWindow), st.Phase)
		return nil
	})
}
