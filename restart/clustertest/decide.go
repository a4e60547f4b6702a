package clustertest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Table holds the faults that are set now, and the counts they hang on. A cluster in memory hangs on
// the same table as one with real SSH.
type Table struct {
	seed  uint64
	nodes int
	start time.Time

	mu     sync.Mutex
	next   int
	active map[int]Fault
	calls  map[call]int
}

// call names what is counted: the runs of a script on a node. Connections have no script.
type call struct {
	step string
	node int
}

// connection stands for the step of a connection.
const connection = "connection"

// NewTable returns a table without faults, for a cluster that starts now.
func NewTable(seed uint64, nodes int) *Table {
	return &Table{seed: seed, nodes: nodes, start: time.Now(), active: map[int]Fault{}, calls: map[call]int{}}
}

// Set makes something go wrong from now on, and returns its id for Unset.
func (f *Table) Set(x Fault) (int, error) {
	if err := x.problem(); err != nil {
		return 0, fmt.Errorf("cannot set fault %s: %w", x.Kind, err)
	}
	if x.Node != AnyNode && (x.Node < 0 || x.Node >= f.nodes) {
		return 0, fmt.Errorf("cannot set fault %s: there is no node %s, only n1 to n%d", x.Kind, nodeName(x.Node), f.nodes)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	f.active[f.next] = x
	return f.next, nil
}

// Unset lets it be right again. An unknown id is no error.
func (f *Table) Unset(id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.active, id)
}

// Call counts one run of a script and returns what goes wrong in it.
func (f *Table) Call(step string, node int) []FaultKind {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call{step, node}]++
	return f.hits(step, node, f.calls[call{step, node}], time.Since(f.start))
}

// Silent counts one connection and says whether nobody greets it.
func (f *Table) Silent(node int) bool {
	return slices.Contains(f.Call(connection, node), SSHDSilent)
}

// Refuses says whether nobody listens for SSH now.
func (f *Table) Refuses(node int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.hits(connection, node, 0, time.Since(f.start)), SSHDRefuses)
}

// hits is a function of its arguments, the seed and the faults that are set.
func (f *Table) hits(step string, node, number int, at time.Duration) []FaultKind {
	var kinds []FaultKind
	for _, x := range f.active {
		if x.fits(step, node, number, at) && (x.P == 0 || lot(f.seed, x.Kind, step, node, number) < x.P) {
			kinds = append(kinds, x.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

func (x Fault) fits(step string, node, number int, at time.Duration) bool {
	connects := slices.Contains(beforeCommands, x.Kind)
	return connects == (step == connection) &&
		(x.Step == "" || x.Step == step) &&
		(x.Node == AnyNode || x.Node == node) &&
		at >= x.After && (x.Until == 0 || at < x.Until) &&
		number >= x.From && (x.To == 0 || number <= x.To)
}

// lot draws a number from 0 to 1 that is always the same for the same arguments: steps run on all
// nodes at once, and draws from a shared stream would fall differently in every run.
func lot(seed uint64, kind FaultKind, step string, node, number int) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %d %d", seed, kind, step, node, number))
	const bits = 53
	return float64(binary.BigEndian.Uint64(sum[:])>>(64-bits)) / (1 << bits)
}

// Fits says why a fault that a person named is impossible in a cluster of that many nodes.
func (f Fault) Fits(nodes int) error {
	_, err := NewTable(0, nodes).Set(f)
	return err
}

// Set makes something go wrong from now on, and returns its id for Unset. An impossible fault is
// an error of the caller and panics; ParseFault and Fits find those of a person.
func (c *Cluster) Set(f Fault) int {
	id, err := c.faults.Set(f)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	c.mustRefresh()
	return id
}

// Unset lets it be right again. An unknown id is no error.
func (c *Cluster) Unset(id int) {
	c.faults.Unset(id)
	c.mustRefresh()
}

func (c *Cluster) mustRefresh() {
	if err := c.refresh(); err != nil {
		c.log(err.Error())
	}
}
