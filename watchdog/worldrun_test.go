package watchdog

import (
	"fmt"
	"strings"
	"time"
)

// The simulated runner writes an Attempt as the real one does, and does to the world what the real
// one does to nodes. How a try ends is one of these:
//
//	launched
//	refused at check/shell on n2
//	served meanwhile
//	killed at check/docker | destroy/remove | settle/memory | launch/launch on n2
//	interrupted at settle/memory
//	switched at settle/memory
//	broken at destroy/remove on n3
//	waiting at settle/memory on n2
//	launch fails on n3

// act carries out one decision.
func (w *world) act(d Decision) { w.try(w.attempt(d)) }

// ask4 is a person's restart or stop: it goes on with an open attempt, looks by itself, and saves
// nothing but the attempt.
func (w *world) ask4(stop bool) {
	d := Decide(w.policy, w.state, w.observe(false))
	a := &Attempt{ID: len(w.state.Attempts) + 1, Started: w.now}
	if d.Wanted == ActResume && !stop {
		a = &w.state.Attempts[len(w.state.Attempts)-1]
	} else {
		w.state.Attempts = append(append([]Attempt(nil), w.state.Attempts...), *a)
		a = &w.state.Attempts[len(w.state.Attempts)-1]
	}
	a.By, a.Why, a.Stop = "anna", "asked for", stop
	if stop {
		w.flag = Flag{Present: true, Who: "anna", When: w.now.Wall, Reason: "stop"}
	}
	w.try(a)
}

// try runs the sequence once, as far as it gets.
func (w *world) try(a *Attempt) {
	how := w.always
	if len(w.next) > 0 {
		how, w.next = w.next[0], w.next[1:]
	}
	a.Tries++
	a.Outcome, a.Ended, a.Error = OutcomeNone, Clock{}, ""
	w.sequence(a, how)
	outcome := a.Outcome.String()
	if a.Outcome == OutcomeNone {
		outcome = "killed"
	}
	w.say("         attempt %d, try %d: %s%s%s", a.ID, a.Tries, outcome, colon(a.Error), counting(*a))
}

func counting(a Attempt) string {
	switch {
	case a.Launching.IsZero():
		return " (not counted)"
	case a.Counted():
		return " (counted)"
	default:
		return " (launched, not counted)"
	}
}

// attempt returns the one to go on with, or a new one. One that a check refused is updated, not
// repeated.
func (w *world) attempt(d Decision) *Attempt {
	if n := len(w.state.Attempts); n > 0 {
		a := &w.state.Attempts[n-1]
		again := a.Committed.IsZero() && a.Outcome == OutcomeRefused && a.By == "" && d.Action == ActRestart
		if d.Action == ActResume || again {
			return a
		}
	}
	a := Attempt{ID: len(w.state.Attempts) + 1, Why: d.Detail, Started: w.now}
	if d.Next.Incident != nil {
		a.Incident = d.Next.Incident.ID
	}
	if d.Action == ActLaunch {
		a.By = w.state.Arm.Who
	}
	w.state.Attempts = append(append([]Attempt(nil), w.state.Attempts...), a)
	return &w.state.Attempts[len(w.state.Attempts)-1]
}

// sequence walks through the classes of steps and ends where how says.
func (w *world) sequence(a *Attempt, how string) {
	verb, rest, _ := strings.Cut(how, " ")
	place := strings.TrimPrefix(strings.TrimPrefix(rest, "at "), "fails ")
	class, _, _ := strings.Cut(place, "/")
	a.Step = place
	w.pass(3 * time.Second) // preserve and checks
	switch {
	case verb == "refused":
		w.end(a, OutcomeRefused, "refused at "+place)
		return
	case verb == "served":
		w.end(a, OutcomeRecovered, "")
		return
	case class == "check":
		w.cut(a, verb)
		return
	}
	if a.Committed.IsZero() {
		a.Committed = w.now
	}
	for len(a.Destroy) < len(w.nodes) {
		a.Destroy = append(a.Destroy, "")
	}
	for i, n := range w.nodes {
		if n.box != nil {
			a.Destroy[i] = n.box.ID
		}
	}
	w.pass(20 * time.Second)
	bad := w.named(place)
	for i := range w.nodes {
		if class != "destroy" || i != bad {
			w.remove(i)
		}
	}
	if class == "destroy" {
		if verb == "broken" {
			a.DestroyFailed++
			w.end(a, OutcomeBroken, "broken at "+place)
			return
		}
		w.cut(a, verb)
		return
	}
	a.Removed = true
	if a.Stop {
		w.health, w.canary, w.moving = 0, "refused", "absent"
		w.end(a, OutcomeStopped, "")
		return
	}
	a.Flusher = true
	w.pass(20 * time.Second)
	if class == "settle" {
		if verb == "waiting" {
			w.end(a, OutcomeRefused, "waiting at "+place)
			return
		}
		w.cut(a, verb)
		return
	}
	w.launch(a, verb, bad)
}

// launch starts the workers, then the head, or the head first where the policy says so.
func (w *world) launch(a *Attempt, verb string, bad int) {
	a.Launching = w.now
	w.health, w.canary, w.moving = 0, "refused", "absent"
	order := append(rangeOf(1, len(w.nodes)), 0)
	if w.policy.HeadFirst {
		order = rangeOf(0, len(w.nodes))
	}
	for _, i := range order {
		w.pass(10 * time.Second)
		if i == bad {
			if verb == "killed" { // the node starts it, the id is never recorded
				w.start(i, "")
			}
			break
		}
		w.start(i, "")
		a.Launched = append(a.Launched, Launched{Rank: i, ID: w.nodes[i].box.ID, StartedAt: w.nodes[i].box.StartedAt})
	}
	switch {
	case verb == "launch":
		w.end(a, OutcomeLaunchFailed, "launch fails on "+w.nodes[bad].name)
	case bad >= 0:
		w.cut(a, verb)
	default:
		w.end(a, OutcomeLaunched, "")
	}
}

// cut ends a try in the middle: killed leaves no end at all.
func (w *world) cut(a *Attempt, verb string) {
	switch verb {
	case "killed":
	case "interrupted":
		w.end(a, OutcomeInterrupted, "interrupted in step "+a.Step)
	case "switched":
		w.end(a, OutcomeSwitch, "the switch was thrown")
	default:
		panic(fmt.Sprintf("a restart cannot end as %q at %q", verb, a.Step))
	}
}

func (w *world) end(a *Attempt, o AttemptOutcome, text string) {
	a.Outcome, a.Error, a.Ended = o, text, w.now
}

// named returns the rank of the node a place ends in, -1 where it names none.
func (w *world) named(place string) int {
	for i, n := range w.nodes {
		if strings.HasSuffix(place, "on "+n.name) {
			return i
		}
	}
	return -1
}

func rangeOf(from, to int) []int {
	var all []int
	for i := from; i < to; i++ {
		all = append(all, i)
	}
	return all
}
