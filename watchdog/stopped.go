package watchdog

import "slices"

// adoptStop reads a stop that a person asked for and that reached its commit: nothing is known to
// be launched any more, whatever has failed before, and a rank that a silent node still runs is no
// new start. Only a person's wish launches the group again.
func (l *look) adoptStop() {
	n := &l.next
	i := len(l.prev.Attempts) - 1
	for i >= 0 && l.prev.Attempts[i].Committed.IsZero() {
		i--
	}
	if i < 0 || !l.prev.Attempts[i].Stop || !l.o.At.Later(l.prev.Attempts[i].Committed, n.Seen) {
		return
	}
	n.Phase, n.Since, n.Seen = None, l.prev.Attempts[i].Committed, l.o.At
	n.Strikes, n.Grace, n.Incident = nil, nil, nil
	n.EarlyDeath, n.BusyFrom = Clock{}, Clock{}
	n.Told = slices.DeleteFunc(n.Told, func(key string) bool { return !lasting(key) })
	l.newGroup()
}
