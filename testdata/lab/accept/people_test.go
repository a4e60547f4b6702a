//go:build lab

package accept

import (
	"strings"
	"testing"
	"time"
)

// A stop by hand is a person's doing: grace, told, nothing touched; after the grace it is restarted.
func TestStopByHand(t *testing.T) {
	serving(t)
	leavesTraces()
	from := mark(t)
	on(t, 2, "su ops -c 'docker stop -t 1 vllm'")
	saidSince(t, from, `rank 2 \(node3\) was stopped by someone else`, deadWithin)
	saidSince(t, from, `would restart .*a person is at work`, deadWithin)
	never(t, from, `RESTART begin`)
	saidSince(t, from, `RESTART launched all ranks`, graceWithin)
	phase(t, "SERVING", bootWithin)
}

// A restart by hand in the middle of ticks is not fought: BOOTING since then, and adopted.
func TestRestartByHand(t *testing.T) {
	serving(t)
	leavesTraces()
	from := mark(t)
	restartByHand(t)
	byHand := ids(t)
	saidSince(t, from, `(was started by someone else|looking first)`, deadWithin)
	saidSince(t, from, `health OK → SERVING`, bootWithin)
	never(t, from, `RESTART begin`)
	if now := ids(t); strings.Join(now, " ") != strings.Join(byHand, " ") {
		t.Errorf("fought: containers changed from %v to %v", byHand, now)
	}
}

// restartByHand is what people type: everything away, workers, then the head.
func restartByHand(t *testing.T) {
	t.Helper()
	everywhere(t, "su ops -c 'docker rm -f vllm'")
	for _, node := range []int{1, 2, 3, 0} {
		on(t, node, "su - ops -c 'bash ~/launch.sh "+string(rune('0'+node))+"'")
	}
}

// A head started by hand with a load time longer than all strikes is left to load.
func TestSlowBootByHand(t *testing.T) {
	serving(t)
	leavesTraces()
	everywhere(t, "echo '--load "+long(60*time.Second).String()+"' >/var/lib/lab/server-args")
	from := mark(t)
	restartByHand(t)
	byHand := ids(t)
	saidSince(t, from, `phase=BOOTING loading`, deadWithin)
	saidSince(t, from, `health OK → SERVING`, long(90*time.Second))
	never(t, from, `RESTART begin`)
	if now := ids(t); strings.Join(now, " ") != strings.Join(byHand, " ") {
		t.Errorf("torn down while loading: %v, now %v", byHand, now)
	}
}

// The head reboots and Docker's own policy brings all ranks back: adopted, not launched again.
func TestHeadRebootsAndDockerRestoresTheRanks(t *testing.T) {
	serving(t)
	leavesTraces()
	everywhere(t, "docker update --restart unless-stopped vllm >/dev/null")
	from := mark(t)
	mustOuter(t, "restart", "-t", "10", container(head))
	ready(t, head)
	for _, worker := range []int{1, 2, 3} { // the workers' Docker starts them again when they exit
		eventually(t, bootWithin, "workers run", func() bool {
			out, _ := try(worker, "docker inspect -f '{{.State.Running}}' vllm")
			return out == "true"
		})
	}
	saidSince(t, from, `looking first`, bootWithin)
	phase(t, "SERVING", 2*bootWithin)
	never(t, from, `RESTART begin`)
	invariant(t)
}

// Disarmed for maintenance: it looks, and says what it would do.
func TestDisarmed(t *testing.T) {
	serving(t)
	leavesTraces()
	on(t, head, "cluster-watchdog disarm --reason 'new model'")
	from := mark(t)
	die(t, 2)
	saidSince(t, from, `would restart \(container not running: .*rank 2 \(node3\) exited 1.*\): disarmed: by root: new model`, deadWithin)
	never(t, from, `RESTART`)
}
