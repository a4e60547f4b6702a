package main

import (
	"testing"
	"time"
)

func TestParseAt(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 10, 9, 30, 0, 0, zone)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 3, d, h, m, s, 0, zone) }
	for text, want := range map[string]time.Time{
		"":                     {}, // the newest
		"03:12":                day(10, 3, 13, 0).Add(-1),
		"03:12:07":             day(10, 3, 12, 8).Add(-1),
		"22:15":                day(9, 22, 16, 0).Add(-1), // yet to come today
		"2026-03-01 03:12":     day(1, 3, 13, 0).Add(-1),
		"2026-03-01 03:12:07":  day(1, 3, 12, 8).Add(-1),
		"2026-03-01T02:12:07Z": day(1, 3, 12, 7),
		"-2h":                  day(10, 7, 30, 0),
		"90m":                  day(10, 8, 0, 0),
	} {
		if got, err := parseAt(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "25:00", "2026-13-01 00:00", "3"} {
		if got, err := parseAt(text, now); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}
