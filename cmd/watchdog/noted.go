package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/scripts"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// notedNodes and notedMemory note what is asked of a node or of the disk, for whereabouts.
type notedNodes struct {
	nodes
	names []string
	at    *whereabouts
}

func (n notedNodes) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (restart.Result, error) {
	defer n.at.beginOn(n.names[rank], s.Name())()
	return n.nodes.Run(ctx, rank, s, env)
}

func (n notedNodes) Stream(ctx context.Context, rank int, s scripts.Script, env map[string]string, w io.Writer) (restart.Result, error) {
	defer n.at.beginOn(n.names[rank], s.Name())()
	return n.nodes.Stream(ctx, rank, s, env, w)
}

type notedMemory struct {
	memory
	at *whereabouts
}

func (m notedMemory) Load() (watchdog.State, error) {
	defer m.at.begin("loading the state")()
	return m.memory.Load()
}

func (m notedMemory) Rows(n int) ([]state.Row, error) {
	defer m.at.begin("reading the last looks")()
	return m.memory.Rows(n)
}

func (m notedMemory) Record(d state.Deed) error {
	defer m.at.begin("saving for the history")()
	return m.memory.Record(d)
}

func (m notedMemory) NextAttemptID() (int, error) {
	defer m.at.begin("saving a new attempt's number")()
	return m.memory.NextAttemptID()
}

func (m notedMemory) SaveLook(next watchdog.State, row state.Row, full *watchdog.Observation) error {
	defer m.at.begin("saving what was seen")()
	return m.memory.SaveLook(next, row, full)
}

func (m notedMemory) SaveTold(told []string) error {
	defer m.at.begin("saving what was told")()
	return m.memory.SaveTold(told)
}

func (m notedMemory) SaveLastGood(good *watchdog.LastGood) error {
	defer m.at.begin("saving the last good launch")()
	return m.memory.SaveLastGood(good)
}

func (m notedMemory) SaveAttempt(a watchdog.Attempt) error {
	defer m.at.begin(fmt.Sprintf("saving attempt %d", a.ID))()
	return m.memory.SaveAttempt(a)
}

func (m notedMemory) SetAside(now time.Time, why string) (string, error) {
	defer m.at.begin("setting a damaged state aside")()
	return m.memory.SetAside(now, why)
}
