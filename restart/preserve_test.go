package restart

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// W07: the log of one rank never comes. The others' are saved whole, and what there was of it is kept;
// no container is removed before, and the restart goes on when the time for preserving is over.
func TestOneLogHangsW07(t *testing.T) {
	const nodes, hung = 4, 2
	synctest.Test(t, func(t *testing.T) {
		set := rackSettings(t, nodes)
		r := newRack(t, set)
		s := &streamer{Remote: r, pause: func(rank, part int) time.Duration {
			if rank == hung && part > 0 {
				return time.Hour
			}
			return 10 * time.Millisecond
		}}
		began := time.Now()
		var removed time.Duration
		saved := 0
		r.fault = func(script string, rank int) error {
			if script == "destroy/remove" && rank == 0 {
				removed, saved = time.Since(began), len(preserved(t, set))
			}
			return nil
		}
		p, err := NewPlan(set, Steps())
		if err != nil {
			t.Fatal(err)
		}
		a, err := NewRunner(p, s, r.world()).Run(context.Background(), Order{Attempt: watchdog.Attempt{ID: 1, Incident: 1}, Seen: r.boxes, Started: make([]string, nodes)})
		if err != nil || a.Outcome != watchdog.OutcomeLaunched {
			t.Errorf("attempt = %+v, %v", a, err)
		}
		if want := 2 * (nodes - 1); saved != want {
			t.Errorf("%d files were whole when the first container was removed, want %d", saved, want)
		}
		if removed > PreserveLimit+ChecksLimit || removed < scriptsTimeout(t, p) {
			t.Errorf("the first container was removed after %s", removed)
		}
		if got := len(parts(t, set)); got != 2 {
			t.Errorf("%d parts are kept of what came", got)
		}
	})
}

// scriptsTimeout is how long one node may take for its log.
func scriptsTimeout(t *testing.T, p *Plan) time.Duration {
	t.Helper()
	return p.of(scripts.Preserve)[0].Timeout
}

func parts(t *testing.T, set Settings) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("%s/incident-1/*.part", set.Evidence))
	if err != nil {
		t.Fatal(err)
	}
	return files
}
