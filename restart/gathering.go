package restart

import (
	"slices"
	"sync"

	"cluster-watchdog/watchdog"
)

// gathering saves what nodes answer side by side. Answers that come while one save is under way wait
// for it and are saved together: a disk that needs 20 ms for a save must not need five seconds for
// those of 256 nodes, one after the other, before the next step.
type gathering struct {
	mu    sync.Mutex // of the attempt
	heard int
	disk  chan struct{} // holds a token while nothing is being saved
	saved int           // how many of the heard are on disk; belongs to who has the token
}

func newGathering() *gathering {
	g := &gathering{disk: make(chan struct{}, 1)}
	g.disk <- struct{}{}
	return g
}

// keep notes a launched container and returns when it is on disk, or cannot be.
func (t *try) keep(g *gathering, l watchdog.Launched) error {
	a := &t.o.Attempt
	g.mu.Lock()
	a.Launched = append(a.Launched, l)
	g.heard++
	mine := g.heard
	g.mu.Unlock()

	<-g.disk
	defer func() { g.disk <- struct{}{} }()
	if g.saved >= mine { // with another's
		return nil
	}
	g.mu.Lock()
	all, now := g.heard, *a
	now.Launched = slices.Clone(a.Launched)
	g.mu.Unlock()
	if err := t.world.Save(now); err != nil {
		return &UnsavedError{Err: err}
	}
	g.saved = all
	return nil
}
