package main

import (
	"fmt"
	"strings"
	"time"
)

// parseAt reads a time as people give it; nothing is the zero time, which means the newest look. A time of day that is yet to come was
// yesterday.
func parseAt(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return now.Add(-d.Abs()), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateTime, "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return untilNext(t, layout), nil
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		t, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		today := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if today.After(now) {
			today = today.AddDate(0, 0, -1)
		}
		return untilNext(today, layout), nil
	}
	return time.Time{}, fmt.Errorf("cannot read the time %q: give 15:04, \"2006-01-02 15:04\", RFC 3339, or -2h for two hours ago", plain(text))
}

// untilNext returns the last instant of the second or the minute that was given: whoever says 03:12
// means the look at 03:12:05 too.
func untilNext(t time.Time, layout string) time.Time {
	if strings.HasSuffix(layout, ":05") {
		return t.Add(time.Second - 1)
	}
	return t.Add(time.Minute - 1)
}
