//go:build lab

package bench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkDecisionToLaunched measures a restart of four nodes from the decision until the last rank
// runs, in turn: ours by the attempt's own record, bash and ssh by their own print. People's commands
// do less on each node than we do; the same scripts do the same. The longest chain is what those scripts
// take on the nodes when nothing waits but where it must, all four at once on this machine's cores.
func BenchmarkDecisionToLaunched(b *testing.B) {
	tools(b)
	fresh(b)
	var ours, chains, commands, sames figures
	for range *rounds {
		ours.add(restart(b))
		chains.add(restartByBash(b, same, scripts, "chain"))
		commands.add(restartByBash(b, bash, "restart"))
		sames.add(restartByBash(b, same, scripts, "in-turn"))
	}
	mine := ours.median()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(mine, "ms-ours")
	b.ReportMetric(commands.median()/mine, "times-faster")
	b.ReportMetric(sames.median()/mine, "times-faster-same-scripts")
	b.ReportMetric(mine/chains.median(), "times-chain")
	row := func(what string, f figures, ratio float64, aim string) string {
		return fmt.Sprintf("  %-30s %s   %5.2f%s", what, f, ratio, aim)
	}
	b.Log(strings.Join([]string{
		fmt.Sprintf("decision to all ranks launched, ms, median of %d (from, to), ratio:", *rounds),
		row("cluster-watchdog", ours, 1, ""),
		row("the scripts' longest chain", chains, mine/chains.median(), "   ours / it; aim: 1.3 at most"),
		row("bash and ssh, people's commands", commands, commands.median()/mine, "   it / ours; aim: 3"),
		row("bash and ssh, the same scripts", sames, sames.median()/mine, "   it / ours"),
	}, "\n"))
}

// restart lets the watchdog bring a dead group back, and returns how long it took.
func restart(b *testing.B) time.Duration {
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
	return a.Ended.Boot - a.Started.Boot
}

// restartByBash does the same by bash and ssh.
func restartByBash(b *testing.B, command ...string) time.Duration {
	b.Helper()
	die(b)
	out, errs, err := in(0, nil, "ops", command...)
	if err != nil {
		b.Fatalf("%v: %v: %s", command, err, errs)
	}
	took, err := strconv.Atoi(out)
	if err != nil {
		b.Fatalf("%v: %v: %s", command, err, errs)
	}
	serving(b)
	return time.Duration(took) * time.Millisecond
}
