package restart

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// BenchmarkScale restarts groups of 4 to 256 nodes over real SSH on loopback, from the decision to the
// last rank that runs. The nodes play their parts ten times faster than usual and have a log of 1 MiB
// each, in a process of their own on the same processors. "own-ms" is what the restart takes beyond
// the longest chain of node times: handshakes were made by the look before it ("look-ms"), so it is
// sessions, logs and saves. "of-chain" puts that beside a chain at the usual pace. Files and memory
// are those of this process alone.
func BenchmarkScale(b *testing.B) {
	for _, nodes := range []int{4, 16, 64, 256} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			f := startFleet(b, nodes)
			var look, launched time.Duration
			runs, files := 0, 0
			debug.FreeOSMemory()
			forgetPeak(b)
			for b.Loop() {
				c := NewConns(f.targets, DefaultLimits())
				look += lookAtAll(b, c, nodes)
				launched += restartAll(b, c, nodes)
				files = max(files, openFiles(b))
				c.Close()
				runs++
			}
			chain := longestChain(nodes)
			own := launched/time.Duration(runs) - chain/fleetCut
			b.ReportMetric(look.Seconds()*1000/float64(runs), "look-ms")
			b.ReportMetric(launched.Seconds()*1000/float64(runs), "launched-ms")
			b.ReportMetric(own.Seconds()*1000, "own-ms")
			b.ReportMetric((chain+own).Seconds()/chain.Seconds(), "of-chain")
			b.ReportMetric(float64(peak(b))/1024, "peak-MiB")
			b.ReportMetric(float64(files), "files")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// lookAtAll asks all nodes at once, as a look does; it makes the connections.
func lookAtAll(b *testing.B, c *Conns, nodes int) time.Duration {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	for rank := range nodes {
		wait.Go(func() {
			if _, err := c.Run(ctx, rank, scripts.Get("observe/look"), nil); err != nil {
				b.Error(err)
			}
		})
	}
	wait.Wait()
	return time.Since(began)
}

func restartAll(b *testing.B, c *Conns, nodes int) time.Duration {
	set := Settings{Group: "llm", Container: "vllm", HeadAddr: "10.0.0.1", Command: "sh ~/launch.sh", LaunchTimeout: time.Minute,
		StopSeconds: 10, Image: "img", Dirs: []string{"/d"}, Mounts: []Mount{{Path: "/models"}}, Disks: []Disk{{Path: "/", MinFree: 1}},
		Ports: []int{8000}, MemoryWait: time.Minute, FlusherEvery: time.Minute, FlusherFor: time.Hour, Evidence: b.TempDir(), Parallel: DefaultParallel}
	seen := make([]string, nodes)
	for rank := range nodes {
		set.Nodes = append(set.Nodes, fmt.Sprintf("n%d", rank+1))
		seen[rank] = fmt.Sprintf("%064x", 0xa000+rank)
	}
	p, err := NewPlan(set, Steps())
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	world := World{
		Clock: func() watchdog.Clock {
			return watchdog.Clock{Wall: time.Now(), Boot: time.Hour + time.Since(began), BootID: "boot"}
		},
		Save:   onDisk(filepath.Join(b.TempDir(), "attempt")),
		Switch: func() watchdog.Flag { return watchdog.Flag{} },
		Notice: func(watchdog.NoticeKind, string, string) {},
		Log:    zerolog.Nop(),
	}
	a, err := NewRunner(p, c, world).Run(context.Background(), Order{Attempt: watchdog.Attempt{ID: 1, Incident: 1}, Seen: seen})
	took := time.Since(began)
	if err != nil || a.Outcome != watchdog.OutcomeLaunched || len(a.Launched) != nodes {
		b.Fatalf("%v, %s: %s", err, a.Outcome, a.Error)
	}
	return took
}

// onDisk saves as the store does, as far as the disk is concerned: it waits for it twice.
func onDisk(path string) func(watchdog.Attempt) error {
	return func(a watchdog.Attempt) error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		for range 2 {
			if _, err := fmt.Fprintf(f, "%+v\n", a); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return nil
	}
}

func pemOf(block *pem.Block) []byte { return pem.EncodeToMemory(block) }

// openFiles counts what this process has open.
func openFiles(b *testing.B) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.Skip("skipped: no /proc here")
	}
	return len(entries) - 1 // its own
}

// forgetPeak makes the kernel measure the largest memory anew.
func forgetPeak(b *testing.B) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Logf("the peak is that of all sizes so far: %v", err)
	}
}

// peak is the largest memory since, in KiB.
func peak(b *testing.B) (kib int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("skipped: no /proc here")
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	if _, err := fmt.Sscan(strings.TrimSpace(string(rest)), &kib); err != nil {
		b.Fatal(err)
	}
	return kib
}
