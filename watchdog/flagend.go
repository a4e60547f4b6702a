package watchdog

// FlagOver says whether the time of a disarm has passed; one without an end, or that cannot be read,
// goes on for ever. In a later boot than it was written in only the wall clock tells when it ends. Two
// things are known even where that was wrong: it is over when that boot alone has lasted as long, and an
// end from before this program was built was written in a wrong time.
func (p Policy) FlagOver(f Flag, now Clock) bool {
	length := f.Until.Sub(f.When)
	switch {
	case f.Until.IsZero() || f.Err != "":
		return false
	case f.Ends.IsZero():
		return now.Wall.After(f.Until)
	case f.Ends.BootID == now.BootID:
		return now.After(f.Ends)
	case !f.When.IsZero() && length > 0 && now.atLeast(f.Ends) >= length:
		return true
	default:
		return p.plausible(f.Until) && now.Wall.After(f.Until)
	}
}

// flagOver says whether a disarm with an end is over, a rank runs and the checks have passed. Where
// one of them is not so, the person who disarmed is not done: a restart then would be a surprise.
func (l *look) flagOver() bool {
	return l.p.FlagOver(l.o.Flag, l.o.At) && l.flagStays() == ""
}

// flagStays says why a disarm whose time has passed stays, "" where it does not.
func (l *look) flagStays() string {
	switch {
	case l.o.StoreFault != "":
		return "the state cannot be believed or saved"
	case l.clock != "":
		return l.clock
	case !l.mayRun():
		return "no rank runs: start the group, or use `cluster-watchdog arm --launch`"
	case l.o.Checks == nil:
		return "the checks have not run yet"
	default:
		return colonAfter("the checks fail", l.o.Checks.Failed)
	}
}

func (l *look) staysWords() string {
	if !l.p.FlagOver(l.o.Flag, l.o.At) {
		return ""
	}
	return ", which is over, and stays: " + l.flagStays()
}

func (l *look) flagEnded() bool { return l.o.Flag.Present && l.flagOver() }

// keyStays is of the notice that a disarm is over and stays. A served completion does not change
// that, so it is told once, until the flag has gone.
const keyStays = "a disarm is over and stays"

// tellStays tells that the time of a disarm has passed and that nothing is done nevertheless.
func (l *look) tellStays() {
	if !l.p.FlagOver(l.o.Flag, l.o.At) || l.flagOver() {
		l.forget(keyStays)
		return
	}
	if l.o.RanksOnly || l.o.StoreFault != "" || l.clock != "" {
		return
	}
	l.tell(NoticeTrouble, keyStays, "the time of the disarm is over, and it stays disarmed: "+l.flagStays())
}
