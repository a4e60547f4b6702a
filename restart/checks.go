package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cluster-watchdog/scripts"
)

// errServed ends a run before its commit: the group serves after all.
var errServed = errors.New("the last canary was served")

// Check runs all checks on all nodes and returns a clearance, or all failures. Nothing is changed.
func (r *Runner) Check(ctx context.Context, o Order) (*Clearance, []Failure) {
	ctx, cancel := context.WithTimeout(ctx, ChecksLimit)
	defer cancel()
	began := r.world.Clock()
	failures := r.localChecks()
	served := make(chan bool, 1)
	go func() { served <- o.Canary != nil && o.Canary(ctx) }()
	steps := r.plan.of(scripts.Check)
	if o.TakeOver {
		steps = slices.DeleteFunc(steps, func(s Step) bool { return s.Script == "check/claim" })
	}
	failures = append(failures, r.nodeChecks(ctx, o, steps)...)
	if <-served {
		failures = append(failures, Failure{Step: "last canary", Rank: -1, Node: "the head", Err: errServed})
	}
	if failures = append(failures, r.sinceSuspended(began)...); len(failures) > 0 {
		return nil, failures
	}
	return &Clearance{at: r.world.Clock(), ids: slices.Clone(o.Seen), ok: true}, nil
}

// checkAgain runs alone the check that refused the attempt last time: while it refuses, there is
// no need to ask all nodes for everything each minute.
func (r *Runner) checkAgain(ctx context.Context, o Order) []Failure {
	ctx, cancel := context.WithTimeout(ctx, ChecksLimit)
	defer cancel()
	step := o.Attempt.Step
	if local, ok := r.world.Local[step]; ok {
		if err := local(); err != nil {
			return []Failure{{Step: step, Rank: -1, Node: "the head", Err: err}}
		}
		return nil
	}
	i := slices.IndexFunc(r.plan.steps, func(s Step) bool { return s.Name == step && s.Class() == scripts.Check })
	if i < 0 {
		return nil
	}
	return r.nodeChecks(ctx, o, r.plan.steps[i:i+1])
}

func (r *Runner) localChecks() []Failure {
	var failures []Failure
	for name, check := range r.world.Local {
		if err := check(); err != nil {
			failures = append(failures, Failure{Step: name, Rank: -1, Node: "the head", Err: err})
		}
	}
	slices.SortFunc(failures, func(a, b Failure) int { return strings.Compare(a.Step, b.Step) })
	return failures
}

// nodeChecks asks all nodes side by side, each node one check after the other. A node that cannot
// be reached is told once, as an SSH failure, and not asked further.
func (r *Runner) nodeChecks(ctx context.Context, o Order, steps []Step) []Failure {
	perNode := make([][]Failure, len(r.plan.settings.Nodes))
	var wait sync.WaitGroup
	for rank := range r.plan.settings.Nodes {
		wait.Go(func() {
			began := time.Now()
			perNode[rank] = r.checksOf(ctx, o, steps, rank)
			var failed error
			if len(perNode[rank]) > 0 {
				failed = &Refusal{Failures: perNode[rank]}
			}
			r.watched(stageChecks, r.plan.settings.Nodes[rank], began, failed)
		})
	}
	wait.Wait()
	return slices.Concat(perNode...)
}

func (r *Runner) checksOf(ctx context.Context, o Order, steps []Step, rank int) []Failure {
	var failures []Failure
	for _, s := range steps {
		if !s.Runs(r.plan.settings, rank) {
			continue
		}
		res, err := r.run(ctx, s, rank, o)
		if err == nil {
			r.hear(o, s, rank, res)
			continue
		}
		f := r.failure(s, rank, err)
		said := slices.ContainsFunc(failures, func(g Failure) bool { return g.Reason() == f.Reason() })
		if !said { // a Docker that refuses fails several checks
			failures = append(failures, f)
		}
		if unreachable(err) {
			break
		}
	}
	return failures
}

// hear passes on what a check that passed had to say. Where nobody listens, a warning of it goes to
// the journal: it is no reason not to go on.
func (r *Runner) hear(o Order, s Step, rank int, res Result) {
	if o.Heard != nil {
		o.Heard(s, rank, res)
		return
	}
	for _, w := range res.Warnings() {
		node := r.plan.settings.Nodes[rank]
		r.world.Log.Warn().Str("event", "warning").Str("node", node).Str("step", s.Name).Msgf("on %s: %s; going on", node, w)
	}
}

func (r *Runner) failure(s Step, rank int, err error) Failure {
	return Failure{Step: s.Name, Rank: rank, Node: r.plan.settings.Nodes[rank], Err: err, Hint: s.Hint}
}

// unreachable says whether the node itself, not the script on it, is what failed.
func unreachable(err error) bool {
	var n *NodeError
	return errors.As(err, &n) && n.Exit == 0
}

// run runs one step on one rank, within the step's own deadline.
func (r *Runner) run(ctx context.Context, s Step, rank int, o Order) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return r.remote.Run(ctx, rank, scripts.Get(s.Script), r.env(s, rank, o))
}

// env returns the variables of one step on one rank.
func (r *Runner) env(s Step, rank int, o Order) map[string]string {
	set := r.plan.settings
	env := set.variables(rank)
	for k, v := range s.vars {
		env[k] = v
	}
	env["WATCHDOG_HEAD_ID"], env["WATCHDOG_STATE_DIR"] = set.Owner.ID, set.Owner.StateDir
	env["WATCHDOG_ID"], env["WATCHDOG_STARTED"] = "", ""
	if rank < len(o.Seen) {
		env["WATCHDOG_ID"] = o.Seen[rank]
	}
	if rank < len(o.Started) {
		env["WATCHDOG_STARTED"] = o.Started[rank]
	}
	switch s.Script {
	case "claim/claim":
		env["WATCHDOG_CLAIM"], env["WATCHDOG_TAKE_OVER"] = set.claim(o.Claimant), ""
		if o.TakeOver {
			env["WATCHDOG_TAKE_OVER"] = "yes"
		}
	case "destroy/gone":
		env["WATCHDOG_WAIT"] = seconds(goneWait)
	case "settle/memory":
		env["WATCHDOG_WAIT"] = seconds(set.MemoryWait)
		env["WATCHDOG_MEM_FLOOR"] = ""
		if rank < len(o.MemFloor) && o.MemFloor[rank] > 0 {
			env["WATCHDOG_MEM_FLOOR"] = fmt.Sprint(o.MemFloor[rank])
		}
	case "launch/verify":
		env["WATCHDOG_ID"] = ""
		for _, l := range o.Attempt.Launched {
			if l.Rank == rank {
				env["WATCHDOG_ID"] = l.ID
			}
		}
	}
	return env
}
