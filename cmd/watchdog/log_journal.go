package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/rs/zerolog"
)

// logName is the name under which the journal knows us, also from a person's shell.
const logName = "cluster-watchdog"

// journalWriter turns each event into a journal entry: the field "node" becomes NODE, so that
// `journalctl NODE=spark3` finds it.
type journalWriter struct {
	send     func(message string, p journal.Priority, fields map[string]string) error
	fallback io.Writer // the stream that systemd reads too, for when the socket fails
	unit     string    // that an entry from a shell is about; empty: systemd knows which unit we are
}

// unitName is the service that a person's commands are about.
const unitName = "cluster-watchdog.service"

// Write is for events without a level.
func (j *journalWriter) Write(event []byte) (int, error) {
	return j.WriteLevel(zerolog.NoLevel, event)
}

// WriteLevel sends one event. Nothing is lost: what the journal's socket does not take goes to
// the stream as text.
func (j *journalWriter) WriteLevel(level zerolog.Level, event []byte) (int, error) {
	message, fields, err := entryOf(event)
	if err == nil && j.unit != "" {
		fields["OBJECT_SYSTEMD_UNIT"] = j.unit // journalctl -u believes it of root
	}
	if err == nil {
		err = j.send(message, priorityOf(level), fields)
	}
	if err != nil {
		if _, err := fmt.Fprintf(j.fallback, "<%d>%s\n", priorityOf(level), plain(string(event))); err != nil {
			return 0, err
		}
	}
	return len(event), nil
}

// entryOf takes an event apart. An error belongs to the sentence: people read MESSAGE alone.
func entryOf(event []byte) (message string, fields map[string]string, err error) {
	var values map[string]any
	decoder := json.NewDecoder(bytes.NewReader(event))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return "", nil, err
	}
	fields = map[string]string{"SYSLOG_IDENTIFIER": logName}
	for key, value := range values {
		switch key {
		case zerolog.MessageFieldName:
			message = textOf(value)
		case zerolog.LevelFieldName, zerolog.TimestampFieldName: // PRIORITY and the journal's own clock
		default:
			fields[fieldName(key)] = textOf(value)
		}
	}
	if cause, ok := values[zerolog.ErrorFieldName]; ok {
		message = strings.TrimPrefix(message+": "+textOf(cause), ": ")
	}
	return message, fields, nil
}

func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return plain(v)
	case json.Number:
		return v.String()
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return plain(fmt.Sprint(v))
		}
		return plain(string(text))
	}
}

// fieldName makes a name that journald takes and that is not one of its own.
func fieldName(key string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, key)
	name = strings.TrimLeft(name, "_0123456789")
	switch name {
	case "", "MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER":
		name = "FIELD_" + name
	}
	return name[:min(len(name), 64)]
}

func priorityOf(level zerolog.Level) journal.Priority {
	switch level {
	case zerolog.TraceLevel, zerolog.DebugLevel:
		return journal.PriDebug
	case zerolog.WarnLevel:
		return journal.PriWarning
	case zerolog.ErrorLevel:
		return journal.PriErr
	case zerolog.FatalLevel, zerolog.PanicLevel:
		return journal.PriCrit
	default:
		return journal.PriInfo
	}
}
