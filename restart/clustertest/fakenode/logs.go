package fakenode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// LogLine is one line a container wrote, as Docker's json-file driver keeps it.
type LogLine struct {
	Log    string    `json:"log"`
	Stream string    `json:"stream"`
	Time   time.Time `json:"time"`
}

// Out is a line on stdout.
func Out(text string) LogLine { return LogLine{Log: text + "\n", Stream: "stdout"} }

// Err is a line on stderr.
func Err(text string) LogLine { return LogLine{Log: text + "\n", Stream: "stderr"} }

// Log adds lines to the log of a container.
func (n Node) Log(id string, now time.Time, lines ...LogLine) error {
	f, err := os.OpenFile(n.Run("docker", id+"-json.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the log of container %s: %w", id, err)
	}
	e := json.NewEncoder(f)
	for _, l := range lines {
		l.Time = now.UTC().Round(0)
		err = errors.Join(err, e.Encode(l))
	}
	return errors.Join(err, f.Close())
}

func (n Node) logOf(id string) ([]LogLine, error) {
	b, err := os.ReadFile(n.Run("docker", id+"-json.log"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []LogLine
	for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
		var l LogLine
		if err := d.Decode(&l); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func dockerLogs(w *world, args []string) int {
	p, ok := w.options(flags{
		values: spell("--tail,-n", "--since", "--until"),
		bools:  spell("--timestamps,-t", "--details"),
	}, args)
	if !ok || len(p.words) != 1 { // -f would never end: not played
		return w.unknown(strings.Join(w.args, " "))
	}
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	c, err := d.Find(p.words[0])
	if err != nil {
		w.daemonError(err)
		return 1
	}
	lines, err := w.node.logOf(c.ID)
	if err != nil {
		return w.broken(err)
	}
	if lines, err = cut(lines, p, time.Now()); err != nil {
		w.daemonError(err)
		return 1
	}
	for _, l := range lines {
		out := w.stdout
		if l.Stream == "stderr" {
			out = w.stderr
		}
		prefix := ""
		if p.has("--timestamps") {
			prefix = stamp(l.Time) + " "
		}
		fmt.Fprint(out, prefix+l.Log)
	}
	return 0
}

// cut applies --since, --until and --tail.
func cut(lines []LogLine, p parsed, now time.Time) ([]LogLine, error) {
	var since, until time.Time
	var err error
	if p.has("--since") {
		since, err = instant(p.last("--since"), now)
	}
	if err == nil && p.has("--until") {
		until, err = instant(p.last("--until"), now)
	}
	if err != nil {
		return nil, err
	}
	var kept []LogLine
	for _, l := range lines {
		if !l.Time.Before(since) && (until.IsZero() || !l.Time.After(until)) {
			kept = append(kept, l)
		}
	}
	if tail := p.last("--tail"); tail != "" && tail != "all" {
		n, err := strconv.Atoi(tail)
		if err != nil {
			return nil, fmt.Errorf("invalid tail %q", tail)
		}
		kept = kept[max(0, len(kept)-max(0, n)):]
	}
	return kept, nil
}
