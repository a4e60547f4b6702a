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

// MaySkip says whether a look may do without its canary, by its time and the counters before it.
type MaySkip func(at watchdog.Clock, before watchdog.Counters) bool

// Questions are what a look asks beyond what the config says.
type Questions struct {
	Known   []watchdog.Known // of each rank; their events since are asked for
	Closely bool             // also how far a boot has come and what the GPUs draw: that costs the nodes some processes, which a healthy group need not spend
	Skip    MaySkip          // of a whole look; nil skips nothing
}

// Look asks everything at once, under one deadline, and returns what came of it. The clock is read
// at its start. Flag and StoreFault are left to the caller.
func (p *Prober) Look(ctx context.Context, q Questions) watchdog.Observation {
	o := watchdog.Observation{At: Now()}
	ctx, cancel := within(ctx, p.config.Look)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { o.Health = p.health(ctx) })
	all.Go(func() { p.completion(ctx, &o, q.Skip) })
	all.Go(func() { o.Ranks = p.ranks(ctx, q) })
	all.Wait()
	o.Took = Now().Since(o.At)
	return o
}

// LookAtRanks is the second look of a tick: the ranks only, over connections that mostly stand.
func (p *Prober) LookAtRanks(ctx context.Context, q Questions) watchdog.Observation {
	o := watchdog.Observation{At: Now(), RanksOnly: true}
	ctx, cancel := within(ctx, p.config.Again)
	defer cancel()
	o.Ranks = p.ranks(ctx, q)
	o.Took = Now().Since(o.At)
	return o
}

// completion asks for one token between two readings of the counters. Without a model there is
// nothing to ask for: then the canary's outcome is that of the question for one. An engine that
// sleeps is not asked: a request to it has crashed some (E18).
func (p *Prober) completion(ctx context.Context, o *watchdog.Observation, skip MaySkip) {
	var asleep sync.WaitGroup
	asleep.Go(func() { o.Sleep = p.sleep(ctx) })
	o.Before = p.counters(ctx)
	asleep.Wait()
	switch {
	case o.Sleep != watchdog.SleepUnknown || o.Before.Asleep:
		return
	case skip != nil && skip(o.At, o.Before):
		o.Canary.Skipped = true
		return
	}
	k := p.readKey()
	if o.Canary = p.nameModel(ctx, k); o.Canary.Model != "" {
		o.Canary = p.canary(ctx, k, o.Canary.Model)
	}
	o.After = p.counters(ctx)
}

// nameModel is a canary that is yet to be asked: the model's name, or why there is none.
func (p *Prober) nameModel(ctx context.Context, k key) watchdog.Canary {
	if p.config.Model != "" {
		return watchdog.Canary{Model: p.config.Model}
	}
	return p.firstModel(ctx, k)
}

// within returns ctx with a deadline of ours.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, errDeadline)
}

// cutShort says whether ctx ended for a reason that is not a deadline of ours.
func cutShort(ctx context.Context) bool {
	return ctx.Err() != nil && context.Cause(ctx) != errDeadline
}
