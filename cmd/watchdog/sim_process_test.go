package main

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/restart/clustertest/memcluster"
	"cluster-watchdog/scripts"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// process is one run of the program. It can be ended after any of its effects: a save, or a script
// that was run on a node. From then on nothing of it happens any more.
type process struct {
	*head
	conns  *memcluster.Conns
	began  time.Time
	cancel context.CancelFunc

	mu      sync.Mutex
	killAt  int    // the last effect it lives to see; 0: it is not killed
	after   func() // what happens after that effect in its place; nil: it is killed
	effects int
	dead    bool
	passed  map[string]time.Time // "check/identity 1": when that script passed on that rank in this run
	looked  watchdog.Clock       // of its last look
	first   bool                 // its first look was the first one after a gap in knowledge
	told    bool                 // a flag without an end stood before its first look
	removes bool                 // it has removed a container
	well    bool                 // nothing was wrong with the group at its last look
}

var errKilled = errors.New("killed")

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// effect counts one and says whether the process has lived through it.
func (p *process) effect(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.effects++
	if p.effects == p.killAt && p.after != nil {
		p.after()
	} else if p.effects == p.killAt && !p.dead {
		p.dead = true
		p.say("%s: killed after effect %d, %s", p.name, p.effects, what)
		p.cancel()
	}
	return !p.dead
}

func (p *process) pass(script string, rank int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed[onNode(script, rank)] = p.real()
}

// wire are the connections of one process.
type wire struct {
	*memcluster.Conns
	*process
}

func (w wire) LeaveAlone(rank int, left time.Duration) { w.Conns.LeaveAlone(rank, left) }

func (w wire) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (restart.Result, error) {
	if w.isDead() {
		return restart.Result{}, errKilled
	}
	w.beforeScript(w.process, rank, s, env)
	res, err := w.Conns.Run(ctx, rank, s, env)
	w.tired()
	if w.isDead() {
		return restart.Result{}, errKilled
	}
	words := "done"
	if err != nil {
		words = err.Error()
	} else {
		w.pass(s.Name(), rank)
	}
	if s.Name() == "destroy/remove" {
		w.mu.Lock()
		w.removes = true
		w.mu.Unlock()
	}
	w.say("%s: %s on n%d: %s", w.name, s.Name(), rank+1, words)
	if s.Class() > scripts.Check && !w.effect(onNode(s.Name(), rank)) {
		return restart.Result{}, errKilled
	}
	return res, err
}

// eyes are the probes of one process.
type eyes struct{ *process }

func (e eyes) saw(began time.Time, o watchdog.Observation) watchdog.Observation {
	e.tired()
	o.Took = e.clock().Since(o.At)
	well := e.groupWell()
	last := e.afterSeeing(e.process, began, well, o)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.looked, e.well = o.At.InLifeOf(last), well
	return o
}

func (e eyes) Look(ctx context.Context, q probe.Questions) watchdog.Observation {
	e.beforeLook(e.process)
	began, at := e.real(), e.clock()
	return e.saw(began, e.conns.Look(ctx, at, q.Known, q.Skip))
}

func (e eyes) LookAtRanks(ctx context.Context, q probe.Questions) watchdog.Observation {
	began, at := e.real(), e.clock()
	return e.saw(began, e.conns.LookAtRanks(ctx, at, q.Known))
}

func (e eyes) Canary(ctx context.Context) watchdog.Canary { return e.conns.Canary(ctx) }

// disk is the memory of one process.
type disk struct {
	durable
	p *process
}

func (d disk) save(what string, do func() error) error {
	switch {
	case d.p.isDead():
		return errKilled
	case d.p.isFull():
		return syscall.ENOSPC
	}
	d.p.tired()
	d.p.storage.Lock()
	d.mark()
	err := do()
	d.p.storage.Unlock()
	if err != nil {
		return err
	}
	if !d.p.effect(what) {
		return errKilled
	}
	return nil
}

func (d disk) Load() (watchdog.State, error) {
	if d.p.isDead() {
		return watchdog.State{}, errKilled
	}
	return d.durable.Load()
}

func (d disk) SaveLook(next watchdog.State, row state.Row, full *watchdog.Observation) error {
	return d.save("SaveLook", func() error {
		before, err := d.durable.peek()
		if err != nil {
			return err
		}
		if err := d.durable.SaveLook(next, row, full); err != nil {
			return err
		}
		d.p.afterLook(d.p, before, next, row)
		return nil
	})
}

func (d disk) SaveAttempt(a watchdog.Attempt) error {
	return d.save("SaveAttempt "+a.Step, func() error {
		st, err := d.durable.peek()
		if err != nil {
			return err
		}
		d.p.beforeAttempt(d.p, st, a)
		return d.durable.SaveAttempt(a)
	})
}

func (d disk) SaveTold(told []string) error {
	return d.save("SaveTold", func() error { return d.durable.SaveTold(told) })
}

func (d disk) SaveLastGood(good *watchdog.LastGood) error {
	return d.save("SaveLastGood", func() error { return d.durable.SaveLastGood(good) })
}

func (d disk) SaveArm(arm *watchdog.Arm) error {
	return d.save("SaveArm", func() error { return d.durable.SaveArm(arm) })
}

func (d disk) Record(deed state.Deed) error {
	return d.save("Record", func() error { return d.durable.Record(deed) })
}

func (d disk) SaveReset(at watchdog.Clock) error {
	return d.save("SaveReset", func() error { return d.durable.SaveReset(at) })
}

func (d disk) SetAside(now time.Time, why string) (string, error) {
	if d.p.isDead() {
		return "", errKilled
	}
	d.p.forgotten()
	return d.durable.SetAside(now, why)
}
