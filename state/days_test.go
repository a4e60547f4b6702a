package state

import (
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

func TestDayCountsWhatAPersonWouldAsk(t *testing.T) {
	s := open(t)
	save := func(after time.Duration, next watchdog.State, row Row) {
		t.Helper()
		row.At = at(after)
		check(t, s.SaveLook(next, row, nil))
	}
	serving := func(after time.Duration) watchdog.State {
		return watchdog.State{Phase: watchdog.Serving, Served: at(after), Incidents: 4}
	}
	save(0, serving(0), Row{Canary: time.Second, Took: 2 * time.Second})
	save(time.Minute, serving(time.Minute), Row{Canary: 3 * time.Second, Took: time.Second})
	failing := watchdog.State{Phase: watchdog.Serving, Served: at(time.Minute), Incidents: 5,
		Strikes: []watchdog.Strike{{Last: at(2 * time.Minute)}}}
	save(2*time.Minute, failing, Row{})
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1, Started: at(2 * time.Minute)}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1, Started: at(2 * time.Minute), Committed: at(2 * time.Minute)}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1, Started: at(2 * time.Minute), Launching: at(3 * time.Minute)}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 2, Started: at(2 * time.Minute), By: "anna", Launching: at(3 * time.Minute)}))
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 3, Started: at(2 * time.Minute)}))
	booting := watchdog.State{Phase: watchdog.Booting, Served: at(time.Minute), Incidents: 5,
		Strikes: []watchdog.Strike{{Last: at(2 * time.Minute)}}} // an old strike
	save(3*time.Minute, booting, Row{})
	save(5*time.Minute, booting, Row{})
	save(30*time.Minute, booting, Row{}) // nobody looked for long
	gaveUp := booting
	gaveUp.Phase = watchdog.GivenUp
	save(31*time.Minute, gaveUp, Row{})
	save(33*time.Minute, gaveUp, Row{})
	save(36*time.Minute, watchdog.State{Incidents: 5}, Row{})
	save(40*time.Minute, watchdog.State{Incidents: 5}, Row{})
	days, err := s.Days(5)
	check(t, err)
	same(t, "the day", []Day{{Date: "2026-03-04", Looks: 10, Served: 2, Failing: 1,
		Serving: 3 * time.Minute, Booting: 3 * time.Minute, Unwatched: 25 * time.Minute, GivenUp: 5 * time.Minute, None: 4 * time.Minute,
		Incidents: 5, Counted: 1, Uncounted: 1, NotLaunched: 1,
		LongestCanary: 3 * time.Second, LongestLook: 2 * time.Second}}, days)
	// The switch that ends it makes a counted restart an uncounted one.
	check(t, s.SaveAttempt(watchdog.Attempt{ID: 1, Started: at(2 * time.Minute), Launching: at(3 * time.Minute), Outcome: watchdog.OutcomeSwitch}))
	days, err = s.Days(1)
	check(t, err)
	same(t, "restarts", []int{0, 2, 1}, []int{days[0].Counted, days[0].Uncounted, days[0].NotLaunched})
}

func TestDaysAreKeptFourHundred(t *testing.T) {
	u := openUnsynced(t, 200)
	for d := range 500 {
		u.tick(at(time.Duration(d)*day), false)
	}
	s := u.close()
	days, err := s.Days(1000)
	check(t, err)
	same(t, "how many", 400, len(days))
	same(t, "first", noon.AddDate(0, 0, 100).Format(time.DateOnly), days[0].Date)
	same(t, "last", noon.AddDate(0, 0, 499).Format(time.DateOnly), days[399].Date)
	newest, err := s.Days(2)
	check(t, err)
	same(t, "newest", days[398:], newest)
	none, err := s.Days(0)
	check(t, err)
	same(t, "none", 0, len(none))
}

// A clock in doubt opens no day of its own, and pushes none out.
func TestDoubtfulClockBelongsToTheDayBefore(t *testing.T) {
	s := open(t)
	check(t, s.SaveLook(watchdog.State{}, Row{At: at(0)}, nil))
	wrong := clockAt(2, time.Minute, time.Date(2098, 1, 1, 0, 0, 0, 0, time.UTC))
	check(t, s.SaveLook(watchdog.State{ClockDoubt: true}, Row{At: wrong}, nil))
	days, err := s.Days(9)
	check(t, err)
	same(t, "one day", 1, len(days))
	same(t, "its looks", 2, days[0].Looks)
}
