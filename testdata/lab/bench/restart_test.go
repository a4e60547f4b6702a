//go:build lab

package bench

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkDecisionToLaunched measures a restart of four nodes from the decision until the last rank
// runs: ours by the attempt's own record, bash and ssh by their own print, in turn.
func BenchmarkDecisionToLaunched(b *testing.B) {
	tools(b)
	fresh(b)
	var ours, chains, theirs figures
	for range *rounds {
		took, chain := restart(b)
		ours.add(took)
		chains.add(chain)
		theirs.add(restartByBash(b))
	}
	faster, overhead := theirs.median()/ours.median(), ours.median()/chains.median()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours.median(), "ms-ours")
	b.ReportMetric(theirs.median(), "ms-bash")
	b.ReportMetric(faster, "times-faster")
	b.ReportMetric(overhead, "times-chain")
	b.Log(strings.Join([]string{
		fmt.Sprintf("decision to all ranks launched, ms, median of %d:", *rounds),
		"  cluster-watchdog        " + ours.String(),
		"  its longest chain       " + chains.String(),
		"  bash and ssh            " + theirs.String(),
		fmt.Sprintf("  times faster            %8.1f   aim: 3", faster),
		fmt.Sprintf("  times the longest chain %8.2f   aim: 1.3 at most", overhead),
	}, "\n"))
}

// restart lets the watchdog bring a dead group back, and returns how long it took and the longest
// chain of node times in it.
func restart(b *testing.B) (took, chain time.Duration) {
	b.Helper()
	on(b, 0, "cluster-watchdog reset --reason bench")
	before := lastAttempt(b)
	die(b)
	said := tick()
	a := lastAttempt(b)
	if a.ID == before.ID || a.Outcome != launched {
		b.Fatalf("no restart was made: %+v: %s", a, said)
	}
	serving(b)
	return a.Ended.Boot - a.Started.Boot, a.Committed.Boot - a.Started.Boot + steps(b, said)
}

var stepDone = regexp.MustCompile(`RESTART step ".*" done on \d+/\d+ nodes in (\S+)`)

// steps adds up the steps behind the commit, each as long as its slowest node. Before it each node
// runs its own chain of checks; the commit follows the slowest.
func steps(b *testing.B, said string) (sum time.Duration) {
	b.Helper()
	for _, line := range stepDone.FindAllStringSubmatch(said, -1) {
		took, err := time.ParseDuration(line[1])
		if err != nil {
			b.Fatalf("%s: %v", line[0], err)
		}
		sum += took
	}
	return sum
}

// restartByBash does the same by bash and ssh.
func restartByBash(b *testing.B) time.Duration {
	b.Helper()
	die(b)
	out, errs, err := in(0, nil, "ops", baseline, "restart")
	if err != nil {
		b.Fatalf("baseline: %v: %s", err, errs)
	}
	took, err := strconv.Atoi(out)
	if err != nil {
		b.Fatalf("baseline: %v: %s", err, errs)
	}
	serving(b)
	return time.Duration(took) * time.Millisecond
}
