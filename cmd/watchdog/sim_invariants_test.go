package main

import (
	"fmt"
	"slices"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// facts are what is true of one head, whatever its watchdog believes.
type facts struct {
	stopped  time.Time      // the last stop by a person of a rank that ran, that a look can tell
	started  time.Time      // the last start that was not ours
	unseen   bool           // no look has seen all nodes since
	answered bool           // all nodes did at the last look
	reset    time.Time      // the last reset by a person
	trouble  time.Time      // the first of the looks in a row at which something was wrong
	saved    watchdog.Clock // of the last look that was saved
	looked   time.Time      // when the last look began
	served   bool           // at the last look
	launches []launched
	reached  []watchdog.Clock // launches since the last reset, as they were recorded
	lost     int              // saves that a power cut has taken back
	phase    watchdog.Phase
	since    time.Time // of the phase
	said     string
}

// launched is one launch that was really made.
type launched struct {
	attempt int
	at      watchdog.Clock
	really  time.Time // whatever the head's clocks said
}

// What the documentation promises, whatever the policy says.
const (
	budgetCount  = 2
	budgetWindow = 6 * time.Hour
	personsTime  = 10 * time.Minute
)

// Checks that must have passed on every node before anything is destroyed.
var mustPass = []string{"check/shell", "check/docker", "check/mount", "check/image", "check/sudo", "check/disk", "check/identity"}

// What must have passed on every node before anything is launched.
var mustBeClean = []string{"destroy/remove", "destroy/gone", "settle/flusher", "settle/memory", "settle/orphans"}

func onNode(script string, rank int) string { return fmt.Sprintf("%s on n%d", script, rank+1) }

// lacking names the first script of a list that has not passed on some rank in this run.
func (p *process) lacking(list []string, within time.Duration) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, script := range list {
		for rank := range p.options.nodes {
			at, ok := p.passed[onNode(script, rank)]
			if !ok || p.real().Sub(at) > within {
				return onNode(script, rank)
			}
		}
	}
	return ""
}

// beforeScript holds when a script is about to be run on a node.
func (s *simulation) beforeScript(p *process, rank int, script scripts.Script, env map[string]string) {
	if script.Class() < scripts.Destroy {
		return
	}
	p.storage.Lock()
	st, err := p.store.peek()
	p.storage.Unlock()
	s.must(err == nil, "nothing is done without a memory", "%s: %v", script.Name(), err)
	if script.Name() == "settle/endflusher" {
		return
	}
	s.must(len(st.Attempts) > 0, "an attempt is on disk before it acts", "%s", script.Name())
	if err != nil || len(st.Attempts) == 0 {
		return
	}
	a := st.Attempts[len(st.Attempts)-1]
	s.must(st.Last.Equal(p.looked), "a look is on disk before it is acted on", "on disk is the look at %s", st.Last.Wall)
	s.must(!a.Committed.IsZero(), "the commit is on disk before the first destructive step", "%s of attempt %d", script.Name(), a.ID)
	if script.Class() != scripts.Settle {
		f := p.flag()
		s.must(!f.Present && st.Arm != nil && st.Arm.Identity == p.policy.Identity, "nothing is destroyed or launched while disarmed", "%s, flag %+v", script.Name(), f)
	}
	switch id := env["WATCHDOG_ID"]; script.Name() {
	case "destroy/remove":
		const stale = 2 * time.Minute
		lacks := p.lacking(mustPass, stale)
		s.must(p.removes || lacks == "", "nothing is destroyed on a stale clearance", "%s did not pass within %s", lacks, stale)
		s.must(id == "" || (rank < len(a.Destroy) && a.Destroy[rank] == id), "only what the commit names is destroyed", "%.12s on n%d, named are %.12q", id, rank+1, a.Destroy)
		s.must(!p.well || !s.groupWell() || a.By != "", "a healthy group is never destroyed", "attempt %d: %s", a.ID, a.Why)
	case "settle/flusher":
		s.must(a.Flusher, "a flusher is on disk before it is started", "n%d", rank+1)
	case "launch/launch":
		s.beforeLaunch(p, a, rank)
	}
}

func (s *simulation) beforeLaunch(p *process, a watchdog.Attempt, rank int) {
	s.must(!a.Launching.IsZero(), "launching is on disk before the first launch", "n%d", rank+1)
	if len(a.Launched) == 0 {
		lacks := p.lacking(mustBeClean, time.Hour)
		s.must(lacks == "", "nothing is launched on what was found fit long ago", "%s did not pass", lacks)
	}
	for r := range s.options.nodes {
		x := s.cluster.Look(r)
		s.must(x.ID == "" || !slices.Contains(a.Destroy, x.ID), "nothing is launched over a half-cleaned group", "%.12s stands on n%d", x.ID, r+1)
	}
	x := s.cluster.Look(rank)
	s.must(x.ID == "" || x.By != "watchdog "+p.name, "never two containers of a name", "%.12s of %s stands on n%d", x.ID, x.By, rank+1)
	if rank == 0 {
		p.mu.Lock()
		for r := 1; r < s.options.nodes; r++ {
			_, ok := p.passed[onNode("launch/launch", r)]
			s.must(ok, "the head is launched after all workers", "n%d was not", r+1)
		}
		p.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.heads {
		if other != p.head {
			other.facts.started, other.facts.stopped, other.facts.unseen = other.real(), time.Time{}, true
		}
	}
	f := &p.facts
	if n := len(f.launches); a.By == "" && (n == 0 || f.launches[n-1].attempt != a.ID) {
		f.launches = append(f.launches, launched{a.ID, p.clock(), p.real()})
		used := 0
		for _, l := range f.launches {
			// A clock set back makes old ones young again; what was decided before a reboot goes on after it.
			if p.clock().Since(l.at) < budgetWindow && p.real().Sub(l.really) < budgetWindow {
				used++
			}
		}
		s.mustLocked(used <= budgetCount+f.lost, "the budget is never exceeded", "%d launches in %s", used, budgetWindow)
	}
}

// beforeAttempt holds when an attempt is about to be saved.
func (s *simulation) beforeAttempt(p *process, st watchdog.State, a watchdog.Attempt) {
	var old watchdog.Attempt
	if i := slices.IndexFunc(st.Attempts, func(x watchdog.Attempt) bool { return x.ID == a.ID }); i >= 0 {
		old = st.Attempts[i]
	}
	// Docker's starts over and over are a failure, also while the last of them loads.
	begun := old.Tries == 0 && a.By == "" && s.options.policy == ""
	s.must(!begun || !p.well || !s.groupWell(), "no restart is begun for a healthy group", "attempt %d: %s", a.ID, a.Why)
	s.must(!p.told || a.Tries == old.Tries, "nothing is begun while disarmed", "attempt %d: %s", a.ID, a.Why)
	if a.Step == "commit" && a.Tries == old.Tries && a.Outcome == watchdog.OutcomeNone { // neither the first save of a try that goes on after it, nor its end
		s.atCommit(p, old, a)
	}
	if !a.Launching.IsZero() && old.Launching.IsZero() {
		lacks := p.lacking(mustBeClean, 24*time.Hour)
		s.must(lacks == "", "only what reaches its launch is counted", "launching was recorded before %s passed", lacks)
		s.mu.Lock()
		p.facts.reached = append(p.facts.reached, a.Launching)
		s.mu.Unlock()
	}
	if a.Outcome == watchdog.OutcomeLaunched && old.Outcome != a.Outcome {
		lacks := p.lacking([]string{"launch/verify"}, 24*time.Hour)
		s.must(lacks == "", "launched means that every rank was seen running", "%s did not pass", lacks)
	}
}

func (s *simulation) atCommit(p *process, old, a watchdog.Attempt) {
	lacks := p.lacking(mustPass, time.Minute)
	s.must(lacks == "", "all checks pass a moment before the commit", "%s did not", lacks)
	s.must(!p.flag().Present, "no commit while disarmed", "attempt %d", a.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.options.nodes {
		up := s.cluster.Look(r).Up || time.Since(s.network) < time.Minute
		s.mustLocked(up, "unknown never destroys", "n%d cannot be reached", r+1)
	}
	s.mustLocked(!p.first, "after a gap in knowledge the first look only looks", "attempt %d: %s", a.ID, a.Why)
	if a.By != "" || !old.Committed.IsZero() {
		return
	}
	f := &p.facts
	const again = 20 * time.Second
	s.mustLocked(!f.trouble.IsZero() && p.real().Sub(f.trouble) >= again, "nobody is judged on one look", "something is wrong since %s: %s", f.trouble.Format(time.TimeOnly), a.Why)
	seen := f.stopped.Before(f.looked) // later ones no look has told it of
	s.mustLocked(!seen || p.real().Sub(f.stopped) >= personsTime-time.Second, "a person's stop has its grace", "stopped at %s: %s", f.stopped.Format(time.TimeOnly), a.Why)
}

// beforeLook takes in how things are when a run begins to look.
func (s *simulation) beforeLook(p *process) {
	const gap = 5 * time.Minute
	f := p.flag()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := p.facts.saved
	now := p.clock().InLifeOf(last)
	p.first = last.BootID != now.BootID || now.Since(last) > gap
	p.told = f.Present && f.Until.IsZero()
}

// afterSeeing takes in what a look saw, and returns when the one before was.
func (s *simulation) afterSeeing(p *process, began time.Time, well bool, o watchdog.Observation) (last watchdog.Clock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &p.facts
	f.looked, f.served = began, o.Canary.Served()
	f.answered = !slices.ContainsFunc(o.Ranks, func(r watchdog.Rank) bool { return !r.DockerAnswered() })
	switch {
	case well:
		f.trouble = time.Time{}
	case f.trouble.IsZero():
		f.trouble = began
	}
	return f.saved
}

// afterLook holds when a look was saved.
func (s *simulation) afterLook(p *process, before, next watchdog.State, row state.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &p.facts
	if before.Phase == watchdog.GivenUp && next.Phase != watchdog.GivenUp {
		ways := f.served || f.reset.After(f.since) || f.started.After(f.since) || f.unseen
		s.mustLocked(ways, "GIVEN_UP is left by a completion, a person's start or a reset alone", "since %s: %s", f.since.Format(time.TimeOnly), row.Sentence)
	}
	f.unseen = f.unseen && !f.answered
	f.saved = next.Last
	if next.Phase == watchdog.GivenUp && row.Reason == watchdog.ReasonBudget.String() && before.Phase != watchdog.GivenUp {
		used := 0
		for _, at := range f.reached {
			if p.clock().InLifeOf(f.saved).Since(at) <= budgetWindow+time.Minute {
				used++
			}
		}
		// Across three boots only the wall clock can tell what was before a reset.
		s.mustLocked(used >= budgetCount || p.jumped(), "only launches use up the budget", "%d were reached: %s", used, row.Sentence)
	}
	if next.Phase != f.phase {
		f.phase, f.since = next.Phase, p.real()
	}
	if said := row.Phase + row.Action + row.Reason; said != f.said {
		f.said = said
		s.say("%s: %s", p.name, row.Sentence)
	}
}

// afterTick holds when a run has ended by itself.
func (s *simulation) afterTick(p *process) {
	if p.dead || p.isFull() {
		return
	}
	st, err := p.store.Load()
	s.must(err == nil && st.Last.Equal(p.looked), "what a look concludes is remembered", "its last look was at %s, on disk is %s, %v", p.looked.Wall, st.Last.Wall, err)
}

func (h *head) lostSave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts.lost++
	if st, err := h.store.Load(); err == nil {
		h.facts.phase, h.facts.saved = st.Phase, st.Last
	}
}

func (h *head) resetSeen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts.reset, h.facts.launches, h.facts.reached, h.facts.lost = h.real(), nil, nil, 0
	h.facts.stopped = time.Time{} // who resets lets restarts happen again
}

// forgotten takes in that the whole memory is gone, the leave to act with it.
func (h *head) forgotten() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts.launches, h.facts.reached, h.facts.lost, h.facts.phase, h.facts.saved = nil, nil, 0, watchdog.None, watchdog.Clock{}
}
