package watchdog

import (
	"fmt"
	"slices"
)

// keyBlind is of the notice that no node can be asked. It outlives a served completion: a group may
// serve for weeks while the watchdog has lost its key, and that must not be told each minute.
const keyBlind = "no node can be asked"

// lasting says whether a key stays told although a completion is served: what it is about is no
// trouble of the group.
func lasting(key string) bool {
	return key == keyBlind || key == keyStays || key == keySecondActor || key == keyClock
}

// tellBlind tells at once when not a single node can be asked – a lost key, a changed network –
// since then nothing could be done for the group, whatever comes.
func (l *look) tellBlind() {
	if l.first || len(l.r.Ranks) == 0 {
		return
	}
	if slices.ContainsFunc(l.r.Ranks, func(v Verdict) bool { return v.Cause != CauseNodeSilent }) {
		l.forget(keyBlind)
		return
	}
	l.tell(NoticeTrouble, keyBlind, fmt.Sprintf("%s: nothing can be done for the group until then (%s)", keyBlind, l.r.Ranks[0].What))
}
