package restart

import (
	"context"
	"sync"
	"time"
)

// DefaultParallel is how many nodes are connected to, and how many logs are copied, at once.
const DefaultParallel = 32

// turns bounds how many are at work at once. Waiting for a node is no work: who does it for longer
// than the patience gives its turn away, so that a few dozen nodes that hang cannot keep the turns
// of those that answer until every deadline is over.
type turns struct {
	taken    chan struct{}
	patience time.Duration
}

// newTurns makes so many turns; 0: without a bound.
func newTurns(atOnce int, patience time.Duration) *turns {
	if atOnce <= 0 {
		return nil
	}
	return &turns{taken: make(chan struct{}, atOnce), patience: patience}
}

// turn is the leave to work; one goroutine uses it.
type turn struct {
	of *turns

	mu    sync.Mutex
	has   bool
	timer *time.Timer // runs while the holder waits for somebody else
}

// one returns a turn that is yet to be begun.
func (t *turns) one() *turn { return &turn{of: t} }

// begin waits for the turn, where it is not had already. First come, first served.
func (o *turn) begin(ctx context.Context) error {
	if o.of == nil || o.keep() {
		return nil
	}
	select {
	case o.of.taken <- struct{}{}:
		o.mu.Lock()
		o.has = true
		o.mu.Unlock()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keep stops the clock of a turn that has not been given away yet, and says whether it was not.
func (o *turn) keep() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	return o.has
}

// waits says that what comes next is up to somebody else: after the patience the turn is given away.
func (o *turn) waits() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.has {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(o.of.patience, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.timer == timer { // else it has gone back to work in this very moment
			o.give()
		}
	})
	o.timer = timer
}

// end gives the turn away, where it is still had.
func (o *turn) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.give()
}

func (o *turn) give() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	if o.has {
		o.has = false
		<-o.of.taken
	}
}
