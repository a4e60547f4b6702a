package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart"
	"cluster-watchdog/scripts"
)

func planCommand(a *app) *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use:   "plan [--show]",
		Short: "The restart sequence in its order, and as whom it connects to which node",
		RunE: func(*cobra.Command, []string) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			s.printPlan(show)
			return nil
		},
	}
	c.Flags().BoolVar(&show, "show", false, "also print where each value came from, and every script that runs on a node")
	return c
}

func (s *session) printPlan(show bool) {
	fmt.Fprintf(s.out, "Restart of group %q, container %q, at most %s:\n", s.config.Group, s.config.Container, s.plan.Longest())
	committed, wide := false, 0
	for _, step := range s.plan.Steps() {
		wide = max(wide, len(step.Name))
	}
	fmt.Fprintf(s.out, "    %-*s %-9s %-8s %-7s %s\n", wide, "step", "class", "on", "limit", "script")
	for i, step := range s.plan.Steps() {
		if !committed && step.Class() > scripts.Claim {
			fmt.Fprintln(s.out, "    -- commit: until here no container was touched --")
			committed = true
		}
		script := step.Script
		if step.OneByOne {
			script += ", one node after the other"
		}
		fmt.Fprintf(s.out, "%3d %-*s %-9s %-8s %-7s %s\n", i+1, wide, step.Name, step.Class(), step.On, step.Timeout, script)
	}
	fmt.Fprintf(s.out, "launch command: %s\n\nNodes:\n", s.config.Launch.Command)
	if s.targets == nil {
		fmt.Fprintf(s.out, "  %s\n", strings.ReplaceAll(connectError(s.nodes).Error(), "\n", "\n  "))
	}
	for rank, t := range s.targets {
		role := "worker"
		if rank == 0 {
			role = "head"
		}
		fmt.Fprintf(s.out, "  rank %d %-7s %-12s %s@%s", rank, role, t.Name, t.User, net.JoinHostPort(t.Host, strconv.Itoa(t.Port)))
		for via := t.Via; via != nil; via = via.Via {
			fmt.Fprintf(s.out, " through %s@%s", via.User, net.JoinHostPort(via.Host, strconv.Itoa(via.Port)))
		}
		if t.HostKeyAlias != "" {
			fmt.Fprintf(s.out, ", host key alias %s", t.HostKeyAlias)
		}
		fmt.Fprintf(s.out, ", key %s, known_hosts %s\n", strings.Join(t.Keys, " or "), t.KnownHosts)
		for _, w := range t.Warnings {
			fmt.Fprintf(s.out, "    warning: %s\n", w)
		}
		if show {
			s.printSources(t, "    ")
		}
	}
	fmt.Fprintf(s.out, "\nClaim on each node, in ~/.local/state/cluster-watchdog/HOSTNAME/claims/%s:\n  %s\n", s.config.Group,
		strings.ReplaceAll(s.plan.Claim(restart.Claimant{}), "\n", "\n  "))
	fmt.Fprintf(s.out, "\nOne group of this machine acts at a time, under %s.\n", s.config.ActingLock)
	if !show {
		return
	}
	fmt.Fprintf(s.out, "\n--- sent before each script\n%s", scripts.Front())
	for _, script := range scripts.All() {
		fmt.Fprintf(s.out, "\n--- %s (%s)\n%s", script.Name(), script.Class(), script.Body())
	}
}

// printSources says where each value came from, also of the jump hosts on the way.
func (s *session) printSources(t restart.Target, indent string) {
	for _, v := range t.Sources {
		fmt.Fprintf(s.out, "%s%-14s %s, from %s\n", indent, v.What, v.Value, v.From)
	}
	if t.Via != nil {
		fmt.Fprintf(s.out, "%sthrough %s:\n", indent, t.Via.Name)
		s.printSources(*t.Via, indent+"  ")
	}
}

// connectError is why no node can be connected to.
func connectError(n nodes) error {
	if noted, ok := n.(notedNodes); ok {
		n = noted.nodes
	}
	if u, ok := n.(unresolved); ok {
		return u.err
	}
	return nil
}
