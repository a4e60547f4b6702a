package main

import (
	"fmt"
	"time"

	"cluster-watchdog/state"
)

// today returns the totals of the day of the last look, nil where there was none.
func (s *session) today() (*state.Day, error) {
	return s.past.LastDay()
}

// dayWords says in a line what happened on a day.
func dayWords(d state.Day) string {
	text := fmt.Sprintf("%s: served at %d/%d looks", d.Date, d.Served, d.Looks)
	if d.LongestCanary > 0 {
		text += fmt.Sprintf(", longest completion %s", d.LongestCanary.Round(time.Millisecond))
	}
	if n := d.Counted + d.Uncounted + d.NotLaunched; n > 0 {
		text += fmt.Sprintf(", restarts: %d, %d of them counted", n, d.Counted)
	}
	if d.Unwatched > 0 {
		text += fmt.Sprintf(", unwatched for %s", d.Unwatched.Round(time.Minute))
	}
	return text
}
