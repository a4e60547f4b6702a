package restart

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"cluster-watchdog/watchdog"
)

// endFlusherTimeout bounds the ending of a flusher on one node.
const endFlusherTimeout = 15 * time.Second

// EndFlusher ends the cache flusher of an attempt whose boot is over, on all nodes, and notes it.
// Where a node does not answer it is tried again with the next tick, until it has ended by itself.
func (r *Runner) EndFlusher(ctx context.Context, a watchdog.Attempt) error {
	var failed atomic.Int32
	var wait sync.WaitGroup
	s := Step{Name: "end cache flusher", Script: "settle/endflusher", On: All, Timeout: endFlusherTimeout}
	for rank, node := range r.plan.settings.Nodes {
		wait.Go(func() {
			if _, err := r.run(ctx, s, rank, Order{}); err != nil {
				failed.Add(1)
				r.world.Log.Warn().Str("event", "flusher").Str("node", node).Msgf("cannot end the cache flusher on %s: %v", node, err)
			}
		})
	}
	wait.Wait()
	now := r.world.Clock()
	begun := now.Latest(a.Committed, now.Latest(a.Launching, a.Ended)) // or before
	if failed.Load() > 0 && now.Since(begun) <= r.plan.settings.FlusherFor {
		return nil
	}
	a.FlusherEnded = true
	return r.world.Save(a)
}
