package restart

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Stop carries out a person's stop as one attempt: it preserves, and removes what the order saw on
// every node that answers and where nobody else is at work. A node that is silent keeps no other
// from being stopped; what was not stopped is returned. Nothing is removed before the commit is on
// disk, and an error means that the attempt could not be saved.
func (r *Runner) Stop(ctx context.Context, o Order) (watchdog.Attempt, []Failure, error) {
	t := &try{Runner: r, o: o, gone: make([]bool, len(r.plan.settings.Nodes)), spared: map[int]bool{}}
	a := &t.o.Attempt
	a.Tries++
	a.Stop, a.Started = true, r.world.Clock()
	if err := t.save(); err != nil {
		return *a, nil, err
	}
	failures, err := t.stop(ctx)
	saved, err := t.endStop(ctx, failures, err)
	return saved, failures, err
}

// stop runs the sequence of a stop and returns what was not stopped.
func (t *try) stop(ctx context.Context) ([]Failure, error) {
	t.begin(stagePreserve)
	t.Preserve(ctx, t.o.Attempt.Incident, t.o.Seen)
	t.begin(stageChecks)
	clearance, failures := t.checkStop(ctx)
	if clearance == nil {
		return failures, &Refusal{Failures: failures}
	}
	for _, f := range failures {
		t.spared[f.Rank] = true
	}
	if err := t.commit(clearance); err != nil {
		return failures, err
	}
	for _, s := range t.plan.of(scripts.Destroy) {
		var failed *Refusal
		err := t.step(ctx, s, t.removed(s))
		if err != nil && !errors.As(err, &failed) {
			return failures, err
		}
		if failed == nil {
			continue
		}
		failures = append(failures, failed.Failures...)
		for _, f := range failed.Failures { // what is not removed need not be waited for
			t.spared[f.Rank] = true
			t.gone[f.Rank] = false
		}
	}
	t.o.Attempt.Removed = len(failures) == 0
	return failures, nil
}

// checkStop asks of each node only what its removal needs: that it can be reached, that its Docker
// answers, that nobody else claims the group, and that the container is still the one that was seen. The clearance is for those where
// that is so; nil where it is so nowhere.
func (t *try) checkStop(ctx context.Context) (*Clearance, []Failure) {
	ctx, cancel := context.WithTimeout(ctx, ChecksLimit)
	defer cancel()
	began := t.world.Clock()
	steps := slices.DeleteFunc(t.plan.of(scripts.Check), func(s Step) bool {
		return !slices.Contains([]string{"check/shell", "check/docker", "check/claim", "check/identity"}, s.Script)
	})
	failures := t.nodeChecks(ctx, t.o, steps)
	if suspended := t.sinceSuspended(began); suspended != nil {
		return nil, append(failures, suspended...)
	}
	ids := slices.Clone(t.o.Seen)
	failed := map[int]bool{}
	for _, f := range failures {
		ids[f.Rank], failed[f.Rank] = "", true
	}
	if len(failed) == len(ids) {
		return nil, failures
	}
	return &Clearance{at: t.world.Clock(), ids: ids, ok: true}, failures
}

// endStop writes down how the stop ended, and tells.
func (t *try) endStop(ctx context.Context, failures []Failure, err error) (watchdog.Attempt, error) {
	a := &t.o.Attempt
	var refusal *Refusal
	var unsaved *UnsavedError
	switch {
	case errors.As(err, &unsaved):
		return *a, err
	case err == nil && len(failures) == 0:
		a.Outcome, a.Error = watchdog.OutcomeStopped, ""
	case errors.Is(err, errSwitch), err != nil && ctx.Err() != nil && !errors.As(err, &refusal):
		return t.end(ctx, err)
	case err == nil && slices.ContainsFunc(failures, func(f Failure) bool { return t.destroys(f.Step) }):
		a.Outcome, a.Error = watchdog.OutcomeBroken, (&Refusal{Failures: failures}).Error()
	case err == nil:
		a.Outcome, a.Error, a.Step = watchdog.OutcomeRefused, (&Refusal{Failures: failures}).Error(), failures[0].Step
	default:
		a.Outcome, a.Error = watchdog.OutcomeRefused, err.Error()
	}
	a.Ended = t.world.Clock()
	if err := t.save(); err != nil {
		return *a, err
	}
	t.reportStop()
	return *a, nil
}

func (t *try) destroys(step string) bool {
	return slices.ContainsFunc(t.plan.of(scripts.Destroy), func(s Step) bool { return s.Name == step })
}

func (t *try) reportStop() {
	a := t.o.Attempt
	n := len(t.plan.settings.Nodes)
	e := t.world.Log.Warn()
	if a.Outcome == watchdog.OutcomeStopped {
		e = t.world.Log.Info()
	}
	e = e.Str("event", "stopped").Int("attempt", a.ID).Str("step", a.Step).Str("by", a.By)
	text := fmt.Sprintf("stopped on %d/%d nodes by %s: %s", n-len(t.spared), n, a.By, a.Why)
	if a.Committed.IsZero() {
		text = fmt.Sprintf("a stop by %s was refused on all nodes", a.By)
	}
	if a.Error != "" {
		text += "; not stopped: " + a.Error
	}
	e.Msg("STOP " + text)
	t.world.Notice(watchdog.NoticePerson, "", text)
}
