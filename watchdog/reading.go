package watchdog

import "fmt"

// Reading is a conclusion about one term. The zero value is Unknown, and Unknown never destroys:
// it neither adds to a streak nor clears it.
type Reading int

// The readings.
const (
	Unknown Reading = iota
	Healthy
	Busy
	Failing
)

// Term is one of the things that are judged on their own; one Failing term suffices.
type Term int

// The terms.
const (
	TermRank     Term = iota + 1 // every rank runs
	TermEngine                   // the engine does not call itself dead
	TermProgress                 // completions come, or counters move
	TermBoot                     // a boot ends within its limit
)

// Cause is why a term reads as it does. The zero value says that there is nothing to say.
type Cause int

// The causes.
const (
	CauseNone Cause = iota
	// Of ranks.
	CauseRankDead     // seen running in this start, now exited, dead, created or being removed
	CauseRankGone     // seen running in this start, now no container of the name
	CauseRankMissing  // a rank of a boot never appeared
	CauseStaleWorker  // served under an earlier head
	CauseRestartLoop  // Docker starts it over and over
	CauseNodeSilent   // the node does not answer: unknown, never absent
	CauseDockerSilent // its Docker does not answer: unknown, never absent
	CausePaused       // a person's doing
	CauseRestarting   // Docker is about to start it
	CauseProcessGone  // its container runs on without the engine's process, which was seen in this start
	CauseNoProcess    // its container runs, and the engine's process has never been seen in this start
	// Of the engine and its completions.
	CauseServed        // the canary came back
	CauseEngineDead    // /health says so
	CauseMoving        // no completion, but its counters move
	CauseOverloaded    // 429
	CauseFlat          // no completion, and the counters of all engines, or of one that holds requests, stand still
	CauseBlind         // no completion, and no counters to tell
	CausePortClosed    // its port is refused while the head's container runs
	CauseMisconfigured // it answers that our question is wrong
	CauseCannotAsk     // the question does not reach it
	CauseNoBaseline    // no completion, and nothing to compare the counters with yet
	CauseBootLimit     // still no completion after the boot limit
	CauseSkipped       // no completion was asked for: its generation counters move, and one was served lately
	CauseAsleep        // somebody has put it to sleep or paused it
	CauseFails         // it answers completions with an error, and its counters stand still
)

// Verdict is the reading of one term with its cause, and a phrase for people.
type Verdict struct {
	Term    Term     `json:"term"`
	Reading Reading  `json:"reading"`
	Cause   Cause    `json:"cause"`
	What    string   `json:"what,omitempty"`
	Blind   bool     `json:"blind,omitempty"` // concluded without live counters: takes the slow way
	Stuck   []string `json:"stuck,omitempty"` // labels of the engines that stand still
}

// Readings are the conclusions of one look.
type Readings struct {
	Ranks    []Verdict `json:"ranks"` // by rank
	Rank     Verdict   `json:"rank"`  // all of them together
	Engine   Verdict   `json:"engine"`
	Progress Verdict   `json:"progress"`
	Boot     Verdict   `json:"boot"`
	Served   bool      `json:"served"`
}

// served says whether the canary is a completed completion. Empty text is fine: reasoning models
// answer one token without any (E13); headers with status 200 alone are not enough (E17), and an
// engine that is being paused aborts what it has, with status 200.
func served(c Canary) bool {
	return c.Outcome == Answered && c.Status == 200 && c.WellFormed &&
		c.Error == "" && c.Finish != "error" && c.Finish != "abort" && (c.Choices > 0 || c.Tokens >= 1)
}

// read draws the conclusions of this look from it and what is known.
func (l *look) read() {
	l.r.Served = !l.o.RanksOnly && served(l.o.Canary)
	l.r.Ranks = l.readRanks()
	l.r.Rank = l.readGroup()
	l.r.Engine = l.readEngine()
	l.r.Progress = l.readProgress()
	l.r.Boot = l.readBoot()
}

// readEngine reads /health. Its 200 proves nothing but that the engine does not call itself dead
// (E02); 500 and 503 mean the same in different versions of vLLM (E01); SGLang says 503 when it
// is only busy (E09), so there the completions decide.
func (l *look) readEngine() Verdict {
	v := Verdict{Term: TermEngine}
	h := l.o.Health
	switch {
	case h.Outcome != Answered:
		return v
	case l.asleep() != "": // what it says of its health then is not a sign of death (E18)
		return v
	case h.Status == 200:
		v.Reading = Healthy
	case h.Status != 500 && h.Status != 503:
		return v
	case l.moved == counterMoved:
		v.Cause, v.What = CauseMoving, fmt.Sprintf("/health says %d while its counters move", h.Status)
		return l.busyUnlessDead(v)
	case l.engine() == VLLM:
		v.Reading, v.Cause = Failing, CauseEngineDead
		v.What = fmt.Sprintf("/health says %d", h.Status)
	}
	return v
}

// engine returns which server this is: the config's word, else what its metrics tell or told.
func (l *look) engine() Engine {
	switch {
	case l.p.Engine != EngineUnknown:
		return l.p.Engine
	case l.o.After.Engine != EngineUnknown:
		return l.o.After.Engine
	case l.o.Before.Engine != EngineUnknown:
		return l.o.Before.Engine
	default:
		return l.next.Engine
	}
}
