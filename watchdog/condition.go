package watchdog

import "fmt"

// Condition is what one look says of the whole group, in one word for people. Rules go by the
// readings, never by it.
type Condition int

// The conditions.
const (
	CondBlind         Condition = iota // nothing seen tells how it is
	CondServing                        // a completion was served
	CondBusy                           // none was, but its counters move, or it says that it has too much to do
	CondWedged                         // none was, and its counters stand still
	CondDead                           // a rank has ended, its port is closed, or it calls itself dead
	CondLoading                        // launched, and has not served yet
	CondMisconfigured                  // the question is wrong
	CondPaused                         // a person has paused it or put it to sleep
)

// Condition returns what this look says in one word. The first that fits.
func (d Decision) Condition() Condition {
	r := d.Readings
	switch p := r.Progress; {
	case r.Served:
		return CondServing
	case r.Rank.Reading == Failing:
		return CondDead
	case p.Cause == CausePaused || p.Cause == CauseAsleep:
		return CondPaused
	case p.Cause == CauseMisconfigured:
		return CondMisconfigured
	case d.Next.Phase == Booting:
		return CondLoading
	case r.Engine.Reading == Failing || p.Reading == Failing && p.Cause == CausePortClosed:
		return CondDead
	case p.Reading == Failing && p.Cause != CauseBlind:
		return CondWedged
	case p.Reading == Busy || p.Cause == CauseOverloaded:
		return CondBusy
	default:
		return CondBlind
	}
}

func (c Condition) String() string {
	words := [...]string{"blind", "serving", "busy", "wedged", "dead", "loading", "misconfigured", "paused"}
	if int(c) < len(words) && c >= 0 {
		return words[c]
	}
	return fmt.Sprintf("internal error: condition %d", int(c))
}
