package main

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"cluster-watchdog/restart"
)

// checkWarnings gathers what checks that passed want people to know all the same.
type checkWarnings struct {
	mu    sync.Mutex
	lines []string
	nodes []NodeConfig
}

func (c *checkWarnings) hear(rank int, res restart.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range res.Warnings() {
		c.lines = append(c.lines, c.nodes[rank].Name+": "+w)
	}
}

func (c *checkWarnings) print(out io.Writer) {
	slices.Sort(c.lines)
	for _, line := range c.lines {
		fmt.Fprintf(out, "warning: %s\n", line)
	}
}
