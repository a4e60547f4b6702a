package state

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

const flagComment = "# While this file is here, the watchdog looks and records but does not act.\n"

var errNoClock = errors.New("not a time, a duration since boot and a boot id")

// otherShown is how much of a text without our keys is taken as the reason.
const otherShown = 500

// formatFlag writes a flag for people, times to the second.
func formatFlag(f watchdog.Flag) string {
	return flagComment + line("who", f.Who) + line("when", formatTime(f.When)) +
		line("reason", f.Reason) + line("until", formatTime(f.Until)) + line("ends", formatClock(f.Ends))
}

// parseFlag reads what a file holds. Whatever it is, the flag is present; an end that cannot be
// read counts as none, so that such a flag never ends by itself.
func parseFlag(text string) watchdog.Flag {
	values, other := parseLines(text, "who", "when", "reason", "until", "ends")
	f := watchdog.Flag{Present: true, Who: values["who"], Reason: values["reason"]}
	f.When, _ = time.Parse(time.RFC3339, values["when"])
	if f.Reason == "" {
		f.Reason = fmt.Sprintf("%.*s", otherShown, other)
	}
	var err error
	if f.Until, f.Ends, err = parseEnd(values["until"], values["ends"]); err != nil {
		f.Err = err.Error()
	}
	return f
}

// parseEnd reads until and the same instant by all clocks. A person who changes the end changes
// until: then ends no longer fits, and only until counts.
func parseEnd(until, ends string) (time.Time, watchdog.Clock, error) {
	if until == "" {
		return time.Time{}, watchdog.Clock{}, nil
	}
	end, err := time.Parse(time.RFC3339, until)
	if err != nil {
		return time.Time{}, watchdog.Clock{}, fmt.Errorf("until %.40q is no time like %s: counts as without end", until, time.RFC3339)
	}
	if ends == "" {
		return end, watchdog.Clock{}, nil
	}
	clocks, err := parseClock(ends)
	if err != nil {
		return time.Time{}, watchdog.Clock{}, fmt.Errorf("ends %.80q is %v: counts as without end", ends, err)
	}
	if !clocks.Wall.Equal(end) {
		return end, watchdog.Clock{}, nil
	}
	return end, clocks, nil
}

// formatClock writes a reading of the clocks to the second: wall clock, time since boot, boot id.
func formatClock(c watchdog.Clock) string {
	if c.IsZero() {
		return ""
	}
	return strings.Join([]string{c.Wall.Format(time.RFC3339), c.Boot.Truncate(time.Second).String(), c.BootID}, " ")
}

func parseClock(text string) (watchdog.Clock, error) {
	parts := strings.Split(text, " ")
	if len(parts) != 3 || parts[2] == "" {
		return watchdog.Clock{}, errNoClock
	}
	wall, errWall := time.Parse(time.RFC3339, parts[0])
	boot, errBoot := time.ParseDuration(parts[1])
	if errWall != nil || errBoot != nil {
		return watchdog.Clock{}, errNoClock
	}
	return watchdog.Clock{Wall: wall, Boot: boot, BootID: parts[2]}, nil
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
