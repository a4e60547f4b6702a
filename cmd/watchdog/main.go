// Command watchdog notices when a multi-node LLM server is dead, hung or lying about its health,
// saves the evidence, and restarts the whole group over SSH. It is fired each minute by a systemd
// timer; between two runs nothing of it is alive.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintln(a.errs, "watchdog: "+err.Error())
	}
	return exitCode(err)
}

const usage = `Usage: watchdog [--config FILE] COMMAND

Look after the group of a multi-node LLM server.

  check     run every check as the service would; says all that is wrong
  arm       let the watchdog act on exactly this config
  disarm    keep looking, never act (maintenance)
  status    phase, last look, budget, who is at work
  plan      the restart sequence, and as whom it connects
  reset     let restarts happen again after GIVEN_UP
  tick      one run, as the timer makes it
  demo      a simulated cluster: one rank dies and comes back
  version   version and build time
  completion SHELL

Examples:
  watchdog check && watchdog arm
  watchdog disarm --reason "new model" --for 2h
  watchdog tick --dry-run
  journalctl -u cluster-watchdog EVENT=restart

Exit codes: 0 fine, 1 fault, 2 usage or config, 3 refused, 4 broken, 5 given up, 75 busy.
`

// newRoot returns the command line.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "watchdog",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(c.OutOrStdout(), usage)
			return nil
		},
		Args: cobra.NoArgs,
	}
	root.SetUsageFunc(func(c *cobra.Command) error {
		if c != root {
			fmt.Fprintf(c.OutOrStderr(), "Usage: %s\n%s", c.UseLine(), c.LocalFlags().FlagUsages())
			return nil
		}
		fmt.Fprint(c.OutOrStderr(), usage)
		return nil
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if c == root {
			fmt.Fprint(c.OutOrStdout(), usage)
			return
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\n\nUsage: %s\n%s", c.Short, c.UseLine(), c.LocalFlags().FlagUsages())
	})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: `%s --help` shows what there is", err, c.CommandPath())}
	})
	root.PersistentFlags().StringVarP(&a.configPath, "config", "c", defaultConfigPath, "config file")
	for _, command := range []*cobra.Command{
		tickCommand(a), statusCommand(a), planCommand(a), checkCommand(a), armCommand(a),
		disarmCommand(a), resetCommand(a), demoCommand(a), demoNodeCommand(), versionCommand(a),
	} {
		command.Args = orUsage(command.Args)
		root.AddCommand(command)
	}
	return root
}

// orUsage makes a wrong number of arguments an error of usage; none are wanted where args is nil.
func orUsage(args cobra.PositionalArgs) cobra.PositionalArgs {
	if args == nil {
		args = cobra.NoArgs
	}
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return usageError{err}
		}
		return nil
	}
}
