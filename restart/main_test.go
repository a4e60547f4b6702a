package restart

import (
	"os"
	"testing"
)

// TestMain plays the nodes of a benchmark in a process of their own, when it is started for that:
// what they use must not be taken for what the watchdog uses.
func TestMain(m *testing.M) {
	if os.Getenv(fleetEnv) != "" {
		if err := playFleet(os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
