package main

import (
	"fmt"
	"strings"
	"time"
)

func (v *validator) checks(c ChecksConfig) {
	for i, m := range c.Mounts {
		at := fmt.Sprintf("checks.mounts[%d]", i)
		v.absolute(at+".path", m.Path)
		if m.Type != "" && !typeShape.MatchString(m.Type) {
			v.bad(at+".type", m.Type, "is not a file system type such as nfs4")
		}
		if m.Sentinel != "" && v.absolute(at+".sentinel", m.Sentinel) && !strings.HasPrefix(m.Sentinel, m.Path+"/") {
			v.bad(at+".sentinel", m.Sentinel, "must be a file on %s", m.Path)
		}
	}
	for i, d := range c.Disk {
		at := fmt.Sprintf("checks.disk[%d]", i)
		if d.Path != "/" {
			v.absolute(at+".path", d.Path)
		}
		if d.MinFree <= 0 {
			v.bad(at+".min_free", nil, "is missing, such as 20GiB")
		}
	}
	if c.StateMinFree < MiB {
		v.bad("checks.state_min_free", c.StateMinFree, "must be at least 1MiB: a full volume loses the budget")
	}
}

func (v *validator) settle(s SettleConfig) {
	for i, port := range s.Ports {
		v.between(fmt.Sprintf("settle.ports[%d]", i), port, 1, 65535)
	}
}

func (v *validator) judge(c Config) {
	j := c.Judge
	if j.Gap < 2*c.Period {
		v.bad("judge.gap", j.Gap, "must be at least twice the period of %s, or every look is a first look", briefDuration(c.Period))
	}
	if j.StrikeVoid < 2*c.Period {
		v.bad("judge.strike_void", j.StrikeVoid, "must be at least twice the period of %s, or nothing ever fails", briefDuration(c.Period))
	}
	if j.Baseline > j.Gap {
		v.bad("judge.baseline", j.Baseline, "must be at most gap, or no counter is ever flat")
	}
	v.rule("judge.dead", j.Dead, j)
	v.rule("judge.engine_dead", j.EngineDead, j)
	v.rule("judge.no_progress", j.NoProgress, j)
	v.rule("judge.no_progress_blind", j.NoProgressBlind, j)
	v.rule("judge.boot_over", j.BootOver, j)
	if j.NoProgressBlind.Over < j.NoProgress.Over {
		v.bad("judge.no_progress_blind.over", j.NoProgressBlind.Over, "must be at least that of no_progress: less is known")
	}
	v.noticed(c)
	v.between("judge.docker_starts", j.DockerStarts, 2, 100)
	v.between("judge.destroy_tries", j.DestroyTries, 1, 100)
	v.between("budget.attempts", c.Budget.Attempts, 1, 20)
	if c.Budget.Pause > c.Budget.Window {
		v.bad("budget.pause", c.Budget.Pause, "must be at most window")
	}
}

// noticed wants every kind of death to be noticed at all, also when looks take their time.
func (v *validator) noticed(c Config) {
	if c.Period <= 0 || len(v.problems) > 0 {
		return
	}
	for _, d := range c.Policy(time.Time{}).Detections(c.Period) {
		if d.Worst == 0 {
			v.bad("judge.strike_void", c.Judge.StrikeVoid, "is too short for the period of %s: it would never be noticed that %s", briefDuration(c.Period), d.Death)
			return
		}
	}
}

// rule wants two looks at least: one may have met the moment between two states.
func (v *validator) rule(at string, r RuleConfig, j JudgeConfig) {
	v.between(at+".looks", r.Looks, 2, 100)
	if r.Apart >= j.StrikeVoid {
		v.bad(at+".apart", r.Apart, "must be less than strike_void, or a streak is void before its second look")
	}
}
