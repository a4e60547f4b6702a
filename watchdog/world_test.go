package watchdog

import (
	"fmt"
	"strings"

	"time"
)

// world is a cluster in memory, the hands of people on it, and a runner that answers decisions as
// the real one does. Time passes only when a test says so.
type world struct {
	policy Policy
	now    Clock
	state  State
	nodes  []*node
	health int // what /health says; 0: its port is refused
	canary string
	moving string // the counters: moving, flat or absent
	count  float64
	flag   Flag
	fault  string
	checks string   // what the checks would say at the end of a disarm; empty: they pass
	next   []string // how the next restarts end
	always string   // how all others end
	ids    int
	log    []string // what the runner and the looks said since the last drain
	acted  []acted  // every action that was carried out
}

// node is one host and its rank.
type node struct {
	name   string
	silent bool // no SSH
	docker bool // its Docker does not answer
	box    *Container
	since  Clock
	events []Event
	lost   bool // Docker has forgotten: too many events
}

// acted is one action carried out, with the state it was decided on.
type acted struct {
	d      Decision
	before State
	at     Clock
}

func newWorld(nodes int) *world {
	w := &world{policy: rowPolicy(), now: noon, health: 0, canary: "refused", moving: "absent", always: "launched"}
	for i := range nodes {
		w.nodes = append(w.nodes, &node{name: fmt.Sprintf("n%d", i+1)})
	}
	return w
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	if w.moving == "moving" {
		w.count += d.Seconds()
	}
}

// observe is one look.
func (w *world) observe(ranksOnly bool) Observation {
	o := Observation{At: w.now, RanksOnly: ranksOnly, Flag: w.flag, StoreFault: w.fault}
	for i, n := range w.nodes {
		o.Ranks = append(o.Ranks, w.rank(i, n))
	}
	if w.policy.FlagOver(w.flag, w.now) {
		o.Checks = &Checks{Failed: w.checks}
	}
	if ranksOnly {
		return o
	}
	if w.health != 0 {
		o.Health = HTTP{Outcome: Answered, Status: w.health}
	} else {
		o.Health = HTTP{Outcome: Refused}
	}
	o.Before = w.counters()
	o.Canary = w.ask()
	o.After = w.counters()
	return o
}

func (w *world) rank(i int, n *node) Rank {
	r := Rank{Node: n.name, SSH: ReachOK, Docker: ReachOK, Clock: w.now.Wall}
	switch {
	case n.silent:
		return Rank{Node: n.name, SSH: ReachTimeout, Err: "dial: timeout"}
	case n.docker:
		return Rank{Node: n.name, SSH: ReachOK, Docker: ReachTimeout, Err: "docker does not answer"}
	}
	if n.box != nil {
		c := *n.box
		c.Age = w.now.Since(n.since)
		r.Container = &c
	}
	from := time.Time{}
	if i < len(w.state.Ranks) {
		from = w.state.Ranks[i].Clock
	}
	for _, e := range n.events {
		if e.At.After(from) {
			r.Events = append(r.Events, e)
		}
	}
	r.EventsSeen = len(r.Events)
	if n.lost {
		r.Events, r.EventsSeen = nil, 256
	}
	return r
}

func (w *world) counters() Counters {
	if w.moving == "absent" {
		return Counters{HTTP: HTTP{Outcome: Answered, Status: 404}}
	}
	return Counters{HTTP: HTTP{Outcome: Answered, Status: 200}, Engine: VLLM, Engines: engines(w.count)}
}

// ask is the canary. One that is served moves the counters, where there are any.
func (w *world) ask() Canary {
	answered := func(status int) Canary { return Canary{HTTP: HTTP{Outcome: Answered, Status: status}} }
	switch w.canary {
	case "served":
		w.count++
		c := answered(200)
		c.WellFormed, c.Choices, c.Tokens = true, 1, 1
		return c
	case "unanswered":
		return Canary{HTTP: HTTP{Outcome: Unanswered, Took: 30 * time.Second}}
	case "refused":
		return Canary{HTTP: HTTP{Outcome: Refused}}
	case "skipped":
		return Canary{}
	default:
		status := 0
		if _, err := fmt.Sscan(w.canary, &status); err != nil {
			panic("no such canary: " + w.canary)
		}
		c := answered(status)
		c.Error = "no"
		return c
	}
}

// tick is one run of the program: a look, a second one where asked for, and the hands.
func (w *world) tick() Decision {
	d := w.decide(false)
	if d.Action == ActLookAgain {
		w.pass(20 * time.Second)
		d = w.decide(true)
	}
	if d.EndFlag {
		w.flag = Flag{}
		w.say("         the flag is over and taken away")
	}
	if d.EndFlusher {
		last, _ := w.state.Flusher()
		w.state.Attempts[last.ID-1].FlusherEnded = true
	}
	switch d.Action {
	case ActRestart, ActLaunch, ActResume:
		w.acted = append(w.acted, acted{d, w.state, w.now})
		w.act(d)
	}
	return d
}

func (w *world) decide(ranksOnly bool) Decision {
	before := w.state
	d := Decide(w.policy, before, w.observe(ranksOnly))
	w.state = d.Next
	w.state.Attempts, w.state.Arm, w.state.Reset = before.Attempts, before.Arm, before.Reset
	w.say("%s", lookLine(before.Phase, d, w.now))
	for _, n := range d.Notices {
		w.say("         tell %s: %s", n.Kind, n.Text)
	}
	return d
}

// lookLine is what a transcript says of one look.
func lookLine(before Phase, d Decision, now Clock) string {
	p := before.String()
	if before != d.Next.Phase {
		p += " -> " + d.Next.Phase.String()
	}
	line := fmt.Sprintf("%s %s | %s | %s", now.Wall.Format("15:04:05"), p, d.Action, d.Sentence())
	if d.Preserve {
		line += " | logs preserved"
	}
	if d.EndFlusher {
		line += " | flusher ended"
	}
	return line
}

// start makes a container of a rank run; id "" makes a new one.
func (w *world) start(i int, id string) {
	if id == "" {
		w.ids++
		id = fmt.Sprintf("id%d", w.ids)
	}
	w.nodes[i].box = &Container{ID: id, Status: "running", StartedAt: w.now.Wall.Format(time.RFC3339), ImageID: "image"}
	w.nodes[i].since = w.now
	w.event(i, "start", "")
	if i == 0 {
		w.count = 0
	}
}

// runs says what stands on the nodes.
func (w *world) runs() string {
	var all []string
	for _, n := range w.nodes {
		if n.box == nil {
			all = append(all, n.name+" nothing")
			continue
		}
		all = append(all, fmt.Sprintf("%s %s %s", n.name, n.box.ID, n.box.Status))
	}
	return strings.Join(all, ", ")
}

func (w *world) event(i int, action, signal string) {
	n := w.nodes[i]
	id := ""
	if n.box != nil {
		id = n.box.ID
	}
	n.events = append(n.events, Event{At: w.now.Wall, ID: id, Action: action, Signal: signal})
}

// exit ends a rank by itself.
func (w *world) exit(i, code int) {
	if b := w.nodes[i].box; b != nil && b.Running() {
		w.event(i, "die", "")
		b.Status, b.ExitCode = "exited", code
	}
}

// remove takes a container away with `docker rm -f`.
func (w *world) remove(i int) {
	n := w.nodes[i]
	if n.box == nil {
		return
	}
	if n.box.Running() {
		w.event(i, "kill", "KILL")
		w.event(i, "die", "")
	}
	w.event(i, "destroy", "")
	n.box = nil
}

// stop is a person's `docker stop`.
func (w *world) stop(i int) {
	b := w.nodes[i].box
	if b == nil || !b.Running() {
		return
	}
	w.event(i, "kill", "TERM")
	w.event(i, "die", "")
	w.event(i, "stop", "")
	b.Status, b.ExitCode = "exited", 143
}

// dockerRestart is what a restart policy does after a crash.
func (w *world) dockerRestart(i int) {
	b := w.nodes[i].box
	if b == nil {
		return
	}
	w.event(i, "die", "")
	b.Status, b.StartedAt, w.nodes[i].since = "running", w.now.Wall.Format(time.RFC3339), w.now
	b.RestartCount++
}

func (w *world) arm(launch bool) {
	w.flag = Flag{}
	w.state.Arm = &Arm{Who: "anna", At: w.now, Identity: w.policy.Identity, Launch: launch}
}
