package state

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"cluster-watchdog/watchdog"
)

const holderBytes = 4 << 10 // no more of a lock file is read

// Holder is who holds the lock, as its file says. A zero PID: not known.
type Holder struct {
	PID     int
	Command string
	Since   watchdog.Clock
}

// String names the holder for a sentence.
func (h Holder) String() string {
	if h.PID == 0 {
		return "it has not said which"
	}
	text := fmt.Sprintf("pid %d", h.PID)
	if h.Command != "" {
		text += fmt.Sprintf(", %q", h.Command)
	}
	if !h.Since.IsZero() {
		text += ", since " + h.Since.Wall.Local().Format(time.TimeOnly)
	}
	return text
}

// BusyError says that another process holds the lock.
type BusyError struct {
	Holder Holder
}

// Error names the holder.
func (e *BusyError) Error() string { return "another watchdog is running (" + e.Holder.String() + ")" }

func formatHolder(h Holder) string {
	return line("pid", strconv.Itoa(h.PID)) + line("command", h.Command) + line("since", formatClock(h.Since))
}

// parseHolder reads a lock file. A half-written one, or anything else, is nobody.
func parseHolder(text string) Holder {
	values, _ := parseLines(text, "pid", "command", "since")
	pid, err := strconv.Atoi(values["pid"])
	since, errSince := parseClock(values["since"])
	if err != nil || errSince != nil || pid < 1 {
		return Holder{}
	}
	return Holder{PID: pid, Command: values["command"], Since: since}
}

func readHolder(path string) Holder {
	f, err := os.Open(path)
	if err != nil {
		return Holder{}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, holderBytes))
	if err != nil {
		return Holder{}
	}
	return parseHolder(string(text))
}
