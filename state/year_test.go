package state

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// seenOf is what a look at so many ranks sees, as large as it is in life.
func seenOf(ranks int, at watchdog.Clock) *watchdog.Observation {
	o := &watchdog.Observation{At: at, Health: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200},
		Canary: watchdog.Canary{HTTP: watchdog.HTTP{Outcome: watchdog.Unanswered, Took: 30 * time.Second, Err: "no answer within 30s"}, Model: "some/large-model"}}
	engine := []watchdog.EngineCounter{{Label: "0", Iterations: 123456789, Prompt: 987654321, Generation: 123456789, Running: 3, Waiting: 1}}
	o.Before = watchdog.Counters{HTTP: o.Health, Engine: watchdog.VLLM, Engines: engine}
	o.After = o.Before
	for i := range ranks {
		id := fmt.Sprintf("%064x", 0xabc+i)
		o.Ranks = append(o.Ranks, watchdog.Rank{Node: fmt.Sprint("spark", i+1), SSH: watchdog.ReachOK, Docker: watchdog.ReachOK, Clock: at.Wall,
			Container: &watchdog.Container{ID: id, Status: "exited", StartedAt: at.Wall.Format(time.RFC3339Nano), Age: time.Hour, ExitCode: 137, RestartPolicy: "no", ImageID: "sha256:" + id},
			Events:    []watchdog.Event{{At: at.Wall, ID: id, Action: "kill", Signal: "KILL"}, {At: at.Wall, ID: id, Action: "die"}}, EventsSeen: 2})
	}
	return o
}

// live plays the looks of some days, one a minute. A healthy group changes six times a day and is
// restarted once a month; one that flaps changes at every look and opens an incident every hour.
func live(u *unsynced, ranks, from, to int, flaps bool) {
	restarts := 30 * 24 * 60
	if flaps {
		restarts = 60
	}
	seen := seenOf(ranks, at(0))
	known := make([]watchdog.Known, ranks)
	for i, r := range seen.Ranks {
		known[i] = watchdog.Known{Container: r.Container, Answered: true, Clock: noon, Ran: r.Container.Start()}
	}
	for m := from * 24 * 60; m < to*24*60; m++ {
		now := at(time.Duration(m) * time.Minute)
		next := watchdog.State{Phase: watchdog.Serving, Last: now, Served: now, Config: "0123456789abcdef", Identity: "0123456789abcdef",
			Incidents: m / restarts, Ranks: known}
		row := Row{At: now, Phase: "SERVING", Action: "none", Reason: "served", Took: 2 * time.Second, Canary: time.Second,
			Sentence: "phase=SERVING served: a completion came back within 1.234s, 4/4 ranks run"}
		var full *watchdog.Observation
		if flaps {
			next.Strikes = []watchdog.Strike{{Term: 1, Looks: 2, First: now, Last: now, What: "rank 2 (spark3) exited 137"}}
		}
		if flaps || m%240 == 0 {
			seen.At = now
			full = seen
		}
		u.look(next, row, full)
		if m%restarts == 1 {
			u.attempt(m/restarts+1, now)
		}
	}
}

func (u *unsynced) attempt(id int, now watchdog.Clock) {
	u.t.Helper()
	a := watchdog.Attempt{ID: id, Why: "container not running: rank 2 (spark3) exited 137 (SIGKILL)", Started: now, Committed: now, Launching: now,
		Destroy: make([]string, 4), MemFree: make([]int64, 4), Outcome: watchdog.OutcomeLaunched, Tries: 1}
	for i := range a.Destroy {
		a.Destroy[i] = fmt.Sprintf("%064x", i)
		a.Launched = append(a.Launched, watchdog.Launched{Rank: i, ID: a.Destroy[i], StartedAt: now.Wall.Format(time.RFC3339Nano)})
	}
	text, err := encode(a)
	check(u.t, err)
	u.do(func(tx *bbolt.Tx) error { return u.s.putAttempt(tx, a, text) })
}

// size is the file's, which never shrinks.
func (u *unsynced) size() float64 { return float64(u.s.Size()) / (1 << 20) }

// The file stops growing once as much goes as comes, in quiet as in trouble. A whole year of both is
// measured by TestYear.
func TestFileStopsGrowing(t *testing.T) {
	for name, row := range map[string]struct {
		flaps       bool
		ranks, days int     // until as much goes as comes
		most        float64 // MiB
	}{
		"healthy": {false, 4, 7, 8},
		"flaps":   {true, 24, 2, 64},
	} {
		t.Run(name, func(t *testing.T) {
			u := openUnsynced(t, 1)
			defer u.close()
			live(u, row.ranks, 0, row.days, row.flaps)
			full := u.size()
			live(u, row.ranks, row.days, row.days+1, row.flaps)
			if later := u.size(); later > row.most || later > full {
				t.Errorf("%.1f MiB after %d days, %.1f MiB after %d, want at most %.0f MiB and no growth", full, row.days, later, row.days+1, row.most)
			}
		})
	}
}

var year = flag.Bool("year", false, "play a whole year of looks, healthy and flapping: some minutes")

// TestYear is 525,600 looks, one a minute: how large the file is after a month and after a year, and
// what a tick's work with it takes then.
func TestYear(t *testing.T) {
	if !*year {
		t.Skip("takes minutes: make year")
	}
	for name, row := range map[string]struct {
		flaps bool
		most  float64 // MiB
	}{"healthy": {false, 10}, "flaps": {true, 100}} {
		t.Run(name, func(t *testing.T) {
			u := openUnsynced(t, 1)
			live(u, 4, 0, 30, row.flaps)
			month := u.size()
			live(u, 4, 30, 365, row.flaps)
			s := u.close()
			began := time.Now()
			const ticks = 20
			for i := range ticks {
				load(t, s)
				check(t, s.SaveLook(sampleState(), Row{At: at(365*day + time.Duration(i)*time.Minute), Phase: "SERVING"}, nil))
			}
			t.Logf("%.1f MiB after a month, %.1f MiB after a year; then %s a tick", month, u.size(), time.Since(began)/ticks)
			if u.size() > row.most {
				t.Errorf("want at most %.0f MiB", row.most)
			}
			days, err := s.Days(1000)
			check(t, err)
			same(t, "days", 366, len(days))
		})
	}
}
