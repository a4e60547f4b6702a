//go:build lab

package accept

import (
	"os"
	"testing"
	"time"
)

// How long things take in the lab, where every window is a tenth.
var (
	bootWithin  = long(40 * time.Second)  // launched and serving, from any decision
	deadWithin  = long(40 * time.Second)  // a dead rank: found, and all ranks launched
	wedgeWithin = long(90 * time.Second)  // no progress over 36 s, found and launched
	wedgeQuiet  = long(50 * time.Second)  // longer than no progress needs
	graceWithin = long(100 * time.Second) // the end of a person's time, and the restart after it
	twoTicks    = long(12 * time.Second)
)

// long is the time at the defaults, when LONG=1 has the lab installed with them: windows are ten times
// those of the lab, and a look is made each minute instead of each 5 s.
func long(tenth time.Duration) time.Duration {
	if os.Getenv("LONG") == "1" {
		return 12 * tenth
	}
	return tenth
}

// quiet lets the timer fire for that long: the time in which a wrong watchdog would have acted.
func quiet(t *testing.T, d time.Duration) {
	t.Helper()
	time.Sleep(d)
}
