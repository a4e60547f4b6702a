//go:build lab

package accept

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// peopleCases are what people do to an armed watchdog and to its nodes, as rows of the matrix. Each has
// a rank die after it, unless it says otherwise.
var peopleCases = []struct {
	name, node, want string
	do               func(t *testing.T)
}{
	{"the package is installed over itself", "head", comesBack + " " + once, func(t *testing.T) {
		onProduct(t, "dpkg -i dist/cluster-watchdog_*_$(dpkg --print-architecture).deb")
		die(t, other)
	}},
	{"the package is installed over itself in the middle of a restart", "head", comesBack + " " + once, func(t *testing.T) {
		from := time.Now()
		die(t, other)
		eventually(t, deadWithin, "it is committed", func() bool { return seenSince(from).has("commit") })
		onProduct(t, "dpkg -i dist/cluster-watchdog_*_$(dpkg --print-architecture).deb")
	}},
	{"a time in the config is changed", "head", comesBack + " " + once, func(t *testing.T) {
		edit(t, "s/^period: .*/period: 6s/")
		die(t, other)
	}},
	{"another launch command in the config, then `arm --launch`", "head", "serving not-armed " + comesBack + " " + once, func(t *testing.T) {
		edit(t, "s/launch.sh /launch.sh  /")
		saidSince(t, mark(t), "served a completion", twoTicks)
		from := time.Now()
		die(t, other)
		eventually(t, deadWithin, "it says for what it is armed", func() bool { return seenSince(from).has("not-armed") })
		on(t, head, "cluster-watchdog arm --launch")
	}},
	{"the config is broken and mended", "head", comesBack + " " + once, func(t *testing.T) {
		edit(t, "s/^nodes:/nodez:/")
		die(t, other)
		time.Sleep(quietly)
		restoreConfig(t)
	}},
	{"a worker is rebooted while it serves", "worker", "(grace )?(refused )?" + comesBack + " " + once, func(t *testing.T) { reboot(t, 1) }},
}

const configFile = "/etc/cluster-watchdog/config.yaml"

// edit changes the config as a person does, for the rest of the test.
func edit(t *testing.T, expression string) {
	t.Helper()
	on(t, head, fmt.Sprintf("cp %[1]s /root/config-away && sed -i '%[2]s' %[1]s", configFile, expression))
	t.Cleanup(func() { restoreConfig(t); leavesTraces() })
}

func restoreConfig(t *testing.T) {
	t.Helper()
	on(t, head, "[ ! -e /root/config-away ] || mv /root/config-away "+configFile)
}

// The people's rows of the matrix.
func TestMatrixPeople(t *testing.T) {
	if *results == "" {
		t.Skip("skipped: `make lab-matrix` runs it")
	}
	for _, p := range peopleCases {
		t.Run(p.name, func(t *testing.T) {
			c := cell{}
			r := result{Cell: "people/" + p.name, Fault: p.name, Moment: "while it serves, armed", Node: p.node, Class: "person", Expected: p.want, Verdict: "did not end"}
			defer func() { keep(t, r) }()
			c.settled(t)
			began := time.Now()
			p.do(t)
			c.ends(t, &r, began, time.Time{}, p.want)
			if !statusNow(t).Armed {
				t.Error("it is disarmed now")
			}
		})
	}
	t.Run("off for a week", func(t *testing.T) {
		r := result{Cell: "people/off for a week", Fault: "a node is off for a week (virtual time)", Moment: "while it serves, armed", Node: "worker, head", Class: "person",
			Expected: comesBack + " " + once, Verdict: "did not end"}
		defer func() { keep(t, r) }()
		out, err := exec.Command("go", "test", "-count=1", "cluster-watchdog/cmd/watchdog", "-run", "^TestNodeOffForAWeek$").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ok") {
			t.Fatalf("%v: %s", err, out)
		}
		r.Verdict, r.Seen = "as expected", r.Expected
	})
}
