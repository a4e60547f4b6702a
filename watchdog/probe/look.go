package probe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cluster-watchdog/watchdog"
)

// errDeadline is the cause of a context that ended by a deadline of ours. Any other end – SIGTERM,
// a caller out of time – says nothing about whom we asked.
var errDeadline = fmt.Errorf("our own deadline: %w", context.DeadlineExceeded)

// Look asks everything at once, under one deadline, and returns what came of it. The clock is read
// at its start. Flag and StoreFault are left to the caller.
func (p *Prober) Look(ctx context.Context, known []watchdog.Known) watchdog.Observation {
	o := watchdog.Observation{At: Now()}
	ctx, cancel := within(ctx, p.config.Look)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { o.Health = p.health(ctx) })
	all.Go(func() { o.Before, o.Canary, o.After = p.completion(ctx) })
	all.Go(func() { o.Ranks = p.ranks(ctx, known) })
	all.Wait()
	return o
}

// LookAtRanks is the second look of a tick: the ranks only.
func (p *Prober) LookAtRanks(ctx context.Context, known []watchdog.Known) watchdog.Observation {
	o := watchdog.Observation{At: Now(), RanksOnly: true}
	ctx, cancel := within(ctx, p.config.Look)
	defer cancel()
	o.Ranks = p.ranks(ctx, known)
	return o
}

// completion asks for one token between two readings of the counters. Without a model there is
// nothing to ask for: then the canary's outcome is that of the question for one.
func (p *Prober) completion(ctx context.Context) (before watchdog.Counters, c watchdog.Canary, after watchdog.Counters) {
	k := p.readKey()
	c = p.nameModel(ctx, k)
	before = p.counters(ctx)
	if c.Model != "" {
		c = p.canary(ctx, k, c.Model)
	}
	return before, c, p.counters(ctx)
}

// nameModel is a canary that is yet to be asked: the model's name, or why there is none.
func (p *Prober) nameModel(ctx context.Context, k key) (c watchdog.Canary) {
	c.Model = p.config.Model
	if c.Model == "" {
		c.Model, c.HTTP = p.firstModel(ctx, k)
	}
	return c
}

// within returns ctx with a deadline of ours.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errDeadline)
}

// cutShort says whether ctx ended for a reason that is not a deadline of ours.
func cutShort(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != errDeadline
}
