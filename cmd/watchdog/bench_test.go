package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cluster-watchdog/restart/clustertest"
)

// benchCluster starts four serving nodes with an armed watchdog, and builds the real binary.
func benchCluster(b *testing.B) (c *clustertest.Cluster, binary, config string) {
	b.Helper()
	dir := b.TempDir()
	binary = filepath.Join(dir, "watchdog")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	c, err := clustertest.Start(clustertest.Options{Nodes: 4, Dir: filepath.Join(dir, "cluster"), Programs: programs})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	if err := c.StartGroup(); err != nil {
		b.Fatal(err)
	}
	for !c.Serving() {
		time.Sleep(time.Millisecond)
	}
	config = filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, demoConfig(c, dir), 0o600); err != nil {
		b.Fatal(err)
	}
	runBinary(b, binary, config, "arm")
	runBinary(b, binary, config, "tick")
	return c, binary, config
}

// runBinary runs one command to its end and returns what it cost.
func runBinary(b *testing.B, binary, config string, args ...string) *syscall.Rusage {
	b.Helper()
	cmd := exec.Command(binary, append([]string{"-c", config}, args...)...)
	cmd.Stdout = io.Discard
	if err := cmd.Run(); err != nil {
		b.Fatalf("watchdog %v: %v", args, err)
	}
	return cmd.ProcessState.SysUsage().(*syscall.Rusage)
}

// BenchmarkHealthyTick measures the whole process of a tick on four healthy nodes: CPU of user and
// kernel, peak memory, and handshakes per node.
func BenchmarkHealthyTick(b *testing.B) {
	c, binary, config := benchCluster(b)
	handshakes := c.Handshakes(1)
	var cpu time.Duration
	var peak int64
	ticks := 0
	for b.Loop() {
		u := runBinary(b, binary, config, "tick")
		cpu += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		peak = max(peak, u.Maxrss)
		ticks++
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(ticks), "cpu-ms/tick")
	b.ReportMetric(float64(peak)/1024, "peak-MiB")
	b.ReportMetric(float64(c.Handshakes(1)-handshakes)/float64(ticks), "handshakes/node")
}

// BenchmarkDecisionToLaunched measures a restart of four nodes from the decision to the last rank
// that runs, with checks and evidence, by the attempt's own clock.
func BenchmarkDecisionToLaunched(b *testing.B) {
	c, binary, config := benchCluster(b)
	var total time.Duration
	restarts := 0
	for b.Loop() {
		runBinary(b, binary, config, "reset", "--reason", "benchmark")
		if err := c.Crash(2, 1); err != nil {
			b.Fatal(err)
		}
		runBinary(b, binary, config, "tick")
		total += lastRestart(b, config)
		restarts++
		for !c.Serving() {
			time.Sleep(time.Millisecond)
		}
		runBinary(b, binary, config, "tick")
	}
	b.ReportMetric(float64(total.Milliseconds())/float64(restarts), "ms-to-launched")
}

func lastRestart(b *testing.B, config string) time.Duration {
	b.Helper()
	a := &app{in: os.Stdin, out: io.Discard, errs: io.Discard, configPath: config}
	s, err := a.open()
	if err != nil {
		b.Fatal(err)
	}
	st, err := s.store.Load()
	if err != nil {
		b.Fatal(err)
	}
	last := st.Attempts[len(st.Attempts)-1]
	if last.Ended.IsZero() || last.Launching.IsZero() {
		b.Fatalf("no restart was made: %+v", last)
	}
	return last.Ended.Since(last.Started)
}
