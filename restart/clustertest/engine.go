package clustertest

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// EngineMode is how the inference server of a whole group behaves.
type EngineMode string

// The modes.
const (
	Serve        EngineMode = "serve"
	Hang         EngineMode = "hang"         // health is 200, completions never end, nothing moves
	Error500     EngineMode = "error500"     // health is 200, completions are 500
	Health500    EngineMode = "health500"    // health is 500, completions never end
	Health503    EngineMode = "health503"    // health is 503, completions never end
	Busy         EngineMode = "busy"         // completions never end, the counters move
	Unauthorized EngineMode = "unauthorized" // the API wants a key; health does not
)

// engine is the inference server in the head's container. Its port is listened on only while that
// container runs and its boot is over.
type engine struct {
	cluster *Cluster
	port    *port
	looks   []look // the last one per node

	mu     sync.Mutex // of what follows; never held while waiting
	mode   EngineMode
	server *http.Server
	counts counts
}

// look remembers what a node's state was read from, so as to read it only when it changed.
type look struct {
	info   os.FileInfo
	starts []fakenode.Start
}

func newEngine(c *Cluster) (*engine, error) {
	p, err := holdPort()
	if err != nil {
		return nil, err
	}
	return &engine{cluster: c, port: p, mode: Serve, looks: make([]look, c.options.Nodes)}, nil
}

// world looks at all nodes. Only refresh calls it, under its lock.
func (e *engine) world() (world, error) {
	starts := make([][]fakenode.Start, len(e.looks))
	for rank, s := range e.cluster.servers {
		info, err := os.Stat(s.node.StateFile())
		if err != nil {
			return world{}, fmt.Errorf("cannot look at node %s: %w", s.Name, err)
		}
		if l := e.looks[rank]; l.info == nil || !os.SameFile(l.info, info) || !l.info.ModTime().Equal(info.ModTime()) {
			d, err := s.node.Look()
			if err != nil {
				return world{}, err
			}
			e.looks[rank] = look{info: info, starts: d.Starts}
		}
		starts[rank] = e.looks[rank].starts
	}
	return judge(starts), nil
}

// follow opens and closes the API as the world wants it, and ends a head that has mourned long
// enough.
func (e *engine) follow(now time.Time) error {
	w, err := e.world()
	if err != nil {
		return err
	}
	after := e.cluster.options.HeadExits
	if after > 0 && !w.Head.Started.IsZero() && !w.Whole() && now.Sub(w.Broken) >= after {
		return e.cluster.closeHead(w.Head)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counts.follow(w.Head)
	e.counts.whole = w.Whole()
	switch ready := w.Ready(e.cluster.options.BootTime, now); {
	case ready && e.server == nil:
		return e.open()
	case !ready && e.server != nil:
		return e.shut()
	}
	return nil
}

func (e *engine) open() error {
	l, err := e.port.listen()
	if err != nil {
		return fmt.Errorf("cannot open the API of the head: %w", err)
	}
	server := &http.Server{Handler: e.routes()}
	e.server = server
	e.cluster.wg.Go(func() { server.Serve(l) }) // it always ends with an error: that it was closed
	e.cluster.log("the head serves on " + e.cluster.BaseURL)
	return e.cluster.tellPorts(e.port.number)
}

func (e *engine) shut() error {
	e.server.Close()
	e.server = nil
	e.cluster.log("the head has closed its API")
	return e.cluster.tellPorts()
}

func (e *engine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server != nil {
		e.server.Close()
		e.server = nil
	}
	e.port.close()
}

// now returns the mode that a request meets: a group with a dead rank hangs, whatever it was told.
func (e *engine) now() EngineMode {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.mode == Serve && !e.counts.whole {
		return Hang
	}
	return e.mode
}
