package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rs/zerolog"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Remote runs scripts on nodes, by rank. *Conns is one.
type Remote interface {
	Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (Result, error)
	Stream(ctx context.Context, rank int, s scripts.Script, env map[string]string, w io.Writer) (Result, error)
}

// Order is what one tick wants the runner to do.
type Order struct {
	Attempt  watchdog.Attempt           // a new one, or the open one that goes on
	Looked   watchdog.Clock             // when this tick's look began; zero: nobody looked
	Seen     []string                   // container id per rank as this tick's look saw it; "": none
	Started  []string                   // when each of these was started, by its node
	MemFloor []int64                    // bytes per rank that must be free before a launch; 0: unknown
	Canary   func(context.Context) bool // asked beside the checks: served means stop; nil: not asked
	Claimant Claimant                   // by whose word the nodes are claimed
	TakeOver bool                       // claims of others are no failure of a check, and are replaced by Claim
	Heard    func(Step, int, Result)    // hears the answer of each check that passed on a rank; nil: its warnings are logged
}

// World is what the runner touches besides the nodes.
type World struct {
	Clock  func() watchdog.Clock
	Save   func(watchdog.Attempt) error // has it on disk when it returns nil
	Switch func() watchdog.Flag         // reads the disarmed flag now
	Local  map[string]func() error      // checks on the head itself, by name
	Notice func(kind watchdog.NoticeKind, key, text string)
	Log    zerolog.Logger

	Progress func(Progress) // optional: what happens, as it happens; called by several goroutines
	Finish   bool           // an interrupt waits for the destructive or launching step that runs
}

// Runner carries out plans.
type Runner struct {
	plan   *Plan
	remote Remote
	world  World
}

// NewRunner returns a runner of that plan.
func NewRunner(p *Plan, r Remote, w World) *Runner {
	return &Runner{plan: p, remote: r, world: w}
}

// Failure is one step that failed on one node.
type Failure struct {
	Step string
	Rank int // -1: on the head itself, outside any node
	Node string
	Err  error
	Hint string
}

// Error names the step, the node and the reason, which ends in what to do next.
func (f Failure) Error() string {
	return failureWords(f.Step, f.Node, f.Reason())
}

// failureWords names a mount or a disk once: the script's own words begin with it too.
func failureWords(step, nodes, reason string) string {
	if strings.Contains(step, " ") {
		reason = strings.TrimPrefix(reason, step+" ")
	}
	return fmt.Sprintf("%s on %s: %s", step, nodes, reason)
}

// Reason is the script's own words where there are some, else the error with the step's hint.
func (f Failure) Reason() string {
	var n *NodeError
	if !errors.As(f.Err, &n) {
		return f.Err.Error()
	}
	if n.Exit == 0 && n.Script != "" && f.Hint != "" && !n.Unknown { // what to do then, it says itself
		return n.Reason() + " (" + f.Hint + ")"
	}
	return n.Reason()
}
