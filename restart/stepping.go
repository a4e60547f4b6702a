package restart

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"cluster-watchdog/scripts"
)

// step runs one step on all its nodes and waits for all of them: the barrier between two steps.
// take, where given, sees each good answer, those of several nodes at once. All failures are
// returned.
func (t *try) step(ctx context.Context, s Step, take func(int, Result)) error {
	t.comes = s.Name
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.world.Finish && (s.Class() == scripts.Destroy || s.Class() == scripts.Launch) {
		ctx = context.WithoutCancel(ctx) // cut off, nobody would know what it has done
	}
	t.begin(s.Name)
	if err := t.save(); err != nil {
		return err
	}
	if err := t.mayGoOn(ctx); err != nil { // last: a save may have waited for its disk
		return err
	}
	if err := t.stale(s); err != nil {
		return err
	}
	t.began = t.began || s.Class() == scripts.Destroy
	began := time.Now()
	ranks := slices.DeleteFunc(t.plan.settings.ranksOf(s), func(rank int) bool { return t.spared[rank] })
	failures := make([]*Failure, len(t.plan.settings.Nodes))
	o := t.o // as it is before the step: nodes run side by side and must not see it change
	one := func(rank int) bool {
		res, err := t.run(ctx, s, rank, o)
		if err != nil {
			failures[rank] = t.nodeFailed(s, rank, err)
			t.watched(s.Name, failures[rank].Node, began, errors.New(failures[rank].Reason()))
			return false
		}
		t.watched(s.Name, t.plan.settings.Nodes[rank], began, nil)
		if take != nil {
			take(rank, res)
		}
		return true
	}
	if s.OneByOne {
		if err := t.oneByOne(ctx, ranks, one); err != nil {
			return err
		}
	} else {
		sideBySideOn(ranks, one)
	}
	if failed := present(failures); len(failed) > 0 {
		return &Refusal{Failures: failed}
	}
	t.world.Log.Info().Str("event", "step").Str("step", s.Name).Int("attempt", o.Attempt.ID).
		Msgf("%s step %q done on %d/%d nodes in %s", t.what(), s.Name, len(ranks), len(ranks), time.Since(began).Round(10*time.Millisecond))
	return nil
}

// sideBySideOn runs one on all ranks at once, whatever becomes of some.
func sideBySideOn(ranks []int, one func(rank int) bool) {
	var wait sync.WaitGroup
	for _, rank := range ranks {
		wait.Go(func() { one(rank) })
	}
	wait.Wait()
}

// oneByOne runs one on rank after rank, each like a step of its own: the switch is read before it,
// and the first failure is the last run.
func (t *try) oneByOne(ctx context.Context, ranks []int, one func(rank int) bool) error {
	for i, rank := range ranks {
		if i > 0 {
			if err := t.mayGoOn(ctx); err != nil {
				return err
			}
		}
		if !one(rank) {
			return nil
		}
	}
	return nil
}

// nodeFailed tells of a step that failed on one node.
func (t *try) nodeFailed(s Step, rank int, err error) *Failure {
	f := t.failure(s, rank, err)
	t.world.Log.Error().Str("event", "step").Str("step", s.Name).Str("node", f.Node).Int("attempt", t.o.Attempt.ID).
		Msgf("%s step %q failed on %s: %s", t.what(), s.Name, f.Node, f.Reason())
	return &f
}

// present returns the failures that there are, by rank.
func present(failures []*Failure) []Failure {
	var all []Failure
	for _, f := range failures {
		if f != nil {
			all = append(all, *f)
		}
	}
	return all
}

func parseInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
