package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cluster-watchdog/restart"
)

// whereabouts is what a run is at, for the case that it never gets through it: a call that hangs in
// the kernel knows of no context. Its zero value is at nothing.
type whereabouts struct {
	mu   sync.Mutex
	open []*passage
	step *passage // of the restart sequence
}

type passage struct {
	what, node string
	since      time.Time
}

// begin notes what begins now, and returns what to call when it is through.
func (w *whereabouts) begin(what string) (through func()) { return w.beginOn("", what) }

// beginOn does the same for what runs on a node, beside others.
func (w *whereabouts) beginOn(node, what string) (through func()) {
	p := &passage{what, node, time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = append(w.open, p)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.open = slices.DeleteFunc(w.open, func(q *passage) bool { return q == p })
	}
}

// progress notes the step of the sequence that begins.
func (w *whereabouts) progress(p restart.Progress) {
	if p.Node != "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = &passage{what: fmt.Sprintf("step %q", p.Step), since: time.Now()}
}

// stepsOver ends the last of these steps.
func (w *whereabouts) stepsOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step = nil
}

// String says where the run is, outermost first, with the nodes that have not answered:
//
//	step "mount /models" on n2, n3 (check/mount) since 12:03:04
func (w *whereabouts) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var words []string
	var since time.Time
	add := func(p *passage) { words, since = append(words, p.what), p.since }
	if w.step != nil {
		add(w.step)
	}
	var nodes, scripts []string
	var asked time.Time
	for _, p := range w.open {
		switch {
		case p.node == "":
			add(p)
		default:
			if len(nodes) == 0 {
				asked = p.since
			}
			nodes = append(nodes, p.node)
			if !slices.Contains(scripts, p.what) {
				scripts = append(scripts, p.what)
			}
		}
	}
	text := strings.Join(words, ", ")
	if len(nodes) > 0 {
		slices.Sort(nodes)
		text += fmt.Sprintf(" on %s (%s)", strings.Join(slices.Compact(nodes), ", "), strings.Join(scripts, ", "))
		since = asked
	}
	if since.IsZero() {
		return "something that it has not noted"
	}
	return strings.TrimSpace(text) + " since " + since.Local().Format(time.TimeOnly)
}
