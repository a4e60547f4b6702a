package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

const hungName = "hung"

// Hung says of a run that it hung, and ended itself. It stands in a file beside the database, which
// may be what it hung in, until the next run writes it into the history.
type Hung struct {
	PID    int
	Since  watchdog.Clock // the run's begin
	At     watchdog.Clock // its end
	Where  string         // what it was at
	Reason string         // why it had to end then
	Told   bool           // whether people have heard of it
}

// Zero says that no run is known to have hung.
func (h Hung) Zero() bool { return h.Where == "" }

// String is a sentence for people.
func (h Hung) String() string {
	return fmt.Sprintf("the run of %s (pid %d) hung in %s; it ended itself at %s, %s",
		h.Since.Wall.Local().Format(time.TimeOnly), h.PID, h.Where, h.At.Wall.Local().Format(time.TimeOnly), h.Reason)
}

// SaveHung leaves a note of a hung run in the state folder. It makes nothing durable and takes no
// lock: the less it asks of the disk, the more likely it gets through.
func SaveHung(dir string, h Hung) error {
	text := line("pid", strconv.Itoa(h.PID)) + line("since", formatClock(h.Since)) + line("at", formatClock(h.At)) +
		line("where", h.Where) + line("reason", h.Reason) + line("told", strconv.FormatBool(h.Told))
	path := filepath.Join(dir, hungName)
	if err := os.WriteFile(path, []byte(text), fileMode); err != nil {
		return fmt.Errorf("cannot write %s: %w; %s", path, err, hint(err))
	}
	return nil
}

// ReadHung returns the note, zero where there is none, or none that can be read: nothing depends on it.
func ReadHung(dir string) Hung {
	text, err := readFlagText(filepath.Join(dir, hungName))
	if err != nil {
		return Hung{}
	}
	values, _ := parseLines(text, "pid", "since", "at", "where", "reason", "told")
	h := Hung{Where: strings.TrimSpace(values["where"]), Reason: values["reason"], Told: values["told"] == "true"}
	h.PID, _ = strconv.Atoi(values["pid"])
	h.Since, _ = parseClock(values["since"])
	h.At, _ = parseClock(values["at"])
	return h
}

// RemoveHung takes the note away; that there is none is fine.
func RemoveHung(dir string) error {
	path := filepath.Join(dir, hungName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove %s: %w; %s", path, err, hint(err))
	}
	return nil
}
