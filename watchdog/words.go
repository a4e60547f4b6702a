package watchdog

import (
	"fmt"
)

func (p Phase) String() string {
	switch p {
	case None:
		return "NONE"
	case Booting:
		return "BOOTING"
	case Serving:
		return "SERVING"
	case GivenUp:
		return "GIVEN_UP"
	}
	return fmt.Sprintf("internal error: phase %d", int(p))
}

func (a Action) String() string {
	switch a {
	case ActNone:
		return "none"
	case ActLookAgain:
		return "look again"
	case ActRestart:
		return "restart"
	case ActLaunch:
		return "launch"
	case ActResume:
		return "resume"
	}
	return fmt.Sprintf("internal error: action %d", int(a))
}

func (r Reading) String() string {
	switch r {
	case Unknown:
		return "unknown"
	case Healthy:
		return "healthy"
	case Busy:
		return "busy"
	case Failing:
		return "failing"
	}
	return fmt.Sprintf("internal error: reading %d", int(r))
}

func (t Term) String() string {
	switch t {
	case TermRank:
		return "ranks"
	case TermEngine:
		return "engine"
	case TermProgress:
		return "progress"
	case TermBoot:
		return "boot limit"
	}
	return fmt.Sprintf("internal error: term %d", int(t))
}

func (m movement) String() string {
	switch m {
	case counterUnknown:
		return "cannot be compared"
	case counterAbsent:
		return "are absent"
	case counterFlat:
		return "stand still"
	case counterMoved:
		return "move"
	}
	return fmt.Sprintf("internal error: movement %d", int(m))
}

func (o AttemptOutcome) String() string {
	switch o {
	case OutcomeNone:
		return "unfinished"
	case OutcomeLaunched:
		return "launched"
	case OutcomeRefused:
		return "refused"
	case OutcomeBroken:
		return "broken"
	case OutcomeLaunchFailed:
		return "launch failed"
	case OutcomeSwitch:
		return "ended by the switch"
	case OutcomeInterrupted:
		return "interrupted"
	case OutcomeRecovered:
		return "served meanwhile"
	case OutcomeStopped:
		return "stopped"
	}
	return fmt.Sprintf("internal error: outcome %d", int(o))
}

func (r Reach) String() string {
	words := [...]string{"not asked", "ok", "connection refused", "timeout", "connects, but no SSH banner",
		"closed during the handshake", "host key", "authentication", "connection dropped", "denied", "error", "left alone"}
	if int(r) < len(words) && r >= 0 {
		return words[r]
	}
	return fmt.Sprintf("internal error: reach %d", int(r))
}

func (k NoticeKind) String() string {
	words := [...]string{"", "restart", "launched", "serving", "refused", "gave-up", "set-aside", "person", "trouble"}
	if int(k) < len(words) && k > 0 {
		return words[k]
	}
	return fmt.Sprintf("internal error: notice %d", int(k))
}
