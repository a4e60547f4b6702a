package memcluster_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

var errKilled = errors.New("killed")

// mortal is a process that ends as soon as one script has been run on one node.
type mortal struct {
	*restart.Conns
	script string
	rank   int
	dead   atomic.Bool
	disk   watchdog.Attempt
}

func (m *mortal) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (restart.Result, error) {
	if m.dead.Load() {
		return restart.Result{}, errKilled
	}
	res, err := m.Conns.Run(ctx, rank, s, env)
	if s.Name() == m.script && rank == m.rank {
		m.dead.Store(true)
	}
	if m.dead.Load() {
		return restart.Result{}, errKilled
	}
	return res, err
}

func (m *mortal) save(a watchdog.Attempt) error {
	if m.dead.Load() {
		return errKilled
	}
	m.disk = a
	m.disk.Destroy, m.disk.Launched = slices.Clone(a.Destroy), slices.Clone(a.Launched)
	return nil
}

// TestKilledAtEachStepOverSSH ends a restart over real SSH after each of its steps, on the last node
// that has it. What is on disk then lets the next process go on; or all was launched, and that is for
// the next look to see. Nothing stands twice, and nothing is destroyed that the disk does not name.
func TestKilledAtEachStepOverSSH(t *testing.T) {
	for _, step := range restart.Steps() {
		if step.Class() == scripts.Preserve || step.Name == "dirs" { // streams change nothing; no folders are configured
			continue
		}
		if step.When != nil && !step.When(restart.Settings{}) { // of another order of launches
			continue
		}
		rank := nodes - 1
		if step.On == restart.Head || step.Script == "settle/ports" {
			rank = 0
		}
		t.Run(step.Name, func(t *testing.T) {
			t.Parallel() // each has a cluster of its own
			cluster, dial, ids, dir := overSSH(t, nil)
			set := settings(dir, cluster.Mount, time.Second)
			m := &mortal{Conns: dial(), script: step.Script, rank: rank}
			_, err := try(t, m, set, ids, watchdog.Attempt{ID: 1, Why: "rank 1 exited", Incident: 1}, m.save)
			m.Close()
			if !m.dead.Load() || !errors.Is(err, errKilled) {
				t.Fatalf("it lived through %s: %v", step.Name, err)
			}
			now := standing(t, cluster)
			for rank, id := range ids {
				if now[rank] != id && (m.disk.Committed.IsZero() || m.disk.Destroy[rank] != id) {
					t.Errorf("n%d: %.12s is gone, on disk is %+v", rank+1, id, m.disk)
				}
			}
			if !m.disk.Launching.IsZero() {
				return // a boot of ours
			}
			next := &mortal{Conns: dial()}
			defer next.Close()
			a, err := try(t, next, set, now, m.disk, next.save)
			if err != nil || a.Outcome != watchdog.OutcomeLaunched || !a.Counted() || slices.Contains(standing(t, cluster), "") {
				t.Errorf("the next process ends %s in %s: %s, %v", a.Outcome, a.Step, a.Error, err)
			}
		})
	}
}
