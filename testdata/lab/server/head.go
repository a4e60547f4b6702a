package main

import (
	"context"
	"errors"
	"io"
	quiet "log"
	"net"
	"net/http"
	"strconv"
	"time"
)

var errWorkerLost = errors.New("a worker is lost")

// lead is the life of the head.
func (s *server) lead(ctx context.Context) error {
	core := s.log.process(engineCore)
	config := net.ListenConfig{KeepAliveConfig: s.pace.keepAlives()}
	meeting, err := config.Listen(ctx, "tcp", s.meeting())
	if err != nil {
		return s.cannotListen(err)
	}
	defer meeting.Close()
	core.info("parallel_state.py:1208", "world_size=%d rank=0 local_rank=0 distributed_init_method=tcp://%s backend=nccl", s.nodes, s.meeting())
	g := newGroup(s.nodes)
	defer g.close()
	go g.accept(meeting)
	if err := s.boot(ctx, g, core); err != nil {
		return err
	}
	return s.serve(ctx, g)
}

func (s *server) cannotListen(err error) error {
	return &exit{1, func(l *log) { l.error("OSError: [Errno 98] Address already in use: %v", err) }}
}

// boot forms the group and loads. A worker lost meanwhile leaves the head waiting for it.
func (s *server) boot(ctx context.Context, g *group, core *log) error {
	whole, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	go func() {
		select {
		case <-g.broken:
			lose(errWorkerLost)
		case <-whole.Done():
		}
	}()
	err := s.form(whole, g, core)
	if !errors.Is(err, errWorkerLost) {
		return err
	}
	if err := s.lingering(ctx); err != nil {
		return err
	}
	return &exit{1, sayBootFailed}
}

func (s *server) form(ctx context.Context, g *group, core *log) error {
	if err := comes(ctx, g.full); err != nil {
		return err
	}
	core.info("parallel_state.py:1394", "rank 0 in world size %d is assigned as DP rank 0, PP rank 0, TP rank 0, EP rank 0", s.nodes)
	if err := s.loading(ctx, core); err != nil {
		return err
	}
	return comes(ctx, g.ready)
}

func comes(ctx context.Context, event <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-event:
		return nil
	}
}

// serve answers the API until the engine is dead, and then for a while.
func (s *server) serve(ctx context.Context, g *group) error {
	e := newEngine(s.model, func() fault { f, _ := readFault(s.lab); return f }, g.broken, time.Now)
	listener, err := net.Listen("tcp", net.JoinHostPort(s.host, strconv.Itoa(s.port)))
	if err != nil {
		return s.cannotListen(err)
	}
	api := &http.Server{Handler: e.routes(), ErrorLog: quiet.New(io.Discard, "", 0)}
	defer api.Close()
	go api.Serve(listener)
	go e.follow(ctx, s.pace.poll)
	sayServing(s.log, listener.Addr())
	var last func(*log)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-g.broken: // nobody notices: not a word, and /health stays content
		last = sayDeath
	case <-e.poisoned:
		sayEngineDead(s.log)
		last = sayShutdown
	}
	if err := s.lingering(ctx); err != nil {
		return err
	}
	return &exit{0, last}
}

// lingering waits as long as a head outlives its engine.
func (s *server) lingering(ctx context.Context) error {
	if s.linger == 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return until(ctx, time.Now().Add(s.linger))
}
