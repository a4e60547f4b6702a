package watchdog

// Switch says whether the watchdog may act, and by whose word: for people who ask, and for a
// decision that is played through before it counts.
func (p Policy) Switch(s State, f Flag, now Clock) (armed bool, words string) {
	l := &look{p: p, prev: s, next: s, o: Observation{At: now, Flag: f}}
	l.doubtClock()
	if reason, detail := l.disarmed(); reason != 0 {
		return false, joinWords(reason.String(), detail)
	}
	return true, "armed by " + s.Arm.Who + " at " + s.Arm.At.Wall.Local().Format("2006-01-02 15:04:05")
}

// Served says whether the canary is a completed completion.
func (c Canary) Served() bool { return served(c) }

// Equal says whether both are the same flag, as a file that was read twice is.
func (f Flag) Equal(other Flag) bool {
	same := f.When.Equal(other.When) && f.Until.Equal(other.Until) && f.Ends.Equal(other.Ends)
	f.When, f.Until, f.Ends = other.When, other.Until, other.Ends
	return same && f == other
}
