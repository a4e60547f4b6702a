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

// demoHost is the head of the demo, also where the machine has no id.
var demoHost = host{id: "demo", name: "demo"}

func demoCommand(a *app) *cobra.Command {
	var specs []string
	c := &cobra.Command{
		Use:   "demo [--fault KIND[:NODE[:SCRIPT]]]...",
		Short: "A simulated cluster on this machine: four ranks serve, one dies, the group comes back",
		Long: `A simulated cluster on this machine: four ranks serve, one dies, the group comes back.
It takes half a minute, needs no cluster, no root and no network, and changes nothing outside
a new folder in ` + os.TempDir() + `. Time runs 60 times faster.`,
		Example: faultHelp(),
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
	c.Flags().StringArrayVar(&specs, "fault", nil, "`what` goes wrong when the rank dies, and is mended later; see below")
	return c
}

// faultHelp lists what can go wrong.
func faultHelp() string {
	var b strings.Builder
	b.WriteString("KIND is one of:\n")
	for _, k := range clustertest.Kinds() {
		fmt.Fprintf(&b, "  %-18s %s\n", k, k.Help())
	}
	b.WriteString(`NODE is n1 (the head) to n4, default: all. SCRIPT is one of ` + "`cluster-watchdog plan`" + `, default: all.

Examples:
  cluster-watchdog demo --fault mount-hangs:n2
  cluster-watchdog demo --fault sshd-refuses:n4 --fault no-sudo:n3
  cluster-watchdog demo --fault container-hangs      (it gives up, and a person resets it)`)
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

// demo plays the story of an incident with the real program against a simulated cluster.
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
	d := &demo{app: &app{in: a.in, out: a.out, errs: a.out, configPath: filepath.Join(dir, "config.yaml"), host: demoHost, story: true}, cluster: cluster, faults: faults}
	if err := os.WriteFile(d.configPath, demoConfig(cluster, dir), 0o600); err != nil {
		return err
	}
	err = d.play(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		err = codeError{exitRefused, "interrupted; the simulated cluster is gone, nothing else was touched"}
	}
	fmt.Fprintf(a.out, "\nAll of it is kept in %s (config.yaml, state, cluster); `rm -r` it when done.\n", dir)
	if cases, _ := filepath.Glob(filepath.Join(dir, "state", "cases", "incident-*")); len(cases) > 0 {
		fmt.Fprintf(a.out, "Preserved logs of all ranks: zcat %s/*.logs.gz\n", cases[0])
	}
	return err
}

// demo is one story on its way.
type demo struct {
	*app
	cluster  *clustertest.Cluster
	faults   []clustertest.Fault
	chapters int
}

func (d *demo) chapter(format string, args ...any) {
	d.chapters++
	fmt.Fprintf(d.out, "\n%d. "+format+"\n", append([]any{d.chapters}, args...)...)
}

// play tells the chapters one after the other; it ends well when the group serves again.
func (d *demo) play(ctx context.Context) error {
	fmt.Fprintf(d.out, `A rank of a four-node LLM server dies, and the watchdog brings the group back.
Real: this program, its state, SSH to four nodes on loopback, the scripts there.
Played: docker, sudo, the engine. Time runs %d times faster: "6m" here is 6h by
default; only the deadlines of SSH and of scripts are as they are.
"notice:" is what notify.command would be sent.
`, demoSpeed)
	for _, chapter := range []func(context.Context) error{d.start, d.arm, d.die, d.comeBack} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) start(ctx context.Context) error {
	d.chapter("A person starts the group on %d nodes. It loads for %d s; a large model takes a quarter of an hour.", demoNodes, int(demoBoot.Seconds()))
	if err := d.cluster.StartGroup(); err != nil {
		return err
	}
	return d.ticks(ctx, func(st watchdog.State) bool { return st.Phase == watchdog.Serving }, 0)
}

func (d *demo) arm(ctx context.Context) error {
	d.chapter("The person types `cluster-watchdog arm`: from now on it may act. All checks run on all nodes first.")
	if err := d.with(func(s *session) error { return s.arm(ctx, false, false) }); err != nil {
		return err
	}
	return d.ticks(ctx, nil, 2)
}

func (d *demo) die(ctx context.Context) error {
	d.chapter("Rank %d on %s is killed. The head still says 200 on /health, and serves nobody.", demoVictim, d.cluster.Nodes[demoVictim].Name)
	var ids []int
	for _, f := range d.faults {
		where := "every node"
		if f.Node != clustertest.AnyNode {
			where = d.cluster.Nodes[f.Node].Name
		}
		fmt.Fprintf(d.out, "   And on %s: %s (%s).\n", where, f.Kind.Help(), f.Kind)
		ids = append(ids, d.cluster.Set(f))
	}
	if err := d.cluster.Crash(demoVictim, 137); err != nil {
		return err
	}
	if len(d.faults) == 0 {
		return d.ticks(ctx, over, 0)
	}
	if err := d.ticks(ctx, over, demoMended); err != nil {
		return err
	}
	d.chapter("A person mends the fault.")
	for _, id := range ids {
		d.cluster.Unset(id)
	}
	return d.ticks(ctx, over, 0)
}

// comeBack ends the story: where the watchdog has given up, a person lets it go on.
func (d *demo) comeBack(ctx context.Context) error {
	given := false
	if err := d.with(func(s *session) error {
		st, err := s.store.Load()
		given = st.Phase == watchdog.GivenUp
		return err
	}); err != nil {
		return err
	}
	if given {
		d.chapter("It has given up and leaves all as it is. A person has looked and types `cluster-watchdog reset --reason \"mended\"`.")
		if err := d.with(func(s *session) error { return s.reset(ctx, "mended") }); err != nil {
			return err
		}
		if err := d.ticks(ctx, over, 0); err != nil {
			return err
		}
	}
	d.chapter("The person types `cluster-watchdog status`.")
	return d.with(func(s *session) error {
		st, err := s.status()
		if err != nil {
			return err
		}
		s.printStatus(st)
		if st.Phase != watchdog.Serving.String() {
			return codeError{exitGivenUp, "the group does not serve again: that is not how this story should end"}
		}
		return nil
	})
}

// over says whether the story has come to an end: the group was launched anew and serves, or the
// watchdog has given up.
func over(st watchdog.State) bool {
	n := len(st.Attempts)
	back := n > 0 && !st.Attempts[n-1].Launching.IsZero() && st.Served.After(st.Attempts[n-1].Launching)
	return back || st.Phase == watchdog.GivenUp
}

// with opens the program anew, as each command does.
func (d *demo) with(do func(*session) error) error {
	s, err := d.open()
	if err != nil {
		return err
	}
	defer s.nodes.Close()
	return do(s)
}

// ticks plays the timer: a tick each period, until the state is right, or n of them where n is not
// 0. A tick that refuses or fails is part of the story.
func (d *demo) ticks(ctx context.Context, until func(watchdog.State) bool, n int) error {
	timer := time.NewTicker(time.Minute / demoSpeed)
	defer timer.Stop()
	for i := 0; n == 0 || i < n; i++ {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the group did not come back within %s: %w", briefDuration(demoPatient), ctx.Err())
		case <-timer.C:
		}
		var st watchdog.State
		err := d.with(func(s *session) error {
			if err := s.tick(ctx); exitCode(err) == exitFault {
				return err
			}
			var err error
			st, err = s.store.Load()
			return err
		})
		if err != nil {
			return err
		}
		if until != nil && until(st) {
			return nil
		}
	}
	return nil
}
