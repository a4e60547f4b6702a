package memcluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/watchdog"
)

// wait lets the time pass that a look took because somebody did not answer.
func (k *Conns) wait(ctx context.Context, d time.Duration) {
	if d > 0 {
		_ = sleep(ctx, d)
	}
}

// Look is what the probes see at that time: facts, as their parsers give them. Where skip says so there
// is no canary.
func (k *Conns) Look(ctx context.Context, at watchdog.Clock, known []watchdog.Known, skip func(watchdog.Clock, watchdog.Counters) bool) watchdog.Observation {
	o := watchdog.Observation{At: at}
	var slow time.Duration
	o.Ranks, slow = k.ranks(ctx, known)
	k.server(&o, skip)
	if o.Canary.Outcome == watchdog.Unanswered {
		slow = max(slow, canaryTime)
	}
	k.wait(ctx, slow)
	return o
}

// LookAtRanks is the second look of a tick.
func (k *Conns) LookAtRanks(ctx context.Context, at watchdog.Clock, known []watchdog.Known) watchdog.Observation {
	o := watchdog.Observation{At: at, RanksOnly: true}
	var slow time.Duration
	o.Ranks, slow = k.ranks(ctx, known)
	k.wait(ctx, slow)
	return o
}

// Canary is one completion.
func (k *Conns) Canary(ctx context.Context) watchdog.Canary {
	var o watchdog.Observation
	k.server(&o, nil)
	if o.Canary.Outcome == watchdog.Unanswered {
		k.wait(ctx, canaryTime)
	}
	return o.Canary
}

const canaryTime = 30 * time.Second

func (k *Conns) ranks(_ context.Context, known []watchdog.Known) (ranks []watchdog.Rank, slow time.Duration) {
	now, unlock := k.cluster.lock()
	defer unlock()
	ranks = make([]watchdog.Rank, len(k.cluster.nodes))
	for i, n := range k.cluster.nodes {
		var before watchdog.Known
		if i < len(known) {
			before = known[i]
		}
		var took time.Duration
		ranks[i], took = k.rank(n, before, now)
		slow = max(slow, took)
	}
	return ranks, slow
}

// rank is what one node says of its rank.
func (k *Conns) rank(n *node, known watchdog.Known, now time.Time) (r watchdog.Rank, took time.Duration) {
	c := k.cluster
	r.Node = n.name
	silent := func(reach watchdog.Reach, took time.Duration) (watchdog.Rank, time.Duration) {
		k.open[n.rank] = false
		r.SSH, r.Err = reach, "SSH: "+reach.String()
		return r, took
	}
	switch {
	case n.cut || n.down:
		return silent(watchdog.ReachTimeout, dialTime+retryTime+dialTime)
	case !k.open[n.rank] && c.Faults.Refuses(n.rank):
		return silent(watchdog.ReachRefused, retryTime)
	case !k.open[n.rank] && c.Faults.Silent(n.rank):
		return silent(watchdog.ReachNoBanner, handshakeTime)
	}
	k.open[n.rank] = true
	hits := c.Faults.Call("observe/look", n.rank)
	has := func(kind clustertest.FaultKind) bool { return slices.Contains(hits, kind) }
	r.SSH, r.Docker = watchdog.ReachOK, watchdog.ReachOK
	switch {
	case has(clustertest.SSHDDrops), has(clustertest.SSHDDropsEarly):
		return silent(watchdog.ReachDropped, 0)
	case has(clustertest.DockerHangs):
		r.Docker, took = watchdog.ReachTimeout, 10*time.Second
	case has(clustertest.DockerDenied):
		r.Docker = watchdog.ReachDenied
	case has(clustertest.DockerDown):
		r.Docker = watchdog.ReachRefused
	}
	r.Clock = n.clock(now)
	if r.Docker != watchdog.ReachOK {
		r.Err = "docker: " + r.Docker.String()
		return r, took
	}
	r.Container = n.inspect(now)
	n.history(&r, known)
	return r, took
}

func (n *node) inspect(now time.Time) *watchdog.Container {
	if n.box == nil {
		return nil
	}
	x := &watchdog.Container{
		ID: n.box.id, Status: n.box.status, StartedAt: n.box.startedAt(), ExitCode: n.box.exit, Error: n.box.error,
		RestartCount: n.box.count, RestartPolicy: n.box.policy, ImageID: "image",
	}
	if !n.box.started.IsZero() {
		x.Age = max(0, n.clock(now).Sub(n.box.started))
	}
	return x
}

// history fills in the events since the last look, of the ids that the rank is known by.
func (n *node) history(r *watchdog.Rank, known watchdog.Known) {
	if known.Clock.IsZero() {
		return
	}
	if n.noisy {
		r.EventsSeen = eventsKept
		return
	}
	for _, e := range n.events {
		if e.At.Before(known.Clock) || e.At.After(r.Clock) {
			continue
		}
		r.EventsSeen++
		ran, _, _ := strings.Cut(known.Ran, "@")
		if e.ID == ran || (known.Container != nil && e.ID == known.Container.ID) {
			r.Events = append(r.Events, e)
		}
	}
}

// server is what the API says.
func (k *Conns) server(o *watchdog.Observation, skip func(watchdog.Clock, watchdog.Counters) bool) {
	c := k.cluster
	now, unlock := c.lock()
	defer unlock()
	answered := func(status int) watchdog.HTTP { return watchdog.HTTP{Outcome: watchdog.Answered, Status: status} }
	if !c.listening(now) {
		refused := watchdog.HTTP{Outcome: watchdog.Refused}
		o.Health, o.Canary.HTTP, o.Before.HTTP, o.After.HTTP = refused, refused, refused, refused
		return
	}
	o.Health = answered(200)
	o.Before = c.counters(now)
	if skip != nil && skip(o.At, o.Before) {
		o.Canary.Skipped = true
		o.After = o.Before
		return
	}
	switch mode := c.mode(); mode {
	case clustertest.Serve:
		o.Canary = watchdog.Canary{HTTP: answered(200), WellFormed: true, Choices: 1, Tokens: 1, Finish: "length"}
		c.world.iterations++
	case clustertest.Error500:
		o.Canary = watchdog.Canary{HTTP: answered(500), Error: "EngineCore encountered an issue"}
	case clustertest.Unauthorized:
		o.Canary = watchdog.Canary{HTTP: answered(401), Error: "Unauthorized"}
	case clustertest.Hang, clustertest.Busy, clustertest.Health500, clustertest.Health503:
		o.Canary.HTTP = watchdog.HTTP{Outcome: watchdog.Unanswered, Took: canaryTime}
		if mode == clustertest.Health500 {
			o.Health = answered(500)
		}
		if mode == clustertest.Health503 {
			o.Health = answered(503)
		}
	default:
		c.unknown = append(c.unknown, "engine mode "+string(mode))
	}
	o.After = c.counters(now)
}

func (c *Cluster) counters(now time.Time) watchdog.Counters {
	c.count(now)
	x := watchdog.EngineCounter{Label: "0", Iterations: c.world.iterations, Prompt: c.world.iterations, Generation: c.world.iterations}
	return watchdog.Counters{HTTP: watchdog.HTTP{Outcome: watchdog.Answered, Status: 200}, Engine: watchdog.VLLM, Engines: []watchdog.EngineCounter{x}}
}
