package watchdog

import (
	"fmt"
	"strings"
	"time"
)

const (
	// jumpTold is by how much the wall clock may differ from the time since boot between two looks: NTP
	// corrects less, and a step of less matters to nobody.
	jumpTold = time.Minute
	// clockPatience is how long after a boot its clock may be wrong before people are told: a machine
	// without a battery begins in 1970 and asks NTP.
	clockPatience = 10 * time.Minute
)

// keyClock is of the notice that the head's clock keeps us from acting. It is no trouble of the group.
const keyClock = "the head's clock"

// unknownBoot says whether the boot of a reading could not be told.
func (c Clock) unknownBoot() bool { return strings.HasPrefix(c.BootID, UnknownBoot) }

// clockStops says why the head's clocks keep us from acting, "" where they do not.
func (l *look) clockStops() string {
	if l.o.At.unknownBoot() {
		return "the head's boot id cannot be read, so no look can be compared with another, and nothing is ever done: let this program read /proc/sys/kernel/random/boot_id"
	}
	return l.clock
}

// tellClock tells once when the head's clocks keep us from acting, and not only when they have done so.
func (l *look) tellClock() {
	why := l.clockStops()
	switch {
	case why == "":
		l.forget(keyClock)
	case l.o.At.unknownBoot() || l.o.At.Boot >= clockPatience:
		l.tell(NoticeTrouble, keyClock, "nothing can be done for the group: "+why)
	}
}

// ClockWords says why the head's clock keeps us from acting, or by how much it has jumped since the last
// look; "" where it runs as it should.
func (p Policy) ClockWords(s State, now Clock) string {
	l := &look{p: p, prev: s, next: s, o: Observation{At: now}}
	l.doubtClock()
	return l.headClock()
}

// headClock says what people should know of the head's clock, "" where it runs as it should.
func (l *look) headClock() string {
	if why := l.clockStops(); why != "" {
		return why
	}
	return jumpWords(l.prev.Last, l.o.At)
}

// jumpWords says by how much the wall clock has jumped between two looks of one boot. Across boots
// nobody can tell.
func jumpWords(last, now Clock) string {
	if last.IsZero() || last.BootID != now.BootID {
		return ""
	}
	switch d := now.Jumped(last); {
	case d >= jumpTold:
		return fmt.Sprintf("the head's clock was set ahead by %s since the last look", brief(d))
	case d <= -jumpTold:
		return fmt.Sprintf("the head's clock was set back by %s since the last look", brief(-d))
	default:
		return ""
	}
}

// Jumped returns by how much the wall clock was set between two readings of one boot: ahead, or back where
// it is negative.
func (c Clock) Jumped(earlier Clock) time.Duration {
	return c.Wall.Sub(earlier.Wall) - (c.Boot - earlier.Boot)
}
