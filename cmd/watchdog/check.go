package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func checkCommand(a *app) *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use:   "check [--deep]",
		Short: "Run every check on every node as the service would, and say all that is wrong; changes nothing",
		RunE: func(c *cobra.Command, _ []string) error {
			if deep {
				return a.checkDeep(c.Context())
			}
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			_, _, failures, err := s.check(c.Context(), false)
			if err != nil {
				return err
			}
			if failures > 0 {
				return codeError{exitRefused, checksWords(failures) + " failed: a restart would be refused, and so is `cluster-watchdog arm`"}
			}
			fmt.Fprintf(s.out, "all checks passed on %d/%d nodes\n", len(s.config.Nodes), len(s.config.Nodes))
			return nil
		},
	}
	c.Flags().BoolVar(&deep, "deep", false, "under the sandbox of the installed service, with its drop-ins; needs root and systemd")
	return c
}

// check looks once, runs all checks, and prints what it finds. Nothing is saved or changed. With
// takeOver the claims of other heads are no failure.
func (s *session) check(ctx context.Context, takeOver bool) (watchdog.State, watchdog.Observation, int, error) {
	st, damage, err := s.load()
	if err != nil {
		return st, watchdog.Observation{}, 0, err
	}
	if damage != nil {
		fmt.Fprintf(s.out, "warning: %v\n", damage)
	}
	if s.targets == nil {
		return st, watchdog.Observation{}, 0, codeError{exitUsage, connectError(s.nodes).Error()}
	}
	for _, w := range s.targets[0].Warnings {
		fmt.Fprintf(s.out, "warning: %s\n", w)
	}
	if f, ok := s.errs.(*os.File); ok && isTerminal(f) {
		fmt.Fprintf(f, "looking at %d nodes and checking them, which takes up to %s where one is silent ...\n",
			len(s.config.Nodes), (lookLimit + restart.ChecksLimit).Round(time.Second))
	}
	o := s.observe(ctx, st, false, nil)
	if err := ctx.Err(); err != nil {
		return st, o, 0, codeError{exitRefused, "interrupted; nothing was changed"}
	}
	d := watchdog.Decide(s.policy, st, o)
	fmt.Fprintln(s.out, "what a look sees:")
	s.printRanks(d, o)
	s.warnings(o)
	runner := restart.NewRunner(s.plan, s.nodes, s.world(func(watchdog.NoticeKind, string, string) {}))
	c := &claims{nodes: s.config.Nodes}
	w := &checkWarnings{nodes: s.config.Nodes}
	_, failures := runner.Check(ctx, restart.Order{Seen: seen(o), TakeOver: takeOver, Heard: func(step restart.Step, rank int, res restart.Result) {
		c.hear(step, rank, res)
		w.hear(rank, res)
	}})
	if err := ctx.Err(); err != nil {
		return st, o, 0, codeError{exitRefused, "interrupted; nothing was changed"}
	}
	s.printFailures(failures)
	w.print(s.out)
	if c.ours+len(c.other) == len(c.nodes) {
		fmt.Fprintln(s.out, c.words(s.config.Group))
	}
	if h, busy := state.ActingBy(s.config.ActingLock); busy {
		fmt.Fprintf(s.out, "a restart would wait now: %s\n", actingWords(h))
	}
	return st, o, len(failures), nil
}

func (s *session) printFailures(failures []restart.Failure) {
	step, node := 0, 0
	for _, f := range failures {
		step, node = max(step, len(f.Step)), max(node, len(f.Node))
	}
	for _, f := range failures {
		fmt.Fprintf(s.out, "FAILED  %-*s  %-*s  %s\n", node, f.Node, step, f.Step, plain(f.Reason()))
	}
}

func checksWords(n int) string {
	if n == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", n)
}

// warnings tells what would make the watchdog slower or blinder than it could be.
func (s *session) warnings(o watchdog.Observation) {
	warn := func(format string, args ...any) { fmt.Fprintf(s.out, "warning: "+format+"\n", args...) }
	if o.Canary.Served() {
		s.proof(o, warn)
	}
	for i, r := range o.Ranks {
		if c := r.Container; c != nil && c.RestartsItself() {
			warn("rank %d (%s) has restart policy %q: Docker would act beside the watchdog; launch with --restart no", i, r.Node, c.RestartPolicy)
		}
		if r.Process == watchdog.Absent && o.Canary.Served() {
			warn("rank %d (%s) serves, and its process pattern matches nothing in it: correct `process`, or its death is not noticed", i, r.Node)
		}
		if c := r.Container; c != nil && c.AutoRemove {
			warn("rank %d (%s) removes itself when it dies (--rm): its logs are lost then", i, r.Node)
		}
	}
	if s.config.Notify.Command == "" {
		warn("notify.command is not set: nobody would be told of anything")
	}
}

// proof tells whether a served canary has moved the engine's own counters: only then can counters
// that stand still say, together with a canary that is not served, that this engine hangs.
func (s *session) proof(o watchdog.Observation, warn func(string, ...any)) {
	soon, late := briefDuration(s.policy.NoProgress.Over), briefDuration(s.policy.NoProgressBlind.Over)
	switch o.Proof() {
	case watchdog.ProofMoved:
		fmt.Fprintf(s.out, "  %-8s the canary moves the engine's own counters: a hang is noticed after %s\n", "proved", soon)
	case watchdog.ProofAmongOthers:
		fmt.Fprintf(s.out, "  %-8s the counters moved with the canary, but others were served too: try again when it is idle to be sure\n", "likely")
	case watchdog.ProofPart:
		warn("the counters at %s lack iterations, prompt or generation: a hang is noticed after %s instead of %s; launch the server with all its metrics (SGLang: --enable-metrics)",
			s.config.MetricsURL(), late, soon)
	case watchdog.ProofStill:
		warn("the canary at %s was served, but the counters at %s stood still: a hang is noticed after %s instead of %s; "+
			"set server.metrics_url to the /metrics of the engine that serves %s, or server.model to a model of that engine",
			s.config.Server.URL, s.config.MetricsURL(), late, soon, plain(o.Canary.Model))
	default:
		warn("no engine counters at %s: a hang is noticed after %s instead of %s; set server.metrics_url, and launch the server with its metrics (SGLang: --enable-metrics)",
			s.config.MetricsURL(), late, soon)
	}
}
