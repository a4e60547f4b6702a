package state

import (
	"fmt"
	"slices"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// Day is what a person may ask of a day a year later. It is kept for the newest 400 days.
type Day struct {
	Date    string `json:"date"`              // such as 2026-03-04, by the head's clock, in UTC
	Looks   int    `json:"looks"`             // all
	Served  int    `json:"served,omitempty"`  // of them: a completion came back
	Failing int    `json:"failing,omitempty"` // of them: counted against the group

	None      time.Duration `json:"none,omitempty"` // in this phase, from look to look
	Booting   time.Duration `json:"booting,omitempty"`
	Serving   time.Duration `json:"serving,omitempty"`
	GivenUp   time.Duration `json:"given_up,omitempty"`
	Unwatched time.Duration `json:"unwatched,omitempty"` // no look for more than 5 min

	Incidents   int `json:"incidents,omitempty"`    // opened
	Counted     int `json:"counted,omitempty"`      // restarts that used up the budget
	Uncounted   int `json:"uncounted,omitempty"`    // launches that did not: a person's, or ended by the switch
	NotLaunched int `json:"not_launched,omitempty"` // attempts that did not reach their launch

	LongestCanary time.Duration `json:"longest_canary,omitempty"` // of a served completion
	LongestLook   time.Duration `json:"longest_look,omitempty"`
}

// unwatchedAfter is the gap between two looks from which on nobody knows what was in between.
const unwatchedAfter = 5 * time.Minute

// countLook adds a look to the totals of its day, and the time since the last one to the phase that
// it had found.
func (s *Store) countLook(tx *bbolt.Tx, l *ledger, next watchdog.State, row Row, passed time.Duration) error {
	l.Date = l.dateOf(row.At, next.ClockDoubt)
	opened := next.Incidents - l.Incidents
	phase := l.Phase
	l.Incidents, l.Phase = next.Incidents, next.Phase
	return s.changeDay(tx, l.Date, func(d *Day) {
		d.Looks++
		if next.Served.Equal(row.At) {
			d.Served++
		}
		if slices.ContainsFunc(next.Strikes, func(k watchdog.Strike) bool { return k.Last.Equal(row.At) }) {
			d.Failing++
		}
		*d.spent(phase, passed) += passed
		d.Incidents += max(0, opened)
		d.LongestCanary = max(d.LongestCanary, row.Canary)
		d.LongestLook = max(d.LongestLook, row.Took)
	})
}

// spent is where time in a phase is added.
func (d *Day) spent(p watchdog.Phase, passed time.Duration) *time.Duration {
	if passed > unwatchedAfter {
		return &d.Unwatched
	}
	switch p {
	case watchdog.Booting:
		return &d.Booting
	case watchdog.Serving:
		return &d.Serving
	case watchdog.GivenUp:
		return &d.GivenUp
	default:
		return &d.None
	}
}

// countAttempt brings the totals of the day on which it started from what was saved of an attempt
// before to what is saved now.
func (s *Store) countAttempt(tx *bbolt.Tx, before []byte, now watchdog.Attempt) error {
	var was *watchdog.Attempt
	if before != nil {
		was = new(watchdog.Attempt)
		if err := s.decode(fmt.Sprintf("attempt %d", now.ID), before, was); err != nil {
			return err
		}
	}
	same := func(a, b *watchdog.Attempt) bool {
		return a.Counted() == b.Counted() && a.Launching.IsZero() == b.Launching.IsZero()
	}
	if was != nil && same(was, &now) {
		return nil
	}
	return s.changeDay(tx, now.Started.Wall.Format(time.DateOnly), func(d *Day) {
		if was != nil {
			*d.kind(*was)--
		}
		*d.kind(now)++
	})
}

// kind is where an attempt is counted.
func (d *Day) kind(a watchdog.Attempt) *int {
	switch {
	case a.Launching.IsZero():
		return &d.NotLaunched
	case a.Counted():
		return &d.Counted
	default:
		return &d.Uncounted
	}
}

// dateOf is the day of a look. One whose clock is in doubt belongs to the day of the look before.
func (l *ledger) dateOf(at watchdog.Clock, doubt bool) string {
	if doubt && l.Date != "" {
		return l.Date
	}
	return at.Wall.Format(time.DateOnly)
}

// LastDay returns the totals of the day of the last look, nil where there was none. It need not be the
// one with the latest date: a wall clock may have been in 2098 meanwhile.
func (s *Store) LastDay() (*Day, error) {
	var text []byte
	err := s.view(func(tx *bbolt.Tx) error {
		l, err := s.ledger(tx)
		if b := bucketDays.in(tx); err == nil && b != nil {
			text = slices.Clone(b.Get([]byte(l.Date)))
		}
		return err
	})
	if err != nil || text == nil {
		return nil, err
	}
	d := new(Day)
	return d, s.decode("day", text, d)
}

func (s *Store) changeDay(tx *bbolt.Tx, date string, change func(*Day)) error {
	days := bucketDays.in(tx)
	d := Day{Date: date}
	text := days.Get([]byte(date))
	if text != nil {
		if err := s.decode("day "+date, text, &d); err != nil {
			return err
		}
	} else if err := forgetDay(days); err != nil {
		return err
	}
	change(&d)
	text, err := encode(d)
	if err != nil {
		return err
	}
	return days.Put([]byte(date), text)
}

// forgetDay makes room for one more day.
func forgetDay(days *bbolt.Bucket) error {
	if days.Stats().KeyN < daysKept {
		return nil
	}
	first, _ := days.Cursor().First()
	return days.Delete(first)
}

// Days returns the totals of the newest n days, newest last.
func (s *Store) Days(n int) ([]Day, error) {
	var texts [][]byte
	err := s.view(func(tx *bbolt.Tx) error {
		b := bucketDays.in(tx)
		if b == nil { // schema 1
			return nil
		}
		c := b.Cursor()
		for key, text := c.Last(); key != nil && len(texts) < n; key, text = c.Prev() {
			texts = append(texts, slices.Clone(text))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(texts)
	var out []Day
	for _, text := range texts {
		var d Day
		if err := s.decode("day", text, &d); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}
