package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/restart"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// head is one machine with a watchdog on it.
type head struct {
	*simulation
	number int
	name   string
	config Config
	policy watchdog.Policy
	plan   *restart.Plan
	store  durable

	storage sync.Mutex // of the store, while a run is at work
	machine sync.Mutex // of what follows
	boots   int
	booted  time.Time
	jump    time.Duration // of its wall clock
	odd     bool          // one of its clocks has ever jumped
	asleep  time.Duration // in all, as its clocks have it: everything else stood still with it
	nap     time.Duration // the next time it is suspended ...
	napIn   int           // ... after so many things that it does
	down    time.Time     // until then it does not run
	full    bool          // its disk
	running *process

	lock  chan struct{} // held by a tick or a person's command, as the lock file is
	code  int           // of its last tick
	facts facts         // what is true of it, as the invariants need it
}

func newHead(t testing.TB, s *simulation, number int) *head {
	t.Helper()
	h := &head{simulation: s, number: number, name: string(rune('A' + number)), booted: time.Now().Add(-time.Hour), lock: make(chan struct{}, 1)}
	dir := t.TempDir()
	h.config = defaultConfig()
	h.config.Container, h.config.StateDir, h.config.LogDir = "vllm", dir, "/dev/null/none" // no evidence is kept
	h.config.SSH.User, h.config.Server.URL = "ops", "http://n1:8000"
	h.config.Launch.Command, h.config.Launch.Image = "launch", "image"
	h.config.Checks = ChecksConfig{Mounts: []MountConfig{{Path: "/models"}}, Disk: []DiskConfig{{Path: "/", MinFree: 1}}}
	h.config.Settle.MemoryFloor = 64 * GiB
	h.config.ActingLock = filepath.Join(dir, "acting", "lock")
	for rank := range s.options.nodes {
		h.config.Nodes = append(h.config.Nodes, NodeConfig{Name: fmt.Sprintf("n%d", rank+1)})
	}
	if s.options.files {
		h.config.LogDir = filepath.Join(dir, "cases")
		store, err := state.Open(dir, state.Examine) // there are no processes in this time
		if err != nil {
			t.Fatal(err)
		}
		h.store = &fileStore{Store: store}
	} else {
		h.store = &memoryStore{dir: dir}
	}
	h.policy = h.config.Policy(time.Now().Add(-24 * time.Hour))
	settings := h.config.settings()
	settings.Owner = restart.Owner{ID: "id-of-" + h.name, Name: h.name, StateDir: dir}
	plan, err := restart.NewPlan(settings, restart.Steps())
	if err != nil {
		t.Fatal(err)
	}
	h.plan = plan
	return h
}

// clock reads the head's clocks.
func (h *head) clock() watchdog.Clock {
	h.machine.Lock()
	defer h.machine.Unlock()
	now := time.Now()
	return watchdog.Clock{Wall: now.Add(h.jump + h.asleep).UTC(), Boot: now.Sub(h.booted) + h.asleep, BootID: fmt.Sprintf("boot-%d", h.boots)}
}

// now is what its clocks say to a run that knows the last look.
func (h *head) now() watchdog.Clock {
	st, _ := h.store.peek()
	return h.clock().InLifeOf(st.Last)
}

// real is the true time as the head has it: with what it has slept.
func (h *head) real() time.Time {
	h.machine.Lock()
	defer h.machine.Unlock()
	return time.Now().Add(h.asleep)
}

// suspend lets the head sleep. What runs on it does not see it, but by its clocks and those of the nodes.
func (h *head) suspend(d time.Duration) {
	h.say("%s: the head is suspended for %s", h.name, d)
	h.disturb(6 * time.Minute)
	h.cluster.Shift(d)
	h.change(func() { h.asleep += d })
}

// tired lets the head fall asleep where it is due, at one of the things that a run does.
func (h *head) tired() {
	var d time.Duration
	h.change(func() {
		if h.napIn > 0 {
			if h.napIn--; h.napIn == 0 {
				d = h.nap
			}
		}
	})
	if d > 0 {
		h.suspend(d)
	}
}

// setClock sets its wall clock, to the true time or that far from it.
func (h *head) setClock(jump time.Duration) {
	h.say("%s: the wall clock is set to %s from the true time", h.name, jump)
	h.change(func() { h.jump, h.odd = jump, true })
}

// putBack lets the machine go on from a snapshot: its boot id is the same, its time since boot of then.
func (h *head) putBack(d time.Duration) {
	h.change(func() {
		if h.running == nil && time.Since(h.booted)+h.asleep > d+time.Hour {
			h.booted, h.odd = h.booted.Add(d), true
		}
	})
	h.say("%s: the machine goes on from a snapshot, %s back", h.name, d)
}

func (h *head) flag() watchdog.Flag { return state.ReadFlag(h.config.StateDir) }

func (h *head) session(p *process) *session {
	s := &session{
		app: &app{out: io.Discard, errs: io.Discard}, config: h.config, policy: h.policy, plan: h.plan, log: zerolog.Nop(),
		store: disk{h.store, p}, nodes: wire{p.conns, p}, prober: eyes{p},
	}
	s.now = func() watchdog.Clock { return h.clock().InLifeOf(s.last) }
	return s
}

// tick runs the program once, to its end or until it is killed.
func (h *head) tick(killAt int) *process { return h.tickUntil(killAt, nil) }

// tickUntil runs it until that effect; then something else may happen than its end.
func (h *head) tickUntil(killAt int, after func()) *process {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := &process{head: h, conns: h.cluster.Dial("watchdog " + h.name), began: time.Now(), cancel: cancel, killAt: killAt, after: after, passed: map[string]time.Time{}}
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	h.setRunning(p)
	err := h.session(p).run(ctx)
	h.setRunning(nil)
	if err != nil || p.dead {
		h.store.forget()
	}
	if code := exitCode(err); code != h.code && !p.dead {
		h.say("%s: exit %d %v", h.name, code, err)
		h.code = code
	}
	h.afterTick(p)
	return p
}

func (h *head) setRunning(p *process) {
	h.machine.Lock()
	defer h.machine.Unlock()
	h.running = p
}

// isFull says whether nothing can be saved.
func (h *head) isFull() bool {
	h.machine.Lock()
	defer h.machine.Unlock()
	return h.full
}

func (h *head) isDown() bool {
	h.machine.Lock()
	defer h.machine.Unlock()
	return time.Now().Before(h.down)
}

// jumped says whether its wall clock was ever wrong.
func (h *head) jumped() bool {
	h.machine.Lock()
	defer h.machine.Unlock()
	return h.odd
}

// change changes the machine.
func (h *head) change(do func()) {
	h.machine.Lock()
	defer h.machine.Unlock()
	do()
}

// byHand runs a person's command, unless a tick runs now: then it is dropped.
func (h *head) byHand(do func()) (done bool) {
	select {
	case h.lock <- struct{}{}:
		defer func() { <-h.lock }()
		do()
		return true
	default:
		return false
	}
}

// kill ends whatever runs on the head now.
func (h *head) kill() {
	h.machine.Lock()
	p := h.running
	h.machine.Unlock()
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dead {
		p.dead = true
		p.cancel()
	}
}

// reboot ends the head's machine, with what runs on it; the last save may be lost.
func (h *head) reboot(takes time.Duration, lost bool) {
	h.say("%s: the head reboots, its last save is lost: %v", h.name, lost)
	h.kill()
	h.lock <- struct{}{} // what was killed has ended
	if lost {
		h.store.rollback()
		h.lostSave()
	}
	<-h.lock
	h.change(func() {
		h.down = time.Now().Add(takes)
		h.boots++
		h.booted = h.down.Add(h.asleep) // what it slept before counts no more
	})
	if h.number == 0 {
		h.cluster.Reboot(0, takes)
	}
}

// live is the timer: a tick each minute while the machine runs.
func (h *head) live(until time.Time) {
	const period = time.Minute
	offset := 5*time.Second + time.Duration(h.number)*(31*time.Second+7)
	for {
		next := time.Now().Truncate(period).Add(period + offset + 1)
		if time.Until(next) > period {
			next = next.Add(-period)
		}
		if next.After(until) {
			return
		}
		time.Sleep(time.Until(next))
		if h.isDown() || h.stopped() {
			continue
		}
		killAt := 0
		if h.options.kills && h.one(12, "kill "+h.name, 0) {
			const most = 70 // effects of a restart
			killAt = 1 + int(h.draw("kill after "+h.name, 0)%most)
		}
		if p := h.tick(killAt); p.dead && killAt > 0 {
			h.disturb(20 * time.Minute)
			if h.one(3, "power "+h.name, 0) {
				h.reboot(h.between(2*time.Minute, 9*time.Minute, "reboot "+h.name, 0), h.one(2, "lost "+h.name, 0))
			}
		}
	}
}

// arm is `cluster-watchdog arm`, without its checks.
func (h *head) arm(launch bool) {
	h.say("%s: a person arms, launch %v", h.name, launch)
	arm := &watchdog.Arm{Who: "a person", At: h.now(), Identity: h.policy.Identity, Launch: launch}
	h.store.mark()
	if h.isFull() || h.store.SaveArm(arm) != nil {
		return
	}
	_ = os.Remove(state.FlagPath(h.config.StateDir))
}

// disarm is `cluster-watchdog disarm`, or a file that a person touched.
func (h *head) disarm(length time.Duration) {
	h.say("%s: a person disarms for %s", h.name, length)
	if length == 0 {
		_ = os.WriteFile(state.FlagPath(h.config.StateDir), nil, 0o600)
		return
	}
	now := h.now()
	_ = state.WriteFlag(h.config.StateDir, watchdog.Flag{Present: true, Who: "a person", When: now.Wall, Reason: "maintenance",
		Until: now.Wall.Add(length), Ends: now.Add(length)})
}

// reset is `cluster-watchdog reset`.
func (h *head) reset() {
	h.say("%s: a person resets", h.name)
	h.store.mark()
	if !h.isFull() && h.store.SaveReset(h.now()) == nil {
		h.resetSeen()
	}
}
