package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Run carries out one try of the attempt and returns it as it was last saved. How it ended is the
// attempt's Outcome; an error means that the attempt could not be saved, and then nothing more was
// touched after that.
func (r *Runner) Run(ctx context.Context, o Order) (watchdog.Attempt, error) {
	t := &try{Runner: r, o: o, gone: make([]bool, len(r.plan.settings.Nodes))}
	a := &t.o.Attempt
	a.Tries++
	before := a.Step // what refused last time
	if a.Started.IsZero() {
		a.Started = r.world.Clock()
	}
	refusedBefore := a.Outcome == watchdog.OutcomeRefused && a.Committed.IsZero()
	a.Outcome, a.Ended = watchdog.OutcomeNone, watchdog.Clock{}
	if err := t.save(); err != nil {
		return *a, err
	}
	err := t.sequence(ctx, refusedBefore, before)
	return t.end(ctx, err)
}

// try is one run of the sequence.
type try struct {
	*Runner
	o       Order
	comes   string         // the step that is about to run
	cleared watchdog.Clock // of the clearance that was used
	began   bool           // a script that destroys has been started
	gone    []bool         // by rank, whether this try has removed its container
	spared  map[int]bool   // ranks that a stop leaves as they are
}

// sequence runs everything in its order and returns the first thing that ended it.
func (t *try) sequence(ctx context.Context, refusedBefore bool, before string) error {
	a := &t.o.Attempt
	if refusedBefore {
		a.Step = before
		if failures := t.checkAgain(ctx, t.o); len(failures) > 0 {
			return &Refusal{Failures: failures}
		}
	}
	t.begin(stagePreserve)
	t.Preserve(ctx, a.Incident, t.o.Seen)
	if err := ctx.Err(); err != nil {
		return err
	}
	t.begin(stageChecks)
	clearance, failures := t.Check(ctx, t.o)
	if len(failures) > 0 {
		return &Refusal{Failures: failures}
	}
	if err := t.claim(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // it came with the last claim, and that is where it ended
		return err
	}
	if err := t.commit(clearance); err != nil {
		return err
	}
	if err := t.destroy(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	return t.launch(ctx)
}

// commit is the point of no return: the last instant before the first destructive step. What will
// be destroyed is on disk first.
func (t *try) commit(c *Clearance) error {
	a := &t.o.Attempt
	t.comes = stageCommit
	now := t.world.Clock()
	ids, err := c.spend(now, t.world.Switch())
	if err != nil {
		return err
	}
	t.cleared = c.at
	if !t.o.Looked.IsZero() && olderThan(LookLife, t.o.Looked, now) {
		return fmt.Errorf("cannot go by a look that is older than %s: this machine was suspended meanwhile; the next look tells", LookLife)
	}
	if failures := t.newSince(ids); len(failures) > 0 {
		return &Refusal{Failures: failures}
	}
	if a.Committed.IsZero() {
		a.Committed = now
	}
	for len(a.Destroy) < len(ids) {
		a.Destroy = append(a.Destroy, "")
	}
	for rank, id := range ids {
		if id != "" {
			a.Destroy[rank] = id
		}
	}
	t.begin(stageCommit)
	if err := t.save(); err != nil {
		return err
	}
	t.tellCommit()
	return nil
}

// tellCommit tells that it begins in earnest.
func (t *try) tellCommit() {
	a := t.o.Attempt
	verb := "restarting"
	switch {
	case a.Stop:
		verb = "stopping"
	case !slices.ContainsFunc(a.Destroy, func(id string) bool { return id != "" }):
		verb = "launching"
	}
	t.world.Log.Info().Str("event", "commit").Int("attempt", a.ID).Msgf("%s checks passed on %d/%d nodes, commit (try %d)", t.what(), len(t.plan.settings.Nodes)-len(t.spared), len(t.plan.settings.Nodes), a.Tries)
	t.world.Notice(watchdog.NoticeRestart, fmt.Sprintf("restart %d", a.ID), fmt.Sprintf("%s the group%s: %s", verb, t.askedFor(), a.Why))
}

// what names the run in the journal.
func (t *try) what() string {
	if t.o.Attempt.Stop {
		return "STOP"
	}
	return "RESTART"
}

// askedFor names the person behind the attempt, where there is one.
func (t *try) askedFor() string {
	if t.o.Attempt.By == "" {
		return ""
	}
	return ", asked for by " + t.o.Attempt.By
}

// newSince finds the containers that an earlier commit of this attempt did not name: somebody made
// them while it waited.
func (t *try) newSince(ids []string) []Failure {
	a := t.o.Attempt
	if a.Committed.IsZero() {
		return nil
	}
	var failures []Failure
	for rank, id := range ids {
		if id != "" && (rank >= len(a.Destroy) || a.Destroy[rank] != id) {
			failures = append(failures, Failure{Step: "identity", Rank: rank, Node: t.plan.settings.Nodes[rank],
				Err: fmt.Errorf("container %.12s is new since the commit: a person is at work; remove it, or `cluster-watchdog arm`", id)})
		}
	}
	return failures
}

// destroy removes the containers of all ranks and waits until their names are gone. An error on any
// node stops here: nothing is launched over a half-cleaned group.
func (t *try) destroy(ctx context.Context) error {
	for _, s := range t.plan.of(scripts.Destroy) {
		err := t.step(ctx, s, t.removed(s))
		if err != nil && !t.began { // nothing has been tried yet
			return err
		}
		if err != nil {
			return &Broken{Step: s.Name, Err: err}
		}
	}
	t.o.Attempt.Removed = true
	return t.save()
}

// removed returns what notes which ranks are gone, for the words of a run that ends early.
func (t *try) removed(s Step) func(int, Result) {
	if s.Script != "destroy/remove" {
		return nil
	}
	return func(rank int, _ Result) { t.gone[rank] = true }
}

// settle waits until the nodes are fit for a launch. It may still refuse; then the group is down
// and the next tick goes on.
func (t *try) settle(ctx context.Context) error {
	a := &t.o.Attempt
	for _, s := range t.plan.of(scripts.Settle) {
		if s.Script == "settle/flusher" {
			a.Flusher = true
			if err := t.save(); err != nil {
				return err
			}
		}
		var take func(int, Result)
		if s.Script == "settle/memory" {
			a.MemFree = make([]int64, len(t.plan.settings.Nodes))
			take = t.measured
		}
		if err := t.step(ctx, s, take); err != nil {
			return err
		}
		if take != nil {
			t.tellUncompared()
		}
	}
	return nil
}

// measured takes in how much memory a node has free before its launch.
func (t *try) measured(rank int, res Result) {
	t.o.Attempt.MemFree[rank] = parseInt(value(res.Stdout, "memfree"))
}

// tellUncompared says where there was nothing to compare the free memory with.
func (t *try) tellUncompared() {
	var nodes []string
	for rank, free := range t.o.Attempt.MemFree {
		if rank >= len(t.o.MemFloor) || t.o.MemFloor[rank] == 0 {
			nodes = append(nodes, fmt.Sprintf("%s %d MiB", t.plan.settings.Nodes[rank], free>>20))
		}
	}
	if len(nodes) > 0 {
		t.world.Log.Warn().Str("event", "memory").
			Msgf("RESTART free memory (%s) is not compared with anything: no settle.memory_floor, and no good launch of this config yet", strings.Join(nodes, ", "))
	}
}

// launch starts the ranks in the order of the plan, and verifies that all run. That it launches is
// saved with the first of these steps, before it runs: between two saves the disk could fail, and a
// launch be counted that never was. The first failure stops later launches.
func (t *try) launch(ctx context.Context) error {
	a := &t.o.Attempt
	t.comes = "launch"
	if err := t.mayGoOn(ctx); err != nil {
		return err
	}
	a.Launching = t.world.Clock()
	for i, s := range t.plan.working(scripts.Launch) {
		err := t.step(ctx, s, t.launched(s))
		var unsaved *UnsavedError
		notRun := errors.As(err, &unsaved) || errors.Is(err, errSwitch) || errors.Is(err, errUnfit) || err != nil && err == ctx.Err()
		if i == 0 && notRun && len(a.Launched) == 0 {
			a.Launching = watchdog.Clock{}
		}
		if err != nil {
			return t.launchFailed(s, err)
		}
	}
	return nil
}

// launched returns what takes in the answer of a launch: the id is saved as each node answers, so
// that a tick killed in between still knows what it started.
func (t *try) launched(s Step) func(int, Result) {
	if s.Script != "launch/launch" {
		return nil
	}
	g := newGathering()
	return func(rank int, res Result) {
		l := watchdog.Launched{Rank: rank, ID: launchedID(res), StartedAt: value(res.Stdout, "started_at")}
		if err := t.keep(g, l); err != nil {
			t.world.Log.Error().Err(err).Str("event", "save").Msg("cannot save a launched id: " + err.Error())
		}
	}
}

// launchedID returns the id that a launch printed; "" for what is none, which the verification
// will refuse.
func launchedID(res Result) string {
	if id := value(res.Stdout, "id"); watchdog.IsContainerID(id) {
		return id
	}
	return ""
}

// end writes down how the try ended. It does so even when ctx is over.
func (t *try) end(ctx context.Context, err error) (watchdog.Attempt, error) {
	a := &t.o.Attempt
	var refusal *Refusal
	var broken *Broken
	var failed *LaunchFailed
	var unsaved *UnsavedError
	// A step that an interrupt waited for may have failed by itself.
	failedItself := t.world.Finish && !errors.Is(err, context.Canceled) && (errors.As(err, &broken) || errors.As(err, &failed))
	switch {
	case err == nil:
		a.Outcome, a.Error = watchdog.OutcomeLaunched, ""
	case errors.As(err, &unsaved):
		return *a, err
	case errors.Is(err, errSwitch):
		a.Outcome = watchdog.OutcomeSwitch
		a.Error = fmt.Sprintf("the switch was thrown before step %q: %s", t.comes, t.standing())
	case ctx.Err() != nil && !failedItself:
		a.Outcome = watchdog.OutcomeInterrupted
		if a.Step == stageChecks && errors.As(err, &refusal) {
			a.Step = refusal.Failures[0].Step // the check that was cut off
		}
		a.Error = fmt.Sprintf("interrupted in step %q: %s", a.Step, t.standing())
	case errors.As(err, &broken):
		a.Outcome, a.Error = watchdog.OutcomeBroken, err.Error()
		a.DestroyFailed++
	case errors.As(err, &failed):
		a.Outcome, a.Error = watchdog.OutcomeLaunchFailed, err.Error()
	case errors.As(err, &refusal) && refusal.served():
		a.Outcome, a.Error = watchdog.OutcomeRecovered, err.Error()
	case errors.As(err, &refusal):
		a.Outcome, a.Error, a.Step = watchdog.OutcomeRefused, err.Error(), refusal.Failures[0].Step
	default:
		a.Outcome, a.Error = watchdog.OutcomeRefused, err.Error()
	}
	a.Ended = t.world.Clock()
	if err := t.save(); err != nil {
		return *a, err
	}
	t.report()
	return *a, nil
}

// begin notes the step that runs now.
func (t *try) begin(step string) {
	t.o.Attempt.Step, t.comes = step, step
	t.watched(step, "", time.Time{}, nil)
}

// save has the attempt on disk when it returns nil.
func (t *try) save() error {
	if err := t.world.Save(t.o.Attempt); err != nil {
		return &UnsavedError{Err: err}
	}
	return nil
}

// mayGoOn reads the switch again, as before every destructive and launching step.
func (t *try) mayGoOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if thrown(t.world.Switch()) {
		return errSwitch
	}
	return nil
}

// value returns what a script printed first as key=value, "" where it did not.
func value(out, key string) string {
	if all := values(out, key); len(all) > 0 {
		return all[0]
	}
	return ""
}

// values returns what a script printed as key=value, for each time it did.
func values(out, key string) []string {
	var all []string
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			all = append(all, v)
		}
	}
	return all
}
