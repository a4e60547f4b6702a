// Package clustertest is a simulated cluster: real SSH servers on loopback whose scripts run in a
// real /bin/sh with fake programs first in PATH, a fake inference server for the head, and faults
// that hang on a seed. Tests use it, and `cluster-watchdog demo`.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// What every simulated cluster has in common.
const (
	User      = "ops"
	Container = "vllm"
	Image     = "local/vllm:demo"
	Model     = "demo-model"
	Sentinel  = "sentinel"     // the file on the shared mount that proves it answers
	Secret    = "secret-value" // stands in the environment of every container
)

// Options say what to start.
type Options struct {
	Nodes       int
	Dir         string        // an own folder: all that the cluster writes stays in it
	Programs    string        // the executable that plays docker and the rest
	ProgramArgs []string      // what it is given before the name of the program
	BootTime    time.Duration // from the youngest start of a rank until the head serves
	HeadExits   time.Duration // from a rank's death until the head closes with code 0; 0 = never
	Seed        uint64
	Faults      []Fault
	Log         func(string) // hears what happens in the world; may be nil
}

// Cluster is a running simulated cluster. Its fields are for reading.
type Cluster struct {
	Nodes          []Node // the head is the first
	KeyFile        string // the private key of User
	KnownHostsFile string
	BaseURL        string // of the head's API
	Mount          string // a mount point that every node has

	options Options
	servers []*server
	faults  *Table
	engine  *engine
	reach   map[int]int // the faults set by ReachOff, by rank
	held    map[int][]int

	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex // of refresh, reach and held
	logMu  sync.Mutex
	wg     sync.WaitGroup
}

// Node is how one node is reached.
type Node struct {
	Name    string // "n1" is the head
	Host    string
	Port    int
	HostKey string // its line in known_hosts: ed25519 only, as a modern ssh writes it
	ECDSA   string // the line of its other host key, which is not in the file
	Dir     string
}

// watchEvery is how often the world looks at itself: listeners that open and close by time.
const watchEvery = 10 * time.Millisecond

// Start starts a cluster in which nothing runs yet.
func Start(o Options) (*Cluster, error) {
	c, err := prepare(o)
	if err == nil {
		err = c.open()
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("cannot start the simulated cluster: %w", err)
	}
	c.wg.Go(c.watch)
	return c, nil
}

func prepare(o Options) (*Cluster, error) {
	c := &Cluster{options: o, reach: map[int]int{}, held: map[int][]int{}, faults: NewTable(o.Seed, o.Nodes)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if o.Nodes < 1 || o.Dir == "" {
		return c, errors.New("it needs at least one node and a folder")
	}
	if err := fakenode.Check(o.Programs); err != nil {
		return c, err
	}
	for _, f := range o.Faults {
		if _, err := c.faults.Set(f); err != nil {
			return c, err
		}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return c, err
	}
	c.options.Dir = dir
	c.Mount = filepath.Join(dir, "models")
	if err := os.MkdirAll(c.Mount, 0o700); err != nil {
		return c, err
	}
	return c, os.WriteFile(filepath.Join(c.Mount, Sentinel), []byte("this is the shared mount\n"), 0o600)
}

// open makes the nodes and opens what listens.
func (c *Cluster) open() error {
	key, err := newUserKey(c.options.Dir)
	if err != nil {
		return err
	}
	c.KeyFile = key.file
	var known []byte
	for rank := range c.options.Nodes {
		s, err := c.newServer(rank, key)
		if s != nil {
			c.servers = append(c.servers, s) // half made or not, Close ends it
		}
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, s.Node)
		known = append(known, s.HostKey+"\n"...)
	}
	c.KnownHostsFile = filepath.Join(c.options.Dir, "known_hosts")
	if err := os.WriteFile(c.KnownHostsFile, known, 0o600); err != nil {
		return err
	}
	if c.engine, err = newEngine(c); err != nil {
		return err
	}
	c.BaseURL = "http://" + c.engine.port.addr
	return c.refresh()
}

func (c *Cluster) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			if err := c.refresh(); err != nil {
				c.log(err.Error())
			}
		}
	}
}

// refresh brings what listens in line with the faults and with what runs.
func (c *Cluster) refresh() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return nil
	}
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.follow(!c.faults.Refuses(s.rank)))
	}
	return errors.Join(append(errs, c.engine.follow(time.Now()))...)
}

// Close ends everything that the cluster started: its servers, and what its nodes still run,
// helpers that were detached included. The folder stays.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.cancel()
	for _, s := range c.servers {
		s.close()
	}
	if c.engine != nil {
		c.engine.close()
	}
	c.mu.Unlock()
	c.wg.Wait()
	for _, s := range c.servers {
		endAll(s.node)
	}
}

func (c *Cluster) log(text string) {
	if c.options.Log == nil {
		return
	}
	c.logMu.Lock()
	defer c.logMu.Unlock()
	c.options.Log(text)
}
