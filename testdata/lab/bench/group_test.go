//go:build lab

package bench

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"
)

// attempt is what is read of the last attempt in `status --json`.
type attempt struct {
	ID      int   `json:"id"`
	Started clock `json:"started"`
	Ended   clock `json:"ended"`
	Outcome int   `json:"outcome"`
}

// launched is the outcome of an attempt after which all ranks run.
const launched = 1

type clock struct {
	Boot time.Duration `json:"boot"`
}

func lastAttempt(b *testing.B) attempt {
	b.Helper()
	var status struct {
		Attempt attempt `json:"attempt"`
	}
	out := on(b, 0, "cluster-watchdog status --json")
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		b.Fatalf("status: %v: %s", err, out)
	}
	return status.Attempt
}

// fresh launches a group on nodes where nothing is left of what ran before. The timer is stopped: all
// ticks are ours.
func fresh(b *testing.B) {
	b.Helper()
	on(b, 0, "systemctl stop cluster-watchdog.timer cluster-watchdog.service; rm -rf /var/lib/cluster-watchdog")
	everywhere(b, `echo ok >/run/faultfs.mode; rm -f /var/lib/lab/fault /var/lib/lab/server-args /var/lib/lab/docker-args
		pkill -f "[c]luster-watchdog-flusher"; docker ps -aq | xargs -r docker rm -f >/dev/null`)
	on(b, 0, "sed -i 's/canary_every: .*/canary_every: 1ms/' /etc/cluster-watchdog/config.yaml") // every look asks
	on(b, 0, "cluster-watchdog arm --launch")
	serving(b)
}

// bootLimit is how long a group may take to serve.
const bootLimit = time.Minute

var served = regexp.MustCompile(`health OK → SERVING|phase=SERVING served a completion`)

// serving ticks until the group serves, and ends the flushers of its boot.
func serving(b *testing.B) {
	b.Helper()
	var said string
	for deadline := time.Now().Add(bootLimit); !served.MatchString(said); {
		if time.Now().After(deadline) {
			b.Fatalf("the group does not serve within %s: %s", bootLimit, said)
		}
		time.Sleep(500 * time.Millisecond)
		said = tick()
	}
	tick() // after the one that served: nothing is left to be tidied up
	everywhere(b, `pkill -f "[b]aseline-flusher|[c]luster-watchdog-flusher"; true`)
}

// tick returns what a tick says. Its exit code is its own affair: what comes of it is looked at.
func tick() string {
	out, errs, err := in(0, nil, "root", "cluster-watchdog", "tick")
	if err != nil {
		errs += " (" + err.Error() + ")"
	}
	return out + errs
}

// die kills the server process of one rank, and waits until the group has gone down with it.
func die(b *testing.B) {
	b.Helper()
	on(b, 2, "kill -KILL $(docker inspect -f '{{.State.Pid}}' vllm)")
	everywhere(b, `for i in $(seq 200); do [ "$(docker inspect -f '{{.State.Running}}' vllm)" = true ] || exit 0; sleep 0.1; done
		echo "still runs"; exit 1`)
}
