package watchdog

import "time"

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
// tell; the gate refuses to act where that clock is implausible.
func (c Clock) Since(earlier Clock) time.Duration {
	if c.BootID == earlier.BootID {
		return max(0, c.Boot-earlier.Boot)
	}
	return max(0, c.Wall.Sub(earlier.Wall))
}

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
// any of an earlier one, whatever the wall clock said then.
func (c Clock) Later(a, b Clock) bool {
	if a.BootID != b.BootID && (a.BootID == c.BootID || b.BootID == c.BootID) {
		return a.BootID == c.BootID
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
