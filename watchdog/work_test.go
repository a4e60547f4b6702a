package watchdog

import (
	"slices"
	"testing"
	"time"
)

// process is what Docker's list of a rank's processes says of its engine.
func process(rank int, is Presence) sight { return seen(rank, func(r *Rank) { r.Process = is }) }

func worked(rank int) fact {
	return knows(rank, func(k *Known) { k.Worked = k.Container.Start() })
}

func restartPolicy(rank int, name string) sight {
	return seen(rank, func(r *Rank) { r.Container.RestartPolicy = name })
}

// couldNotStart is a container that Docker made so long ago and could not start.
func couldNotStart(rank int, ago time.Duration) sight {
	return seen(rank, func(r *Rank) {
		*r.Container = Container{ID: "x", Status: "created", StartedAt: neverStarted, ExitCode: 127, Error: "no such file", Made: ago}
	})
}

func keptAlive() []row {
	return []row{
		r("D05: the engine of a container that runs on is gone", known(Serving, worked(1)), sees(process(1, Absent)), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1)),
		r("D05: gone in the second look too", known(Serving, worked(1), struck(TermRank, 1, -20*s)), sees(process(1, Absent)), ActRestart, ReasonProcessGone, says("engine process gone (phase=SERVING) → restart: rank 1 (n2) runs, but its engine's process is gone")),
		r("D05: one that never matched may be a wrong pattern", known(Serving, struck(TermRank, 1, -m)), sees(process(1, Absent), serves), ActNone, ReasonServed, says("phase=SERVING served a completion; rank 1 (n2) runs, and no process in it has matched yet")),
		r("D05: it serves without what was thought to be its engine: the pattern is wrong", known(Serving, live, worked(1)), sees(serves, process(1, Absent)), ActNone, ReasonServed, that("forgotten", func(d Decision) bool { return d.Next.Ranks[1].Worked == "" })),
		r("D05: a head whose engine never came is over the limit too", known(Booting, bootFrom(-76*m), struck(TermBoot, 1, -m)), sees(canary(Refused), noCounters, process(0, Absent)), ActRestart, ReasonBootLimit),
		r("D05: an engine that came back in its container boots", known(Serving, live, worked(0), knows(0, func(k *Known) { k.Process = Absent })), sees(canary(Refused), noCounters, process(0, Present)), ActNone, ReasonBooting, phase(Booting)),
		r("D05: nor is it missing from a boot", known(Booting, bootFrom(-20*m)), sees(process(1, Absent)), ActNone, ReasonBooting),
		r("D05: one that matched in an earlier start", known(Serving, knows(1, func(k *Known) { k.Worked = "c1@earlier" })), sees(process(1, Absent)), ActNone, ReasonCannotTell),
		r("D05: processes that cannot be asked are unknown", known(Serving, worked(1), struck(TermRank, 1, -20*s)), sees(seen(1, func(r *Rank) { r.ProcessErr = "hangs" })), ActNone, ReasonFailing, strikes(TermRank, 1)),
		r("a process that is there is remembered", known(Serving), sees(process(1, Present)), ActNone, ReasonCannotTell, that("worked", func(d Decision) bool { return d.Next.Ranks[1].Worked == "c1@s" })),
	}
}

func notStarted() []row {
	return []row{
		r("D12: what Docker could not start in this boot is dead", known(Booting, neverRan(2)), sees(couldNotStart(2, 4*m)), ActLookAgain, ReasonLookAgain, strikes(TermRank, 1)),
		r("D12: and again", known(Booting, neverRan(2), struck(TermRank, 1, -20*s)), sees(couldNotStart(2, 4*m)), ActRestart, ReasonRankDead, says("container not running (phase=BOOTING) → restart: rank 2 (n3) could not be started: no such file")),
		r("one left over from before the boot is awaited", known(Booting, neverRan(2)), sees(couldNotStart(2, 6*m)), ActNone, ReasonBooting, strikes(TermRank, 0)),
		r("one that is about to start is awaited", known(Booting, neverRan(2)), sees(seen(2, func(r *Rank) { *r.Container = Container{ID: "x", Status: "created", StartedAt: neverStarted} })), ActNone, ReasonBooting, strikes(TermRank, 0)),
	}
}

func otherHands() []row {
	return []row{
		r("a dead rank beside a paused one waits for the person", known(Serving, struck(TermRank, 1, -20*s)), sees(status(1, "paused"), dies(2, 1)), ActNone, ReasonGrace, wants(ActRestart, ReasonRankDead), told(NoticeTrouble)),
		r("an engine that dies of a pause waits for the person", known(Serving, engineWas(VLLM), struck(TermEngine, 2, -2*m)), sees(status(1, "paused"), health(500)), ActNone, ReasonGrace, wants(ActRestart, ReasonEngineDead)),
		r("a pause is told once", known(Serving, wasTold("paused")), sees(status(1, "paused")), ActNone, ReasonCannotTell, told()),
		r("D04: a restart policy is a second actor", known(Serving), sees(restartPolicy(1, "unless-stopped"), serves), ActNone, ReasonServed, told(NoticeTrouble)),
		r("D04: told once, over a served completion", known(Serving, wasTold(keySecondActor)), sees(restartPolicy(1, "always"), serves), ActNone, ReasonServed, told()),
		r("D04: and again when it was away", known(Serving, wasTold(keySecondActor)), sees(serves), ActNone, ReasonServed, that("forgotten", func(d Decision) bool { return len(d.Next.Told) == 0 })),
		r("D04: a silent node does not take it away", known(Serving, wasTold(keySecondActor)), sees(silent(1), serves), ActNone, ReasonServed, that("kept", func(d Decision) bool { return len(d.Next.Told) == 1 })),
		r("D04: restarting tells of it too", known(Serving), sees(status(1, "restarting")), ActNone, ReasonCannotTell, told(NoticeTrouble)),
		r("the policy no is none", known(Serving), sees(restartPolicy(1, "no"), serves), ActNone, ReasonServed, told()),
	}
}

func loaded(rank int, l Load) sight { return seen(rank, func(r *Rank) { r.Load = l }) }

func cpu(rank int, used time.Duration) sight {
	return seen(rank, func(r *Rank) { r.Container.CPU = used })
}

func cpuWas(rank int, used time.Duration) fact {
	return knows(rank, func(k *Known) { k.Container.CPU = used })
}

func loading() []row {
	return []row{
		r("what a boot has loaded is told", known(Booting), sees(loaded(0, Load{Shards: 40, ShardsOf: 61}), loaded(2, Load{Shards: 12, ShardsOf: 61})), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, limit 1h15m, rank 2 has 12/61 shards")),
		r("a bar that the log has left behind stays", known(Booting, knows(0, func(k *Known) { k.Load = Load{Shards: 61, ShardsOf: 61} })), sees(loaded(0, Load{Graphs: 3, GraphsOf: 35})), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, limit 1h15m, rank 0 has 61/61 shards, 3/35 graphs")),
		r("E05: silent logs, but CPU time", known(Booting, cpuWas(0, m), cpuWas(1, 2*m), cpuWas(2, 3*m)), sees(cpu(0, 2*m), cpu(1, 2*m+30*s), cpu(2, 3*m)), ActNone, ReasonBooting, says("phase=BOOTING loading: 5m so far, limit 1h15m, 90s of CPU time in the last 60s")),
		r("no bar and no CPU time for an hour kill nothing", known(Booting, bootFrom(-70*m), cpuWas(0, m)), sees(cpu(0, m)), ActNone, ReasonBooting),
		r("another start begins anew", known(Booting, knows(0, func(k *Known) { k.Load = Load{Shards: 61, ShardsOf: 61} })), sees(started(0, "x", m)), ActNone, ReasonBooting, that("forgotten", func(d Decision) bool { return d.Next.Ranks[0].Load == Load{} })),
		r("S08: GPUs are told of a wedge", known(Serving, live), sees(wedged, seen(0, func(r *Rank) { r.GPUs = []GPU{{22.1, 96}} }), seen(1, func(r *Rank) { r.GPUs, r.GPUErr = []GPU{{-1, -1}}, "an earlier nvidia-smi hangs" })), ActNone, ReasonFailing,
			that("told", func(d Decision) bool {
				const want = "; GPU: rank 0 22 W 96% busy, rank 1 an earlier nvidia-smi hangs"
				return len(d.Detail) > len(want) && d.Detail[len(d.Detail)-len(want):] == want
			})),
	}
}

func workRows() []row { return slices.Concat(keptAlive(), notStarted(), otherHands(), loading()) }

// S08: with the same counters, what the GPUs draw changes no decision.
func TestGPUsDecideNothing(t *testing.T) {
	for _, watts := range []float64{22.1, 46.3, -1} {
		look := sees(wedged, seen(0, func(r *Rank) { r.GPUs = []GPU{{watts, 96}} }))
		d := Decide(rowPolicy(), known(Serving, live, struck(TermProgress, 2, -6*m)), look)
		if d.Action != ActRestart || d.Reason != ReasonNoProgress {
			t.Errorf("at %v W: %s", watts, d.Sentence())
		}
	}
}
