package restart

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// step runs one step on all its nodes side by side and waits for all of them: the barrier between
// two steps. take, where given, sees each good answer, those of several nodes at once. All failures
// are returned.
func (t *try) step(ctx context.Context, s Step, take func(int, Result)) error {
	if err := t.mayGoOn(ctx); err != nil {
		return err
	}
	t.begin(s.Name)
	if err := t.save(); err != nil {
		return err
	}
	began := time.Now()
	set := t.plan.settings
	o := t.o // as it is before the step: nodes run side by side and must not see it change
	failures := make([]*Failure, len(set.Nodes))
	nodes := 0
	var wait sync.WaitGroup
	for rank := range set.Nodes {
		if !s.Runs(set, rank) {
			continue
		}
		nodes++
		wait.Go(func() {
			res, err := t.run(ctx, s, rank, o)
			if err != nil {
				f := t.failure(s, rank, err)
				failures[rank] = &f
				t.world.Log.Error().Str("event", "step").Str("step", s.Name).Str("node", f.Node).Int("attempt", o.Attempt.ID).
					Msgf("RESTART step %q failed on %s: %s", s.Name, f.Node, f.Reason())
				return
			}
			if take != nil {
				take(rank, res)
			}
		})
	}
	wait.Wait()
	var failed []Failure
	for _, f := range failures {
		if f != nil {
			failed = append(failed, *f)
		}
	}
	if len(failed) > 0 {
		return &Refusal{Failures: failed}
	}
	t.world.Log.Info().Str("event", "step").Str("step", s.Name).Int("attempt", o.Attempt.ID).
		Msgf("RESTART step %q done on %d/%d nodes in %s", s.Name, nodes, nodes, time.Since(began).Round(10*time.Millisecond))
	return nil
}

func parseInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
