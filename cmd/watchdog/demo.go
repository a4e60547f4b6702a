package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/restart/clustertest/fakenode"
	"cluster-watchdog/watchdog"
)

const (
	demoNodes   = 4
	demoSpeed   = 60 // times faster than the defaults: a minute is a second
	demoBoot    = 4 * time.Second
	demoVictim  = 2               // rank that is killed
	demoMended  = 6               // ticks after which a --fault is taken away
	demoPatient = 5 * time.Minute // then the demo has failed
)

func demoCommand(a *app) *cobra.Command {
	var specs []string
	c := &cobra.Command{
		Use:   "demo [--fault KIND:NODE:STEP]...",
		Short: "A simulated cluster on this machine: four ranks serve, one dies, the group comes back. Time runs 60 times faster.",
		RunE: func(c *cobra.Command, _ []string) error {
			var faults []clustertest.Fault
			for _, spec := range specs {
				f, err := clustertest.ParseFault(spec)
				if err != nil {
					return usageError{err}
				}
				if err := f.Fits(demoNodes); err != nil {
					return usageError{err}
				}
				faults = append(faults, f)
			}
			return a.demo(c.Context(), faults)
		},
	}
	c.Flags().StringArrayVar(&specs, "fault", nil, "a fault that stands when the rank dies and is mended later, like sshd-refuses:n4 or mount-hangs:n2; KIND is one of:"+faultKinds())
	return c
}

func faultKinds() string {
	var b strings.Builder
	for _, k := range clustertest.Kinds() {
		fmt.Fprintf(&b, "\n%s: %s", k, k.Help())
	}
	return b.String()
}

// demoNodeCommand plays docker and other programs inside the demo's nodes.
func demoNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "demo-node PROGRAM ARGS",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if code := fakenode.Main(args[0], args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); code != 0 {
				return codeError{code: code}
			}
			return nil
		},
	}
}

// demo plays MISSION's story with the real program against a simulated cluster: real SSH, real
// scripts, real state; only docker and the engine are played.
func (a *app) demo(ctx context.Context, faults []clustertest.Fault) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatient)
	defer cancel()
	dir, err := os.MkdirTemp("", "watchdog-demo-")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cluster, err := clustertest.Start(clustertest.Options{
		Nodes: demoNodes, Dir: filepath.Join(dir, "cluster"), Programs: self, ProgramArgs: []string{"demo-node"}, BootTime: demoBoot,
	})
	if err != nil {
		return err
	}
	defer cluster.Close()
	a.configPath = filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(a.configPath, demoConfig(cluster, dir), 0o600); err != nil {
		return err
	}
	err = a.demoStory(ctx, cluster, faults)
	if errors.Is(ctx.Err(), context.Canceled) {
		err = codeError{exitRefused, "interrupted"}
	}
	fmt.Fprintf(a.out, "\n# Everything of this demo is in %s; preserved logs:\n", dir)
	logs, _ := filepath.Glob(filepath.Join(dir, "state", "cases", "*", "*.gz"))
	for _, l := range logs {
		fmt.Fprintln(a.out, "  "+l)
	}
	return err
}

func (a *app) demoStory(ctx context.Context, cluster *clustertest.Cluster, faults []clustertest.Fault) error {
	chapter := func(format string, args ...any) { fmt.Fprintf(a.out, "\n# "+format+"\n", args...) }

	chapter("A person starts the group on %d nodes; it loads for %s (15 minutes in real life).", demoNodes, demoBoot)
	if err := cluster.StartGroup(); err != nil {
		return err
	}
	if err := a.demoTicks(ctx, func(st watchdog.State) bool { return st.Phase == watchdog.Serving }, 0); err != nil {
		return err
	}

	chapter("watchdog arm: all checks run on all nodes first.")
	s, err := a.open()
	if err != nil {
		return err
	}
	err = s.arm(ctx, false)
	s.nodes.Close()
	if err != nil {
		return err
	}
	if err := a.demoTicks(ctx, nil, 2); err != nil {
		return err
	}

	chapter("Rank %d on %s is killed. The head still says 200 on /health.", demoVictim, cluster.Nodes[demoVictim].Name)
	var ids []int
	for _, f := range faults {
		ids = append(ids, cluster.Set(f))
	}
	if err := cluster.Crash(demoVictim, 137); err != nil {
		return err
	}
	if len(faults) > 0 {
		if err := a.demoTicks(ctx, nil, demoMended); err != nil {
			return err
		}
		chapter("The fault is mended.")
		for _, id := range ids {
			cluster.Unset(id)
		}
	}
	err = a.demoTicks(ctx, func(st watchdog.State) bool {
		n := len(st.Attempts)
		back := n > 0 && !st.Attempts[n-1].Launching.IsZero() && st.Served.After(st.Attempts[n-1].Launching)
		return back || st.Phase == watchdog.GivenUp
	}, 0)
	if err != nil {
		return err
	}

	chapter("watchdog status")
	if s, err = a.open(); err != nil {
		return err
	}
	defer s.nodes.Close()
	st, err := s.status()
	if err != nil {
		return err
	}
	s.printStatus(st)
	if st.Phase != watchdog.Serving.String() {
		return codeError{exitGivenUp, "the group does not serve again; with this fault that may be right, see above"}
	}
	return nil
}

// demoTicks plays the timer: a tick each period, n of them or until the phase is right. A tick
// that refuses or fails is part of the story.
func (a *app) demoTicks(ctx context.Context, until func(watchdog.State) bool, n int) error {
	timer := time.NewTicker(time.Minute / demoSpeed)
	defer timer.Stop()
	for i := 0; until != nil || i < n; i++ {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the group did not come back within %s: %w", demoPatient, ctx.Err())
		case <-timer.C:
		}
		s, err := a.open()
		if err != nil {
			return err
		}
		err = s.tick(ctx)
		s.nodes.Close()
		if exitCode(err) == exitFault {
			return err
		}
		st, err := s.store.Load()
		if err != nil {
			return err
		}
		if until != nil && until(st) {
			return nil
		}
	}
	return nil
}
