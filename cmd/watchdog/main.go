// Command watchdog notices when a multi-node LLM server is dead, hung or lying about its health,
// saves the evidence, and restarts the whole group over SSH. It is fired each minute by a systemd
// timer; between two runs nothing of it is alive.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(runOn(thisHost())) }

// runOn carries out the command line of this process as that head and returns the exit code.
func runOn(h host) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // a second one ends at once
	// A reader that has gone, as in `tick 2>&1 | head`, must not end a restart halfway.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return (&app{in: os.Stdin, out: os.Stdout, errs: os.Stderr, host: h}).run(ctx, os.Args[1:])
}

// endings are the signals after which a command saves how far it got and ends. A closed terminal is
// one of them, except under nohup.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// run carries out one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(a.errs, "watchdog: "+strings.TrimRight(line, "\n"))
		}
	}
	return exitCode(err)
}

const usage = `Usage: cluster-watchdog [--config FILE] COMMAND

Look after the group of a multi-node LLM server.

  check     run every check; says all that is wrong. --deep: in the service's own sandbox
  arm       let the watchdog act on exactly this config
  disarm    keep looking, never act (maintenance)
  status    phase, last look, budget, who is at work
  plan      the restart sequence, and as whom it connects
  restart   restart the group now; not counted
  stop      disarm, preserve the logs, remove the group
  reset     let restarts happen again after GIVEN_UP
  history   phases, attempts, and who did what
  explain   why a look was judged so, rule by rule
  tick      one run, as the timer makes it
  demo      a simulated cluster: one rank dies and comes back
  install   put this program and its units in place; uninstall removes them
  version   version and build time
  completion bash|zsh|fish|powershell

Config: ` + defaultConfigPath + `, or --config (-c) FILE.
"cluster-watchdog COMMAND --help" says more.

Examples:
  cluster-watchdog check && cluster-watchdog arm
  cluster-watchdog disarm --reason "new model" --for 2h
  cluster-watchdog tick --dry-run
  journalctl -u cluster-watchdog EVENT=restart

Exit codes: 0 fine, 1 fault, 2 usage or config, 3 refused, 4 broken, 5 given up, 75 busy.
`

// newRoot returns the command line.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "cluster-watchdog",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			fmt.Fprint(c.OutOrStdout(), usage)
			return nil
		},
		Args: orUsage(cobra.NoArgs),
	}
	root.SetUsageFunc(func(c *cobra.Command) error {
		fmt.Fprint(c.OutOrStderr(), helpOf(c))
		return nil
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { fmt.Fprint(c.OutOrStdout(), helpOf(c)) })
	root.SetFlagErrorFunc(seeHelp)
	root.PersistentFlags().StringVarP(&a.configPath, "config", "c", defaultConfigPath, "config file")
	for _, command := range []*cobra.Command{
		tickCommand(a), statusCommand(a), planCommand(a), checkCommand(a), armCommand(a),
		disarmCommand(a), restartCommand(a), stopCommand(a), historyCommand(a), explainCommand(a), resetCommand(a), demoCommand(a), demoNodeCommand(),
		examineStateCommand(), viewCommand(a),
		installCommand(a), uninstallCommand(a), versionCommand(a),
	} {
		command.Args = orUsage(command.Args)
		command.DisableFlagsInUseLine = true // they stand in Use
		root.AddCommand(command)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.InitDefaultHelpFlag()
		c.Flags().Lookup("help").Hidden = true
		if c.Name() == "completion" {
			c.Use, c.Long = "completion bash|zsh|fish|powershell", ""
			c.Short = "Print what a shell needs to complete our words, say into /etc/bash_completion.d/cluster-watchdog"
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(*cobra.Command, []string) error {
				return usageError{fmt.Errorf("cannot print a completion: name a shell, bash, zsh, fish or powershell")}
			}
		}
	}
	return root
}

// helpOf is the screen of one command.
func helpOf(c *cobra.Command) string {
	if !c.HasParent() {
		return usage
	}
	text := c.Short + ".\n"
	if c.Long != "" {
		text = c.Long + "\n"
	}
	text += "\nUsage: " + c.UseLine() + "\n" + c.LocalFlags().FlagUsages()
	if c.Example != "" {
		text += "\n" + c.Example + "\n"
	}
	return text
}

// orUsage makes a wrong number of arguments an error of usage; none are wanted where args is nil.
func orUsage(args cobra.PositionalArgs) cobra.PositionalArgs {
	if args == nil {
		args = cobra.NoArgs
	}
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return seeHelp(c, err)
		}
		return nil
	}
}

// seeHelp is for a wrong command line that does not say by itself what would be right.
func seeHelp(c *cobra.Command, err error) error {
	return usageError{fmt.Errorf("%w: `%s --help` shows what there is", err, c.CommandPath())}
}
