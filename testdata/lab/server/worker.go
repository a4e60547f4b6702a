package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

var errHeadGone = errors.New("the head is gone")

// work is the life of a worker.
func (s *server) work(ctx context.Context) error {
	s.log = s.log.process(fmt.Sprintf("Worker_TP%d", s.rank))
	conn, err := s.reach(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	fmt.Fprintf(conn, join+"\n", s.rank, s.nodes)
	s.log.info("parallel_state.py:1208", "world_size=%d rank=%d local_rank=0 distributed_init_method=tcp://%s backend=nccl", s.nodes, s.rank, s.meeting())
	in := bufio.NewScanner(conn)
	if !in.Scan() || in.Text() != welcome {
		// What joined a dying head never learns of its end, and so never joins the next one.
		<-ctx.Done()
		return context.Cause(ctx)
	}
	s.log.info("parallel_state.py:1394", "rank %d in world size %d is assigned as DP rank 0, PP rank 0, TP rank %d, EP rank %d", s.rank, s.nodes, s.rank, s.rank)

	member, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	started := make(chan struct{})
	go listen(in, started, leave)
	err = s.belong(member, started, conn)
	if errors.Is(err, errHeadGone) {
		return s.outlive(ctx)
	}
	return err
}

// reach dials until the head is there.
func (s *server) reach(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: s.pace.dial, KeepAliveConfig: s.pace.keepAlives()}
	if s.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(s.from)}
	}
	for tried := false; ; tried = true {
		conn, err := dialer.DialContext(ctx, "tcp", s.meeting())
		if err == nil {
			return conn, nil
		}
		if !tried && ctx.Err() == nil {
			s.log.bare(fmt.Sprintf("[W socket.cpp:767] [c10d] The client socket has failed to connect to %s (%v).", s.meeting(), err))
		}
		if err := until(ctx, time.Now().Add(s.pace.redial)); err != nil {
			return nil, err
		}
	}
}

// listen hears the head until it is gone.
func listen(in *bufio.Scanner, started chan<- struct{}, leave context.CancelCauseFunc) {
	for in.Scan() {
		if in.Text() == start {
			close(started)
		}
	}
	leave(errHeadGone)
}

// belong is what a member of a group does: load, and be there.
func (s *server) belong(ctx context.Context, started <-chan struct{}, head net.Conn) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-started:
	}
	if err := s.loading(ctx, s.log); err != nil {
		return err
	}
	fmt.Fprintln(head, ready)
	<-ctx.Done()
	return context.Cause(ctx)
}

// outlive is what a worker does whose head is gone: it leaves too, or stays as a shell.
func (s *server) outlive(ctx context.Context) error {
	if f, err := readFault(s.lab); err == nil && f.word == shell {
		<-ctx.Done()
	}
	if ctx.Err() != nil { // it closed the connection itself
		return context.Cause(ctx)
	}
	return &exit{0, sayWorkerLeaves}
}

// meeting is where the ranks join.
func (o options) meeting() string { return net.JoinHostPort(o.master, strconv.Itoa(o.rendezvousPort)) }

// keepAlives find a peer whose machine was lost without a word.
func (p pace) keepAlives() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: p.keepAlive, Interval: p.keepAlive, Count: 9}
}
