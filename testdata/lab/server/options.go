package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// options is what a rank is told on its command line, in vLLM's words where it has them.
type options struct {
	nodes, rank    int
	master         string
	headless       bool
	rendezvousPort int
	host           string
	port           int
	from           string // the address a worker dials from; empty: the kernel's choice
	model          string
	load           time.Duration
	linger         time.Duration // how long a head outlives its engine; 0: for ever
	lab            string        // the folder that holds the fault
}

// pace is how often a rank does what it repeats.
type pace struct {
	poll      time.Duration // looks at the fault
	dial      time.Duration // one attempt of a worker to reach the head
	redial    time.Duration // between two of them
	keepAlive time.Duration // until the silence of another rank is questioned
	heartbeat time.Duration // between lines that say loading takes long
}

func usual() pace {
	return pace{poll: 25 * time.Millisecond, dial: 2 * time.Second, redial: 200 * time.Millisecond, keepAlive: 5 * time.Second, heartbeat: time.Minute}
}

func parse(args []string) (options, error) {
	o := options{model: "fake/model", from: os.Getenv("VLLM_HOST_IP")}
	if len(args) == 0 || args[0] != "serve" {
		return o, errors.New(`the first argument must be "serve"`)
	}
	args = args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		o.model, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.nodes, "nnodes", 1, "how many ranks the group has")
	f.IntVar(&o.rank, "node-rank", 0, "which of them this is; 0 is the head")
	f.StringVar(&o.master, "master-addr", "127.0.0.1", "address of the head")
	f.BoolVar(&o.headless, "headless", false, "serve no API; for workers")
	f.IntVar(&o.rendezvousPort, "rendezvous-port", 29500, "port of the head where workers join")
	f.StringVar(&o.host, "host", "0.0.0.0", "address of the API")
	f.IntVar(&o.port, "port", 8000, "port of the API")
	f.StringVar(&o.model, "served-model-name", o.model, "name of the model")
	f.DurationVar(&o.load, "load", 2*time.Second, "how long loading takes")
	f.DurationVar(&o.linger, "linger", 3*time.Second, "how long the head outlives its engine; 0 = for ever")
	f.StringVar(&o.lab, "lab", "/lab", "folder of the file fault")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.nodes < 1 || o.rank < 0 || o.rank >= o.nodes:
		return fmt.Errorf("rank %d is not one of %d", o.rank, o.nodes)
	case o.rank == 0 && o.headless:
		return errors.New("rank 0 serves the API and cannot be headless")
	case o.load < 0 || o.linger < 0:
		return errors.New("--load and --linger cannot be negative")
	}
	return nil
}
