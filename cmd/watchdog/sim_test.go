package main

import (
	"flag"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/restart/clustertest/memcluster"
	"cluster-watchdog/watchdog"
)

var (
	simSeed = flag.Uint64("seed", 0, "simulate this seed only, with its whole transcript")
	simDays = flag.Int("days", 0, "simulate so many virtual days")
)

// options of one simulation.
type simOptions struct {
	seed   uint64
	days   int
	nodes  int
	heads  int
	kills  bool // ticks are killed, and power is lost
	files  bool // through a real database
	policy string
	all    func(string) // hears the whole transcript; may be nil
}

// simulation is a cluster in memory with the true tick on its heads, and all that can go wrong with
// both, through virtual days. What must always hold is checked at each event.
type simulation struct {
	transcript
	lots
	options simOptions
	cluster *memcluster.Cluster
	heads   []*head

	mu      sync.Mutex
	calm    time.Time // since then, or from then on, the group has no reason not to serve
	quiet   time.Time // nothing has disturbed it since then, also while it served
	network time.Time // when a node was last cut off or joined
	hidden  time.Time // until then looks may not be able to tell of a person's stop
	broken  []string  // what did not hold
}

// must notes that something which must always hold does not.
func (s *simulation) must(ok bool, rule, format string, args ...any) {
	if !ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mustLocked(ok, rule, format, args...)
	}
}

func (s *simulation) mustLocked(ok bool, rule, format string, args ...any) {
	if ok {
		return
	}
	text := "BROKEN: " + rule + ": " + fmt.Sprintf(format, args...)
	s.say("%s", text)
	s.broken = append(s.broken, text)
}

func (s *simulation) say(format string, args ...any) { s.add(format, args...) }

func (s *simulation) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.broken) > 0
}

// disturb says that something is not as it should be, for that long from now on.
func (s *simulation) disturb(length time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disturbLocked(length)
}

func (s *simulation) disturbLocked(length time.Duration) {
	until := time.Now().Add(length)
	s.calm, s.quiet = later(s.calm, until), later(s.quiet, until)
}

// groupWell says whether nothing is wrong with the group, as far as anybody may judge.
func (s *simulation) groupWell() bool {
	return s.cluster.Well() && s.cluster.Loading() < s.heads[0].policy.BootLimit-time.Minute
}

// simulate plays one seed and returns what it came to.
func simulate(t *testing.T, o simOptions) *simulation {
	return play(t, o, func(s *simulation) {
		until := time.Now().Add(time.Duration(o.days) * 24 * time.Hour)
		var all sync.WaitGroup
		for _, h := range s.heads {
			all.Go(func() { h.live(until) })
		}
		s.pass(until)
		all.Wait()
	})
}

// play lets something happen in a bubble of its own, and fails where a rule is broken.
func play(t *testing.T, o simOptions, story func(*simulation)) *simulation {
	t.Helper()
	s := &simulation{options: o, lots: lots(o.seed)}
	s.hear = o.all
	synctest.Test(t, func(t *testing.T) {
		s.cluster = memcluster.New(memcluster.Options{
			Nodes: o.nodes, Seed: o.seed, Boot: s.boot, HeadExits: s.between(0, 3*time.Minute, "head exits", 0), Policy: o.policy,
			Broken: pick(s.draw("broken", 0), "", clustertest.Health503, clustertest.Health500, clustertest.Error500, clustertest.EngineMode("")),
			Log:    func(text string) { s.say("world: %s", text[len("2006-01-02 15:04:05 "):]) },
		})
		for number := range o.heads {
			s.heads = append(s.heads, newHead(t, s, number))
		}
		s.calm = time.Now()
		story(s)
	})
	for _, what := range s.cluster.Unknown() {
		s.must(false, "nothing unknown is asked", "%s", what)
	}
	if len(s.broken) > 0 {
		tail, _, _ := s.end()
		t.Errorf("%s\nreplay: %s\nthe end of its transcript:\n%s", s.broken[0], o.replay(), tail)
	}
	return s
}

// replay is the command that plays it again.
func (o simOptions) replay() string {
	if o.days == 0 {
		return "go test ./cmd/watchdog -run TestKilled"
	}
	return fmt.Sprintf("go test ./cmd/watchdog -run 'TestSimulation$' -seed %d -days %d", o.seed, o.days)
}

// pick takes one of several.
func pick[T any](lot uint64, of ...T) T { return of[lot%uint64(len(of))] }

// ofSeed are the options that a seed stands for.
func ofSeed(seed uint64, days int) simOptions {
	o := simOptions{seed: seed, days: days, nodes: 2 + int(seed%3), heads: 1, kills: seed%4 != 3}
	switch seed % 10 {
	case 7:
		o.policy = pick(seed/10, "on-failure", "always")
	case 9:
		o.heads = 2
	}
	return o
}

// TestSimulation plays virtual days with all that can go wrong. -days sets how many; -seed plays one
// seed and tells all of it.
func TestSimulation(t *testing.T) {
	const each = 10 // days of one seed
	days := 30
	if *simDays > 0 {
		days = *simDays
	}
	if *simSeed > 0 {
		o := ofSeed(*simSeed, days)
		o.all = func(line string) { t.Log(line) }
		simulate(t, o)
		return
	}
	t.Parallel()
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	const shards = 2
	for shard := range shards {
		t.Run(fmt.Sprintf("shard %d", shard+1), func(t *testing.T) {
			t.Parallel()
			began, played := time.Now(), 0
			for n := shard; n*each < days && !t.Failed(); n += shards {
				simulate(t, ofSeed(uint64(n+1), each))
				played += each
			}
			t.Logf("%d virtual days, %.1f a second", played, float64(played)/time.Since(began).Seconds())
		})
	}
}

// A seed replays exactly, whatever order goroutines run in.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		seed += 1000
		var sums []uint64
		var lines []int
		for range 2 {
			_, sum, count := simulate(t, ofSeed(seed, 3)).end()
			sums, lines = append(sums, sum), append(lines, count)
		}
		if sums[0] != sums[1] || lines[0] == 0 {
			t.Errorf("seed %d: %d and %d lines, sums %x and %x", seed, lines[0], lines[1], sums[0], sums[1])
		}
	}
}

// The same through the real database.
func TestSimulationOfTheDatabase(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 3; seed++ {
		o := ofSeed(seed, 1)
		o.files = true
		simulate(t, o)
	}
}

// phaseOf is what the head believes.
func (h *head) phaseOf() (st watchdog.State) {
	st, err := h.store.Load()
	if err != nil {
		return watchdog.State{}
	}
	return st
}
