package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// durable is a memory whose last save can be undone, as by a power cut on a disk that lies.
type durable interface {
	memory
	mark()     // before a save
	rollback() // to the last mark
	damage()   // makes it unreadable
	forget()   // what it has lent to a run that did not end well
	peek() (watchdog.State, error)
}

// records are what a store in memory holds. Nothing of it is ever changed in place.
type records struct {
	state    watchdog.State
	attempts []watchdog.Attempt
	arm      *watchdog.Arm
	reset    watchdog.Clock
	good     *watchdog.LastGood
	row      []state.Row
	damaged  bool
}

// memoryStore stands for *state.Store.
type memoryStore struct {
	dir         string
	now, marked records
	lent        []watchdog.Attempt // to runs, which may change the last of them
}

func (m *memoryStore) mark()     { m.marked = m.now }
func (m *memoryStore) rollback() { m.now, m.lent = m.marked, nil }
func (m *memoryStore) forget()   { m.lent = nil }
func (m *memoryStore) damage()   { m.now.damaged = true }

func (m *memoryStore) fault() error {
	if m.now.damaged {
		return &state.DamageError{Path: "state.db", Cause: errors.New("simulated")}
	}
	return nil
}

func (m *memoryStore) Load() (watchdog.State, error) {
	if err := m.fault(); err != nil {
		return watchdog.State{}, err
	}
	st := m.now.state
	st.Arm, st.Reset, st.LastGood = m.now.arm, m.now.reset, m.now.good
	if n := len(m.now.attempts); n > 0 && m.lent == nil {
		m.lent = slices.Clone(m.now.attempts)
		m.lent[n-1] = copied(m.lent[n-1])
	}
	st.Attempts = m.lent
	return st, nil
}

// peek is Load for those who only look on while a run is at work: nothing of it is lent.
func (m *memoryStore) peek() (watchdog.State, error) {
	st := m.now.state
	st.Arm, st.Reset, st.LastGood, st.Attempts = m.now.arm, m.now.reset, m.now.good, m.now.attempts
	return st, m.fault()
}

// copied shares nothing that a runner changes.
func copied(a watchdog.Attempt) watchdog.Attempt {
	a.Destroy, a.Launched, a.MemFree = slices.Clone(a.Destroy), slices.Clone(a.Launched), slices.Clone(a.MemFree)
	return a
}

func (m *memoryStore) Rows(int) ([]state.Row, error) { return m.now.row, m.fault() }

func (m *memoryStore) NextAttemptID() (int, error) {
	if n := len(m.now.attempts); n > 0 {
		return m.now.attempts[n-1].ID + 1, m.fault()
	}
	return 1, m.fault()
}

func (m *memoryStore) SaveLook(next watchdog.State, row state.Row, _ *watchdog.Observation) error {
	next.Attempts, next.Arm, next.Reset, next.LastGood = nil, nil, watchdog.Clock{}, nil
	m.now.state, m.now.row = next, []state.Row{row}
	return m.fault()
}

func (m *memoryStore) SaveTold(told []string) error {
	m.now.state.Told = slices.Clone(told)
	return m.fault()
}

func (m *memoryStore) SaveLastGood(good *watchdog.LastGood) error {
	m.now.good = good
	return m.fault()
}

func (m *memoryStore) SaveAttempt(a watchdog.Attempt) error {
	const most = 50
	all := slices.DeleteFunc(slices.Clone(m.now.attempts), func(x watchdog.Attempt) bool { return x.ID == a.ID })
	all = append(all, copied(a))
	m.now.attempts, m.lent = all[max(0, len(all)-most):], nil
	return m.fault()
}

func (m *memoryStore) SaveArm(arm *watchdog.Arm) error {
	m.now.arm = arm
	return m.fault()
}

func (m *memoryStore) Record(state.Deed) error { return m.fault() }

func (m *memoryStore) SaveReset(at watchdog.Clock) error {
	m.now.reset = at
	return m.fault()
}

func (m *memoryStore) SetAside(now time.Time, why string) (string, error) {
	m.now, m.lent = records{}, nil
	return "aside", state.WriteFlag(m.dir, watchdog.Flag{Present: true, Who: "watchdog", When: now, Reason: why})
}

// fileStore is the real database, with its file kept from before the last save.
type fileStore struct {
	*state.Store
	marked []byte
	saved  []byte // what was written beside it
}

func (f *fileStore) savedPath() string { return filepath.Join(filepath.Dir(f.Path()), "saved") }

func (f *fileStore) mark() {
	f.marked, _ = os.ReadFile(f.Path())
	f.saved, _ = os.ReadFile(f.savedPath())
}

func (f *fileStore) rollback() {
	if f.marked != nil {
		for path, content := range map[string][]byte{f.Path(): f.marked, f.savedPath(): f.saved} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				panic(err)
			}
		}
	}
}

func (f *fileStore) forget() {}

func (f *fileStore) peek() (watchdog.State, error) { return f.Load() }

func (f *fileStore) damage() {
	if err := os.WriteFile(f.Path(), make([]byte, 1<<16), 0o600); err != nil {
		panic(err)
	}
}
