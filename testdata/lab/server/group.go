package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
)

// What the ranks say to each other, a line each.
const (
	join    = "join %d %d" // a worker: its rank, the size of its group
	welcome = "welcome"    // the head: you are one of us
	start   = "start"      // the head: all are here, load
	ready   = "ready"      // a worker: loaded
)

// group is the head's rendezvous. It forms once: when a member is lost it stays broken.
//
// Whoever comes when there is no seat for him (the group is broken or full, or his rank is taken)
// is accepted and never answered, as NCCL leaves a rank that joins a dying communicator.
type group struct {
	size int // with the head

	mu      sync.Mutex
	conns   map[net.Conn]bool
	members map[int]net.Conn
	loaded  int
	lost    bool
	closed  bool

	full, ready, broken chan struct{}
}

func newGroup(size int) *group {
	g := &group{size: size, conns: map[net.Conn]bool{}, members: map[int]net.Conn{},
		full: make(chan struct{}), ready: make(chan struct{}), broken: make(chan struct{})}
	if size == 1 {
		close(g.full)
		close(g.ready)
	}
	return g
}

// accept serves the rendezvous until its listener is closed.
func (g *group) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		g.mu.Lock()
		g.conns[c] = true
		if g.closed {
			c.Close()
		}
		g.mu.Unlock()
		go g.hear(c)
	}
}

// hear listens to one worker as long as it lives.
func (g *group) hear(c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	var rank, size int
	if !in.Scan() {
		return
	}
	if _, err := fmt.Sscanf(in.Text(), join, &rank, &size); err != nil || !g.admit(c, rank, size) {
		io.Copy(io.Discard, c)
		return
	}
	for in.Scan() {
		if in.Text() == ready {
			g.count()
		}
	}
	g.lose()
}

// admit gives a worker its seat, and starts all when the last one is taken.
func (g *group) admit(c net.Conn, rank, size int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost || size != g.size || rank < 1 || rank >= g.size || g.members[rank] != nil {
		return false
	}
	g.members[rank] = c
	fmt.Fprintln(c, welcome) // a worker that is gone is found by its reader
	if len(g.members) == g.size-1 {
		for _, member := range g.members {
			fmt.Fprintln(member, start)
		}
		close(g.full)
	}
	return true
}

// count notes that one more worker has loaded.
func (g *group) count() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.loaded++; g.loaded == g.size-1 {
		close(g.ready)
	}
}

// lose notes that a member is gone.
func (g *group) lose() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.lost {
		g.lost = true
		close(g.broken)
	}
}

// close ends all connections, as the end of the process does.
func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.conns {
		c.Close()
	}
}
