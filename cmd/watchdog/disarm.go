package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

func disarmCommand(a *app) *cobra.Command {
	var reason string
	var length time.Duration
	c := &cobra.Command{
		Use:   "disarm --reason TEXT [--for TIME]",
		Short: "Keep looking and recording, never act; takes effect at once, also in the middle of a restart",
		RunE: func(c *cobra.Command, _ []string) error {
			if reason = plain(reason); reason == "" {
				return noReason("disarm")
			}
			if length < 0 {
				return usageError{fmt.Errorf("cannot disarm for %s: give a time like 2h or 90m", briefDuration(length))}
			}
			return a.disarm(c.Context(), reason, length)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`why`, for those who come later")
	c.Flags().DurationVar(&length, "for", 0, "end by itself after this `TIME`, such as 2h or 90m, if all checks pass and a rank runs then (default: never; arm ends it)")
	return c
}

// disarm writes the flag. It needs neither the database nor the lock, so that nothing can be in
// the way of a person who wants this to stop.
func (a *app) disarm(ctx context.Context, reason string, length time.Duration) error {
	c, err := loadConfig(a.configPath)
	if err != nil {
		return fmt.Errorf("%w\n(`touch %s` disarms without a config)", err, state.FlagPath(defaultConfig().StateDir))
	}
	now := probe.Now()
	f := watchdog.Flag{Present: true, Who: whoami(), When: now.Wall, Reason: reason}
	until := "until `cluster-watchdog arm`"
	if length > 0 {
		f.Until, f.Ends = now.Wall.Add(length), now.Add(length)
		until = "until " + timeWords(f.Until)
	}
	if err := state.WriteFlag(c.StateDir, f); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "disarmed %s: %s\n", until, reason)
	a.record("disarmed", "disarmed by %s %s: %s", f.Who, until, reason)
	if h, busy := state.HeldBy(c.StateDir); busy {
		fmt.Fprintf(a.out, "another watchdog is running (%s): it stops before its next destructive or launching step\n", h)
		a.follow(ctx, c.StateDir, h)
	}
	return nil
}
