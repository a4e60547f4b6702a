package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// entry is what the journal was sent.
type entry struct {
	Message  string
	Priority journal.Priority
	Fields   map[string]string
}

func journalOf(sent *[]entry) zerolog.Logger {
	return zerolog.New(&journalWriter{send: func(m string, p journal.Priority, f map[string]string) error {
		*sent = append(*sent, entry{m, p, f})
		return nil
	}}).With().Timestamp().Logger()
}

func TestJournalFields(t *testing.T) {
	for _, row := range []struct {
		name string
		log  func(zerolog.Logger)
		want entry
	}{
		{"the fields of a step", func(l zerolog.Logger) {
			l.Info().Str("phase", "BOOTING").Str("event", "launched").Str("node", "spark3").Str("step", "launch workers").Int("attempt", 12).Msg("RESTART launched all ranks")
		}, entry{"RESTART launched all ranks", journal.PriInfo, map[string]string{"PHASE": "BOOTING", "EVENT": "launched", "NODE": "spark3", "STEP": "launch workers", "ATTEMPT": "12"}}},
		{"the error is part of the sentence", func(l zerolog.Logger) {
			l.Error().Err(errors.New("connection refused")).Msg("cannot reach spark3")
		}, entry{"cannot reach spark3: connection refused", journal.PriErr, map[string]string{"ERROR": "connection refused"}}},
		{"an error alone", func(l zerolog.Logger) { l.Error().Err(errors.New("no")).Send() }, entry{"no", journal.PriErr, map[string]string{"ERROR": "no"}}},
		{"warning", func(l zerolog.Logger) { l.Warn().Msg("w") }, entry{"w", journal.PriWarning, map[string]string{}}},
		{"debug", func(l zerolog.Logger) { l.Debug().Msg("d") }, entry{"d", journal.PriDebug, map[string]string{}}},
		{"without a level", func(l zerolog.Logger) { l.Log().Msg("n") }, entry{"n", journal.PriInfo, map[string]string{}}},
		{"numbers and lists as they are", func(l zerolog.Logger) {
			l.Info().Int64("bytes", 1<<60+1).Bool("armed", true).Strs("ids", []string{"a", "b"}).Msg("")
		}, entry{"", journal.PriInfo, map[string]string{"BYTES": "1152921504606846977", "ARMED": "true", "IDS": `["a","b"]`}}},
		{"names journald would refuse or trust", func(l zerolog.Logger) {
			l.Info().Str("exit code", "1").Str("_UID", "0").Str("9a", "x").Str("PRIORITY", "0").Str("é", "y").Msg("m")
		}, entry{"m", journal.PriInfo, map[string]string{"EXIT_CODE": "1", "UID": "0", "A": "x", "FIELD_PRIORITY": "0", "FIELD_": "y"}}},
		{"control characters", func(l zerolog.Logger) {
			l.Info().Str("node", "a\x1b[2Jb\nPRIORITY=0").Msg("red \x1b[31mtext\u202e\u009b\r\nline")
		}, entry{"red [31mtext  line", journal.PriInfo, map[string]string{"NODE": "a[2Jb PRIORITY=0"}}},
	} {
		var sent []entry
		row.log(journalOf(&sent))
		row.want.Fields["SYSLOG_IDENTIFIER"] = "cluster-watchdog"
		if diff := cmp.Diff([]entry{row.want}, sent); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestNothingIsLostWithoutTheSocket(t *testing.T) {
	var stream bytes.Buffer
	w := &journalWriter{fallback: &stream, send: func(string, journal.Priority, map[string]string) error { return errors.New("no socket") }}
	log := zerolog.New(w)
	log.Warn().Str("node", "spark3").Msg("cannot reach it")
	if got, want := stream.String(), `<4>{"level":"warn","node":"spark3","message":"cannot reach it"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJournalIsToldByItsStream(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stream"))
	must(t, err)
	defer func() { _ = file.Close() }()
	var stat unix.Stat_t
	must(t, unix.Fstat(int(file.Fd()), &stat))
	for _, row := range []struct {
		name, stream string
		want         string
	}{
		{"ours", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), "*main.journalWriter"},
		{"another's, inherited", fmt.Sprintf("%d:%d", stat.Dev, stat.Ino+1), "zerolog.ConsoleWriter"},
		{"none", "", "zerolog.ConsoleWriter"},
		{"not numbers", "a:b", "zerolog.ConsoleWriter"},
	} {
		got := fmt.Sprintf("%T", logWriter(file, func(name string) string {
			return map[string]string{"JOURNAL_STREAM": row.stream}[name]
		}, false))
		if got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

func TestLinesForPeople(t *testing.T) {
	for _, row := range []struct {
		name   string
		colour bool
		log    func(zerolog.Logger)
		want   string
	}{
		{"sentence first", false, func(l zerolog.Logger) {
			l.Info().Str("time", "2026-11-01T11:58:16Z").Str("node", "spark3").Int("took", 3).Msg("container not running (phase=BOOTING) → restart")
		}, "container not running (phase=BOOTING) → restart took=3"},
		{"warning", false, func(l zerolog.Logger) { l.Warn().Msg("disarmed") }, "warning: disarmed"},
		{"error", false, func(l zerolog.Logger) { l.Error().Err(errors.New("no")).Msg("cannot") }, "error: cannot error=no"},
		{"escape sequences", false, func(l zerolog.Logger) { l.Info().Str("peer", "\x1b[2J").Msg("a\x1b[31mb\u202ec\u009bd\ne") }, `a[31mbcd e peer="\x1b[2J"`},
		{"colour", true, func(l zerolog.Logger) { l.Info().Str("peer", "spark3").Msg("m") }, "m \x1b[36mpeer=\x1b[0mspark3"},
	} {
		var out bytes.Buffer
		row.log(zerolog.New(lines(&out, "15:04:05", row.colour)))
		got := strings.TrimSpace(out.String())
		if _, sentence, ok := strings.Cut(got, " "); ok && strings.Contains(got, "58:16") {
			got = strings.TrimSpace(sentence)
		}
		if got != row.want && !strings.HasSuffix(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestPlainFileIsNotColoured(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, func(string) string { return "" }, false)
	log.Info().Str("peer", "spark3").Msg("RESTART begin")
	if got := out.String(); strings.Contains(got, "\x1b") || !strings.HasSuffix(got, " RESTART begin peer=spark3\n") {
		t.Errorf("got %q", got)
	}
}
