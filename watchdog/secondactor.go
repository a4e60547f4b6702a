package watchdog

import (
	"fmt"
	"slices"
	"strings"
)

// keySecondActor is of the notice that Docker itself starts ranks. It outlives a served completion, as
// what it tells of does.
const keySecondActor = "second actor"

// tellSecondActor tells once that Docker may start ranks beside us, by their restart policy (D04).
func (l *look) tellSecondActor() {
	var who []string
	silent := false
	for i, r := range l.o.Ranks {
		switch c := r.Container; {
		case !r.DockerAnswered():
			silent = true
		case c != nil && c.RestartsItself():
			who = append(who, fmt.Sprintf("rank %d (%s) has restart policy %q", i, r.Node, c.RestartPolicy))
		}
	}
	switch {
	case len(who) > 0:
		l.tell(NoticeTrouble, keySecondActor, strings.Join(who, ", ")+
			": Docker starts it beside us, one rank at a time; launch with --restart no, and until then `docker update --restart=no` the container")
	case !silent:
		l.next.Told = slices.DeleteFunc(l.next.Told, func(key string) bool { return key == keySecondActor })
	}
}

// RestartsItself says whether Docker starts this container again when it ends.
func (c Container) RestartsItself() bool {
	return (c.RestartPolicy != "" && c.RestartPolicy != "no") || c.Status == "restarting"
}

// tellPaused tells once that a person has paused a rank: nothing is done until it goes on.
func (l *look) tellPaused() {
	if paused := l.paused(); paused != "" && (l.next.Phase == Serving || l.next.Phase == Booting) {
		l.tell(NoticeTrouble, "paused", paused+": a person's doing, nothing is done until `docker unpause`")
	}
}
