package clustertest

import (
	"testing"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

func TestJudge(t *testing.T) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(sec int) time.Time { return epoch.Add(time.Duration(sec) * time.Second) }
	// ran is one start: from, to (0: still runs).
	ran := func(from, to int) fakenode.Start {
		s := fakenode.Start{Name: Container, ID: "x", Started: at(from)}
		if to != 0 {
			s.Finished = at(to)
		}
		return s
	}
	type starts = []fakenode.Start
	const boot = 10 * time.Second
	for _, tc := range []struct {
		name         string
		head, worker starts
		now          int
		ready, whole bool
	}{
		{"nothing", nil, nil, 100, false, true},
		{"boots", starts{ran(2, 0)}, starts{ran(1, 0)}, 11, false, true},
		{"serves", starts{ran(2, 0)}, starts{ran(1, 0)}, 12, true, true},
		{"youngest start counts", starts{ran(2, 0)}, starts{ran(7, 0)}, 16, false, true},
		{"late worker", starts{ran(2, 0)}, starts{ran(7, 0)}, 17, true, true},
		{"worker dies", starts{ran(2, 0)}, starts{ran(1, 50)}, 60, true, false},
		{"worker dies in the boot", starts{ran(2, 0)}, starts{ran(1, 5)}, 60, false, false},
		{"worker comes back alone", starts{ran(2, 0)}, starts{ran(1, 50), ran(51, 0)}, 90, true, false},
		{"head dies", starts{ran(2, 50)}, starts{ran(1, 0)}, 60, false, true},
		{"head comes back alone", starts{ran(2, 50), ran(51, 0)}, starts{ran(1, 0)}, 990, false, true},
		{"both come back", starts{ran(2, 50), ran(52, 0)}, starts{ran(1, 51), ran(53, 0)}, 63, true, true},
		{"head first, worker restarted under it", starts{ran(2, 50), ran(52, 0)}, starts{ran(1, 53), ran(53, 0)}, 63, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := judge([][]fakenode.Start{tc.head, tc.worker})
			if got := w.Ready(boot, at(tc.now)); got != tc.ready || w.Whole() != tc.whole {
				t.Errorf("ready %v, whole %v in %+v", got, w.Whole(), w)
			}
		})
	}
}
