package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

var (
	noon2026 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	year1970 = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	year2098 = time.Date(2098, 6, 1, 0, 0, 0, 0, time.UTC)
)

func reading(wall time.Time, boot time.Duration, id string) watchdog.Clock {
	return watchdog.Clock{Wall: wall, Boot: boot, BootID: id}
}

// History is told in the order in which it happened, whatever the head's clock said.
func TestHistoryOfAJumpingClock(t *testing.T) {
	deed := func(text string, at watchdog.Clock) happening { return happening{Text: text, At: at.Wall, clock: at} }
	deeds := []happening{
		deed("1", reading(noon2026, time.Hour, "a")),
		deed("3", reading(year2098, 2*time.Hour, "a")),
		deed("5", reading(noon2026.Add(2*time.Hour), 3*time.Hour, "a")),
		deed("6", reading(year1970, time.Minute, "b")),
		deed("8", reading(noon2026.Add(4*time.Hour), 20*time.Minute, "b")),
		deed("9", reading(noon2026.Add(-time.Hour), time.Minute, "d")),
	}
	attempts := []happening{
		deed("2", reading(noon2026.Add(30*time.Minute), 90*time.Minute, "a")),
		deed("4", reading(year2098.Add(time.Minute), 2*time.Hour+time.Minute, "a")),
		deed("7", reading(year1970.Add(time.Minute), 2*time.Minute, "b")),
		deed("8.5", reading(noon2026.Add(5*time.Hour), time.Minute, "c")), // nothing else was told of this boot
	}
	var order, lines []string
	all := inOrder(deeds, attempts)
	for i, e := range all {
		order = append(order, e.Text)
		if i > 0 {
			if line := clockLine(all[i-1].clock, e.clock); line != "" {
				lines = append(lines, e.Text+": "+strings.TrimSpace(line))
			}
		}
	}
	if got := strings.Join(order, " "); got != "1 2 3 4 5 6 7 8 8.5 9" {
		t.Errorf("order %s", got)
	}
	want := "3: the head's clock was set ahead by 72 years, 5: the head's clock was set back by 72 years, " +
		"6: the head's clock was set back by 56 years, 8: the head's clock was set ahead by 56 years, 9: the head's clock was set back by 6h"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("said  %s\nwant  %s", got, want)
	}
}

// What is explained is the look at a time as the head's clock went then; without a time the newest look, also
// where that clock stands in 1970 by now.
func TestExplainOfAJumpingClock(t *testing.T) {
	row := func(number uint64, wall time.Time) state.Row {
		return state.Row{Number: number, At: watchdog.Clock{Wall: wall}}
	}
	rows := []state.Row{
		row(1, noon2026), row(2, year2098), row(3, noon2026.Add(2*time.Minute)), row(4, noon2026.Add(time.Minute)), row(5, noon2026.Add(2*time.Minute)), row(6, year1970),
	}
	for when, want := range map[time.Time]uint64{
		{}:                                6,
		noon2026.Add(-time.Minute):        6, // the newest of all before
		noon2026:                          1,
		noon2026.Add(90 * time.Second):    4,
		noon2026.Add(150 * time.Second):   5,
		year2098.Add(time.Hour):           2,
		year1970.Add(-time.Hour):          0,
		noon2026.Add(2*time.Minute - 1):   4,
		noon2026.Add(20 * 24 * time.Hour): 5,
	} {
		if got := rowAt(rows, when); got != want {
			t.Errorf("%s: look %d, want %d", when, got, want)
		}
	}
}

// A look of 1970 is explained with the doubt that it was judged by; one from before an upgrade without.
func TestExplainKeepsTheDoubt(t *testing.T) {
	p := watchdog.DefaultPolicy()
	p.Built = noon2026
	for wall, want := range map[time.Time]bool{year1970: true, noon2026.AddDate(-1, 0, 0): false, noon2026.Add(time.Hour): true} {
		l := keptLook{o: watchdog.Observation{At: reading(wall, 0, "b")}}
		if got := !l.policy(p).Built.IsZero(); got != want {
			t.Errorf("a look of %s: built is known: %v", wall, got)
		}
	}
}

// What status says of a clock that is wrong: what is so, what to do, and no age of decades.
func TestStatusOfAWrongClock(t *testing.T) {
	p := watchdog.DefaultPolicy()
	p.Built = noon2026.AddDate(0, -1, 0)
	before := watchdog.State{Last: reading(noon2026, 9*time.Hour, "a")}
	for _, row := range []struct {
		name string
		now  watchdog.Clock
		want string
	}{
		{"right", reading(noon2026.Add(time.Minute), 9*time.Hour+time.Minute, "a"), ""},
		{"1970 after a boot", reading(year1970, time.Minute, "b"), "the head's clock says 1970-01-01T00:00:00Z, before this program was built: set it, see `timedatectl`"},
		{"2098 after a boot", reading(year2098, time.Minute, "b"), "the head's clock says 2098-06-01T00:00:00Z, long after this program was built: set it, see `timedatectl`"},
		{"an hour ago after a boot", reading(noon2026.Add(-time.Hour), time.Minute, "b"), "before the last look at 2026-03-01T12:00:00Z: set it, see `timedatectl`; if it is right, `cluster-watchdog arm`"},
		{"set back within the boot", reading(noon2026.Add(-time.Hour), 9*time.Hour+time.Minute, "a"), "the head's clock was set back by 1h1m since the last look"},
	} {
		words := p.ClockWords(before, row.now)
		var out bytes.Buffer
		(&session{app: &app{out: &out}}).printStatus(status{Clock: words})
		if !strings.Contains(words, row.want) || (row.want == "") != (words == "") || strings.Contains(out.String(), "\nclock ") != (words != "") {
			t.Errorf("%s: %q, status says\n%s", row.name, words, out.String())
		}
	}
	if got := ageWords(490_000 * time.Hour); got != "an unknown time" {
		t.Errorf("an age of decades: %s", got)
	}
}
