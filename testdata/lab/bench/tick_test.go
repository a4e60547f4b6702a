//go:build lab

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkHealthyTick measures on the head what a look at a healthy group costs: our tick, and the
// same looks by ssh, curl and docker from bash, in turn.
func BenchmarkHealthyTick(b *testing.B) {
	tools(b)
	fresh(b)
	var ours, theirs costs
	for range *rounds {
		ours.add(b, "root", "cluster-watchdog", "tick")
		theirs.add(b, "ops", bash, "look")
	}
	share := ours.cpu.median() / theirs.cpu.median()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours.cpu.median(), "cpu-ms-ours")
	b.ReportMetric(theirs.cpu.median(), "cpu-ms-bash")
	b.ReportMetric(share, "cpu-share")
	lines := []string{fmt.Sprintf("a look at a healthy group, on the head, median of %d:   cluster-watchdog      bash   ratio", *rounds)}
	line := func(what string, of func(costs) figures, aim string) {
		mine, other := of(ours).median(), of(theirs).median()
		lines = append(lines, fmt.Sprintf("  %-50s %16.0f %9.0f   %.2f%s", what, mine, other, mine/other, aim))
	}
	line("CPU with all children, ms", func(c costs) figures { return c.cpu }, "   aim: 0.1")
	line("CPU of the whole node, with sshd and dockerd, ms", func(c costs) figures { return c.node }, "")
	line("peak memory of the largest process, MiB", func(c costs) figures { return c.peak }, "")
	line("time, ms", func(c costs) figures { return c.wall }, "")
	b.Log(strings.Join(lines, "\n"))
}

// costs are those of one side in all rounds.
type costs struct{ wall, cpu, node, peak figures }

// add runs a look once on the head, and refuses one that did not find the group healthy.
func (c *costs) add(b *testing.B, user string, command ...string) {
	b.Helper()
	out, said, err := in(0, nil, user, append([]string{coster}, command...)...)
	if err != nil || !strings.Contains(said, "served a completion") {
		b.Fatalf("%v: %v: %s%s", command, err, out, said)
	}
	var one struct {
		Wall, CPU, Node time.Duration
		Peak            int64
	}
	if err := json.Unmarshal([]byte(out), &one); err != nil {
		b.Fatalf("%v: %v: %s", command, err, out)
	}
	c.wall.add(one.Wall)
	c.cpu.add(one.CPU)
	c.node.add(one.Node)
	c.peak = append(c.peak, float64(one.Peak)/(1<<20))
}
