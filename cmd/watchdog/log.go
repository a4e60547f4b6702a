package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// newLogger writes to w in the form that its reader wants: fields for the journal where w is
// the journal's stream, colours on a terminal, and plain lines elsewhere.
func newLogger(w io.Writer, getenv func(string) string, story bool) zerolog.Logger {
	return zerolog.New(logWriter(w, getenv, story)).With().Timestamp().Logger()
}

// record writes into the journal what a person's command did. Its own answer says so to the person.
func (a *app) record(event string, format string, args ...any) {
	f, _ := a.errs.(*os.File)
	var log zerolog.Logger
	switch {
	case isJournal(f, os.Getenv("JOURNAL_STREAM")):
		log = newLogger(a.errs, os.Getenv, a.story)
	case isTerminal(f) && !a.story && journal.Enabled():
		log = journalLogger(journal.Send)
	default:
		return
	}
	log.Info().Str("event", event).Str("by", whoami()).Msgf(format, args...)
}

// personsLogger is for a command that shows a person its progress: on a terminal all goes to the
// journal, which is the audit, and where there is none only what is out of the ordinary is shown.
func personsLogger(w io.Writer) zerolog.Logger {
	f, _ := w.(*os.File)
	switch {
	case isTerminal(f) && journal.Enabled():
		return journalLogger(journal.Send)
	case isTerminal(f):
		return newLogger(w, os.Getenv, false).Level(zerolog.ErrorLevel)
	default:
		return newLogger(w, os.Getenv, false)
	}
}

// journalLogger writes into the journal alone, as about our unit, so that `journalctl -u` shows
// what was done from a shell too.
func journalLogger(send func(string, journal.Priority, map[string]string) error) zerolog.Logger {
	return zerolog.New(&journalWriter{send: send, fallback: io.Discard, unit: unitName}).With().Timestamp().Logger()
}

func logWriter(w io.Writer, getenv func(string) string, story bool) io.Writer {
	f, _ := w.(*os.File)
	switch {
	case isJournal(f, getenv("JOURNAL_STREAM")):
		return &journalWriter{send: journal.Send, fallback: w}
	case isTerminal(f):
		return withJournal(lines(w, "15:04:05", getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"), story)
	case story:
		return lines(w, "15:04:05", false)
	default:
		return lines(w, time.RFC3339, false)
	}
}

// withJournal lets the journal hear what a tick by hand does, beside the terminal. A demo is no
// business of the journal.
func withJournal(terminal io.Writer, story bool) io.Writer {
	if story || !journal.Enabled() {
		return terminal
	}
	return zerolog.MultiLevelWriter(terminal, &journalWriter{send: journal.Send, fallback: io.Discard, unit: unitName})
}

// lines writes the sentence first and the fields behind it:
//
//	11:58:16 container not running (phase=BOOTING) → restart: rank 2 (spark3) exited 137 (SIGKILL)
func lines(w io.Writer, timeFormat string, colour bool) io.Writer {
	return zerolog.ConsoleWriter{
		Out:           w,
		NoColor:       !colour,
		TimeFormat:    timeFormat,
		TimeLocation:  time.Local,
		FormatLevel:   formatLevel,
		FormatMessage: formatMessage,
		FieldsExclude: inSentence,
	}
}

// inSentence are the fields for the journal that a sentence says already.
var inSentence = []string{"event", "phase", "reason", "attempt", "step", "node", "notice", "folder", "by"}

// formatLevel tells only what is out of the ordinary.
func formatLevel(level any) string {
	switch level {
	case zerolog.LevelInfoValue, nil:
		return ""
	case zerolog.LevelWarnValue:
		return "warning:"
	default:
		return fmt.Sprintf("%v:", level)
	}
}

func formatMessage(message any) string {
	if message == nil {
		return ""
	}
	return plain(fmt.Sprint(message))
}

// isJournal compares the file with JOURNAL_STREAM, as systemd asks for: the variable alone is
// inherited by programs whose output goes elsewhere.
func isJournal(f *os.File, stream string) bool {
	var dev, ino uint64
	var stat unix.Stat_t
	if _, err := fmt.Sscanf(stream, "%d:%d", &dev, &ino); err != nil || f == nil {
		return false
	}
	return unix.Fstat(int(f.Fd()), &stat) == nil && uint64(stat.Dev) == dev && stat.Ino == ino
}

func isTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
