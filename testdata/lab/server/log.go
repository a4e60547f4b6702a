package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// log writes as vLLM does: its own lines on stdout, uvicorn's and what Python throws on stderr.
type log struct {
	who string
	*streams
}

type streams struct {
	mu       sync.Mutex
	out, err io.Writer
	clock    func() time.Time
}

func newLog(out, err io.Writer, clock func() time.Time) *log {
	return &log{who: "APIServer", streams: &streams{out: out, err: err, clock: clock}}
}

// process returns the log of another process of this rank; it writes to the same streams.
func (l *log) process(who string) *log { return &log{who: who, streams: l.streams} }

// info is a line of vLLM's logger; where is the file and the line that wrote it.
func (l *log) info(where, format string, a ...any) { l.line(l.out, "INFO", where, format, a) }

// fatal is an error line of vLLM's logger.
func (l *log) fatal(where, format string, a ...any) { l.line(l.out, "ERROR", where, format, a) }

// uvicorn is a line of the web server's logger.
func (l *log) uvicorn(format string, a ...any) { l.error("INFO:     "+format, a...) }

// error is a line of no logger.
func (l *log) error(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.streams.err, "%s%s\n", l.prefix(), fmt.Sprintf(format, a...))
}

// bare is a line that no process of vLLM's signs.
func (l *log) bare(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.streams.err, line)
}

func (l *log) line(w io.Writer, level, where, format string, a []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(w, "%s%s %s [%s] %s\n", l.prefix(), level, l.clock().Format("01-02 15:04:05"), where, fmt.Sprintf(format, a...))
}

func (l *log) prefix() string { return fmt.Sprintf("(%s pid=%d) ", l.who, os.Getpid()) }
