//go:build lab

package accept

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var (
	cuts = flag.Int("cuts", 10, "how many power cuts")
	seed = flag.Uint64("seed", 0, "of the instants; 0: a new one, printed")
)

// The head loses its power at random instants of a restart. It comes back, and the group serves
// again or was correctly given up; never two containers of a name.
func TestPowerCuts(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("replay: go test -tags lab -run TestPowerCuts ./testdata/lab/accept/ -cuts %d -seed %d", *cuts, *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	serving(t)
	leavesTraces()
	for cut := range *cuts {
		on(t, head, "cluster-watchdog reset --reason 'next cut'")
		from := mark(t)
		die(t, 2)
		saidSince(t, from, `RESTART begin`, wedgeWithin)
		after := time.Duration(random.Int64N(int64(4 * time.Second)))
		time.Sleep(after)
		mustOuter(t, "kill", container(head))
		mustOuter(t, "start", container(head))
		ready(t, head)
		t.Logf("cut %d, %s after the restart began", cut+1, after.Round(time.Millisecond))
		booted := mark(t) // what stands in the state is from before the cut
		eventually(t, 3*wedgeWithin, "it serves again, or was given up", func() bool {
			invariant(t)
			return strings.Contains(sinceMark(booted), "phase=SERVING served a completion") || statusNow(t).Phase == "GIVEN_UP"
		})
		if statusNow(t).Phase == "GIVEN_UP" {
			on(t, head, "cluster-watchdog reset --reason 'given up after a cut'")
			saidSince(t, booted, "phase=SERVING served a completion", 3*wedgeWithin)
		}
		invariant(t)
	}
}

// SIGKILL in mid-recovery leaves no lock behind, and the next tick goes on.
func TestKilledInMidRecovery(t *testing.T) {
	serving(t)
	from := mark(t)
	die(t, 2)
	saidSince(t, from, `RESTART step "remove containers" done`, deadWithin)
	on(t, head, "systemctl kill -s KILL cluster-watchdog.service; true")
	saidSince(t, from, `RESTART (goes on|launched)`, deadWithin)
	phase(t, "SERVING", 2*bootWithin)
	never(t, from, `another watchdog is running`)
	invariant(t)
}
