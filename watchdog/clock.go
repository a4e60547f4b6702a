package watchdog

import (
	"strconv"
	"strings"
	"time"
)

// Clock is a reading of the head's clocks at one instant. Facts carry it instead of a
// time.Time because a wall clock may jump: within one boot only Boot is believed.
type Clock struct {
	Wall   time.Time     `json:"wall"`
	Boot   time.Duration `json:"boot"`    // CLOCK_BOOTTIME: goes on while the machine is suspended
	BootID string        `json:"boot_id"` // /proc/sys/kernel/random/boot_id
}

// IsZero says that c was never set.
func (c Clock) IsZero() bool { return c.BootID == "" && c.Wall.IsZero() && c.Boot == 0 }

// Since returns the time from earlier to c, never negative. Across boots only the wall clock can
// tell, and that it was at least as long ago as c's boot has lasted: what carries a time of 2098 is
// not young for ever. The gate refuses to act where the wall clock is implausible.
func (c Clock) Since(earlier Clock) time.Duration {
	if c.BootID == earlier.BootID {
		return max(0, c.Boot-earlier.Boot)
	}
	return max(0, c.Wall.Sub(earlier.Wall), c.atLeast(earlier))
}

// atLeast is how long ago something of another boot must have been, whatever any wall clock says.
func (c Clock) atLeast(earlier Clock) time.Duration {
	if bootOf(c.BootID) == bootOf(earlier.BootID) { // another life of the same boot, which began in its middle
		return 0
	}
	return c.Boot
}

// lifeMark stands between a boot id and the number of a life of that boot.
const lifeMark = "~"

// InLifeOf returns c as a reading of the life that last was read in. A machine that was put back to a
// snapshot goes on with the boot id of then, at an earlier time since boot: what was read after the
// snapshot lies in no past of it. So that is named as another boot, from then on.
func (c Clock) InLifeOf(last Clock) Clock {
	if bootOf(last.BootID) != c.BootID {
		return c
	}
	if c.Boot >= last.Boot {
		c.BootID = last.BootID
		return c
	}
	c.BootID += lifeMark + strconv.Itoa(lifeOf(last.BootID)+1)
	return c
}

// lifeOf is the number of the life that a boot id names.
func lifeOf(id string) int {
	_, number, _ := strings.Cut(id, lifeMark)
	n, _ := strconv.Atoi(number)
	return max(1, n)
}

func bootOf(id string) string {
	boot, _, _ := strings.Cut(id, lifeMark)
	return boot
}

// UnknownBoot begins the boot id of a reading whose real one could not be read; no other reading has
// the same.
const UnknownBoot = "unreadable-"

// Equal says whether both are the same reading. It survives a round trip through the database,
// which == on a time.Time does not.
func (c Clock) Equal(other Clock) bool {
	return c.BootID == other.BootID && c.Boot == other.Boot && c.Wall.Equal(other.Wall)
}

// After says whether c is later than other. Two readings of one boot are ordered by Boot.
func (c Clock) After(other Clock) bool {
	if c.BootID == other.BootID {
		return c.Boot > other.Boot
	}
	return c.Wall.After(other.Wall)
}

// Later says whether a is later than b, as known at c: a reading of the present boot is later than
// any of an earlier one, whatever the wall clock said then, and one of a later life of a boot than one of
// an earlier life.
func (c Clock) Later(a, b Clock) bool {
	here, bootA, bootB := bootOf(c.BootID), bootOf(a.BootID), bootOf(b.BootID)
	switch {
	case bootA == bootB && a.BootID != b.BootID:
		return lifeOf(a.BootID) > lifeOf(b.BootID)
	case bootA != bootB && (bootA == here || bootB == here):
		return bootA == here
	}
	return a.After(b)
}

// Add returns c moved by d; a negative d moves it into the past.
func (c Clock) Add(d time.Duration) Clock {
	c.Wall = c.Wall.Add(d)
	c.Boot += d
	return c
}

// Latest returns the later of two readings, as known at c: one of an earlier boot is never later than
// one of the present boot, whatever the wall clock said then.
func (c Clock) Latest(a, b Clock) Clock {
	if c.Later(b, a) {
		return b
	}
	return a
}
