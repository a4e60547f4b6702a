package main

import (
	"context"
	"sync"
	"time"
)

// engine is what answers the head's API.
type engine struct {
	model    string
	fault    func() fault
	broken   <-chan struct{} // closed when a worker is lost
	poisoned chan struct{}   // closed when a request has killed it
	clock    func() time.Time
	after    func(time.Duration) <-chan time.Time
	created  time.Time

	mu     sync.Mutex
	counts counts
}

func newEngine(model string, now func() fault, broken <-chan struct{}, clock func() time.Time) *engine {
	return &engine{model: model, fault: now, broken: broken, clock: clock, after: time.After, created: clock(), poisoned: make(chan struct{})}
}

// mood is how the engine behaves at this moment.
type mood int

const (
	healthy  mood = iota + 1
	laggard       // answers late, meanwhile counters move
	crowded       // serves others, answers nobody here
	hung          // answers nobody, and nothing moves
	queueing      // the same, and nothing runs
	sick          // hung, and says so
	dead          // answers that it is dead
	lost          // hung, since a worker is gone
	closed        // wants a key
	stranger      // does not have the model
	failing       // answers completions with an error, all else is well
)

var moods = map[string]mood{
	slow: laggard, busy: crowded, wedge: hung, wedgeWaiting: queueing,
	unhealthy: sick, unauthorized: closed, notFound: stranger, serverError: failing,
}

// mood judges the engine. A death is above every fault.
func (e *engine) mood() mood {
	select {
	case <-e.poisoned:
		return dead
	default:
	}
	select {
	case <-e.broken:
		return lost
	default:
	}
	if m, ok := moods[e.fault().word]; ok {
		return m
	}
	return healthy
}

// kill ends the engine under its API.
func (e *engine) kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.poisoned:
	default:
		close(e.poisoned)
	}
}

// count brings the counters up to now and changes them; the copy returned is what they are then.
func (e *engine) count(change func(*counts)) counts {
	m := e.mood()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts.advance(e.clock(), m)
	if change != nil {
		change(&e.counts)
	}
	return e.counts
}

// follow brings the counters up to date often, so that a mood does not count for time before it.
func (e *engine) follow(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		e.count(nil)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
