// Command server stands in for vLLM on several nodes. It loads no model and makes no text; it boots,
// serves, hangs and dies as the real one does, so that what watches such a group can be tried.
//
//	server serve [MODEL] --nnodes 4 --node-rank R --master-addr HEAD [--headless]
//
// Rank 0, the head, waits until all workers have joined, loads, and serves the API. A file named
// fault in the folder --lab holds one word that says what goes wrong; see fault.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	s := &server{options: o, pace: usual(), log: newLog(os.Stdout, os.Stderr, time.Now)}
	code := s.run(ctx)
	stop()
	os.Exit(code)
}

// server is one rank.
type server struct {
	options
	pace pace
	log  *log
}

// exit ends a rank: the status of its process, and its last words.
type exit struct {
	code int
	last func(*log)
}

func (e *exit) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// run lives the life of a rank and returns the status it exits with. A context that ends is SIGTERM.
func (s *server) run(ctx context.Context) int {
	s.log.process("APIServer").info("api_server.py:1912", "vLLM API server version %s", version)
	f, err := readFault(s.lab)
	switch {
	case err != nil:
		s.log.error("cannot obey: %v", err)
		return 2
	case f.word == noMemory:
		sayNoMemory(s.log)
		return 1
	}
	ctx, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); s.watch(ctx, stop) }()
	if s.rank == 0 {
		err = s.lead(ctx)
	} else {
		err = s.work(ctx)
	}
	stop(nil)
	<-watched
	return s.end(err)
}

// watch obeys the words that end a rank at any time.
func (s *server) watch(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(s.pace.poll)
	defer tick.Stop()
	for {
		switch f, err := readFault(s.lab); {
		case err != nil:
			stop(&exit{2, func(l *log) { l.error("cannot obey: %v", err) }})
			return
		case f.word == die:
			stop(&exit{1, sayException})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// end says the last words. What was told to stop leaves politely.
func (s *server) end(err error) int {
	var e *exit
	if !errors.As(err, &e) {
		e = &exit{0, sayShutdown}
		if s.rank > 0 {
			e = &exit{0, sayWorkerLeaves}
		}
	}
	e.last(s.log)
	return e.code
}
