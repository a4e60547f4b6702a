package main

import (
	"context"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
)

// examineState is the hidden command by which this program examines its database in a process of its
// own: what a damaged file does to that one, it does not do to us.
const examineState = "examine-state"

func examineStateCommand() *cobra.Command {
	return &cobra.Command{
		Use:    examineState + " FILE",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		Run:    func(c *cobra.Command, args []string) { state.Answer(args[0], c.OutOrStdout()) },
	}
}

// openState opens the state of a folder.
func openState(dir string) (*state.Store, error) { return state.Open(dir, state.InChild(examination)) }

// examination is this very program, also where an upgrade has put another one in its place meanwhile.
func examination(ctx context.Context, path string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/proc/self/exe", examineState, path)
	c.Args[0] = os.Args[0]
	return c
}
