package watchdog

import "strconv"

// Reason is the rule that decided. Each return of judge and gate names one.
type Reason int

// The reasons of the judgement.
const (
	ReasonServed        Reason = iota + 1
	ReasonResume               // an attempt is committed and not launched
	ReasonBooting              // within its limit
	ReasonRankDead             // a rank that ran has ended
	ReasonRankMissing          // a rank of a boot never appeared
	ReasonProcessGone          // a container runs on without its engine
	ReasonStaleWorker          // a worker of an earlier head
	ReasonRestartLoop          // Docker starts a rank over and over
	ReasonBootLimit            // no completion within the boot limit
	ReasonEngineDead           // the engine calls itself dead
	ReasonNoProgress           // no completion, and nothing moves
	ReasonLookAgain            // a rank was just found dead
	ReasonFailing              // strikes, not enough yet
	ReasonBusy                 // its counters move
	ReasonSkipped              // it works for others, and a canary was served lately
	ReasonMisconfigured        // our question is wrong
	ReasonAsleep               // somebody has put the engine to sleep or paused it
	ReasonCannotTell           // unknown
	ReasonNothing              // nothing known to be launched
	ReasonWish                 // a person's `arm --launch`
	ReasonDestroyFailed        // containers could not be removed, too often
	// The reasons of the gate.
	ReasonStoreFault
	ReasonClock
	ReasonDisarmed
	ReasonNotArmed
	ReasonOtherIdentity
	ReasonLookFirst
	ReasonGrace
	ReasonGivenUp
	ReasonBudget
	ReasonPause
)

var reasonWords = map[Reason]string{
	ReasonServed:        "served a completion",
	ReasonResume:        "group is down",
	ReasonBooting:       "loading",
	ReasonRankDead:      "container not running",
	ReasonRankMissing:   "container missing",
	ReasonProcessGone:   "engine process gone",
	ReasonStaleWorker:   "worker of an earlier head",
	ReasonRestartLoop:   "restart loop",
	ReasonBootLimit:     "boot over its limit",
	ReasonEngineDead:    "engine calls itself dead",
	ReasonNoProgress:    "no progress",
	ReasonLookAgain:     "looking again",
	ReasonFailing:       "failing",
	ReasonBusy:          "busy",
	ReasonSkipped:       "works for others",
	ReasonMisconfigured: "probe misconfigured",
	ReasonAsleep:        "asleep",
	ReasonCannotTell:    "cannot tell",
	ReasonNothing:       "nothing launched",
	ReasonWish:          "launch asked for",
	ReasonDestroyFailed: "containers cannot be removed",
	ReasonStoreFault:    "state cannot be believed or saved",
	ReasonClock:         "clock implausible",
	ReasonDisarmed:      "disarmed",
	ReasonNotArmed:      "not armed",
	ReasonOtherIdentity: "armed for another config",
	ReasonLookFirst:     "looking first",
	ReasonGrace:         "a person is at work",
	ReasonGivenUp:       "given up",
	ReasonBudget:        "budget spent",
	ReasonPause:         "pause after a failed launch or an early death",
}

func (r Reason) String() string {
	if s, ok := reasonWords[r]; ok {
		return s
	}
	return "internal error: reason " + strconv.Itoa(int(r))
}

// rankReason returns the rule behind a complete streak of TermRank.
func rankReason(c Cause) Reason {
	switch c {
	case CauseRankMissing:
		return ReasonRankMissing
	case CauseProcessGone:
		return ReasonProcessGone
	case CauseStaleWorker:
		return ReasonStaleWorker
	case CauseRestartLoop:
		return ReasonRestartLoop
	default:
		return ReasonRankDead
	}
}
