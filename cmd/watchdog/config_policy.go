package main

import (
	"time"

	"cluster-watchdog/watchdog"
)

// flusherMargin is how long a flusher outlives the boot limit before it ends itself.
const flusherMargin = 15 * time.Minute

// Policy returns what the config says about judging, for a binary built at the given time.
func (c Config) Policy(built time.Time) watchdog.Policy {
	j := c.Judge
	p := watchdog.DefaultPolicy() // MaxEvents and ClockFuture are facts, not choices
	p.Group, p.Identity, p.Config = c.Group, c.Identity(), c.Hash()
	p.Engine, p.Built = engineOf(c.Server.Engine), built
	p.Gap, p.StrikeVoid, p.Baseline = j.Gap, j.StrikeVoid, j.Baseline
	p.CanaryEvery = min(c.Server.CanaryEvery, j.BusyTold/2) // else a server that works would be told as trouble
	p.Dead, p.EngineDead, p.BootOver = watchdog.Rule(j.Dead), watchdog.Rule(j.EngineDead), watchdog.Rule(j.BootOver)
	p.NoProgress, p.NoProgressBlind = watchdog.Rule(j.NoProgress), watchdog.Rule(j.NoProgressBlind)
	p.BootLimit, p.RankAppears, p.StaleWorker = j.BootLimit, j.RankAppears, j.StaleWorker
	p.LaunchTimeout, p.HeadFirst = c.launchesLimit(), c.Launch.Order == HeadFirst
	p.DockerStarts, p.DestroyTries = j.DockerStarts, j.DestroyTries
	p.Grace, p.KillToDie, p.EarlyDeath, p.BusyTold = j.Grace, j.KillToDie, j.EarlyDeath, j.BusyTold
	p.BudgetCount, p.BudgetWindow, p.Pause = c.Budget.Attempts, c.Budget.Window, c.Budget.Pause
	return p
}

// judgeOf is the way back from a policy.
func judgeOf(p watchdog.Policy) JudgeConfig {
	return JudgeConfig{
		Gap: p.Gap, StrikeVoid: p.StrikeVoid, Baseline: p.Baseline,
		Dead: RuleConfig(p.Dead), EngineDead: RuleConfig(p.EngineDead), BootOver: RuleConfig(p.BootOver),
		NoProgress: RuleConfig(p.NoProgress), NoProgressBlind: RuleConfig(p.NoProgressBlind),
		BootLimit: p.BootLimit, RankAppears: p.RankAppears, StaleWorker: p.StaleWorker,
		DockerStarts: p.DockerStarts, DestroyTries: p.DestroyTries,
		Grace: p.Grace, KillToDie: p.KillToDie, EarlyDeath: p.EarlyDeath, BusyTold: p.BusyTold,
	}
}

func budgetOf(p watchdog.Policy) BudgetConfig {
	return BudgetConfig{Attempts: p.BudgetCount, Window: p.BudgetWindow, Pause: p.Pause}
}

// engineOf returns the engine of a valid name; "auto" is for the metrics to tell.
func engineOf(name string) watchdog.Engine {
	switch name {
	case "vllm":
		return watchdog.VLLM
	case "sglang":
		return watchdog.SGLang
	default:
		return watchdog.EngineUnknown
	}
}

// FlusherLife is how long a cache flusher runs at most.
func (c Config) FlusherLife() time.Duration { return c.Judge.BootLimit + flusherMargin }
