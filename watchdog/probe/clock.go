package probe

import (
	"crypto/rand"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cluster-watchdog/watchdog"
)

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// Now reads this machine's clocks.
func Now() watchdog.Clock {
	c := watchdog.Clock{Wall: time.Now().UTC().Round(0)} // Round drops the monotonic part, which no file keeps
	var ts unix.Timespec
	boot, err := os.ReadFile(bootIDFile)
	if err == nil {
		err = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	}
	c.Boot = time.Duration(ts.Nano())
	c.BootID = strings.TrimSpace(string(boot))
	if err != nil || c.BootID == "" {
		// Readings of an unknown boot must not be compared by Boot with any other reading.
		c.BootID = watchdog.UnknownBoot + rand.Text()
	}
	return c
}
