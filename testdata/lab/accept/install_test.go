//go:build lab

package accept

import (
	"os"
	"strings"
	"testing"
	"time"
)

// editor is what a person types into sudoedit: here the lab's config.
const editor = "SUDO_EDITOR='cp /root/product/config.yaml' "

// readme returns the commands of README's section on installing, as the head runs them: what make does
// was done where the lab was built.
func readme(t *testing.T) (own, next []string, deb string) {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Install it\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		command, isCommand := strings.CutPrefix(line, "    ")
		command, _, _ = strings.Cut(strings.TrimSpace(command), " #")
		command = strings.TrimSpace(command)
		switch {
		case !isCommand:
		case strings.HasPrefix(command, "make deb && "):
			deb = strings.TrimPrefix(command, "make deb && ")
		case strings.HasPrefix(command, "make build && "):
			own = append(own, strings.TrimPrefix(command, "make build && "))
		default:
			next = append(next, command)
		}
	}
	if len(own) != 1 || len(next) != 5 || deb == "" {
		t.Fatalf("README's install section is not what it was: %q, %q, %q", own, next, deb)
	}
	return own, next, deb
}

// onProduct runs a command as a person does who has built the program in that folder.
func onProduct(t *testing.T, command string) string {
	t.Helper()
	return on(t, head, "cd /root/product && "+editor+"bash -c '"+command+"'")
}

// MISSION's first story, from the installation on: the boot dies in warm-up right after the watchdog was
// switched on. It is launched again by itself, and the journal tells it in words that a person can follow.
func TestInstalledAndCrashInWarmUp(t *testing.T) {
	fresh(t)
	own, next, _ := readme(t)
	on(t, head, "apt-get -qq purge -y cluster-watchdog >/dev/null 2>&1; test ! -e /etc/cluster-watchdog && test ! -e /var/lib/cluster-watchdog")
	t.Cleanup(func() { installDeb(t) })
	from := mark(t)
	everywhere(t, "echo '--load "+long(15*time.Second).String()+"' >/var/lib/lab/server-args")
	restartByHand(t)
	for _, command := range append(own, next...) {
		t.Logf("%s\n%s", command, onProduct(t, command))
	}
	fault(t, 2, "crash-warmup")
	saidSince(t, from, `rank 2 \(node3\) exited 1`, deadWithin)
	fault(t, 2, "")
	saidSince(t, from, `container not running \(phase=BOOTING\) → restart: .*rank 2 \(node3\) exited 1`, deadWithin+deadWithin)
	saidSince(t, from, `RESTART begin \(restart 0/2 in (36m|6h)\)`, deadWithin)
	saidSince(t, from, `RESTART launched all ranks \(launch_fail=0\); phase=BOOTING`, deadWithin)
	saidSince(t, from, `health OK → SERVING`, bootWithin)
	if out := on(t, head, "journalctl EVENT=restart --no-pager -o cat"); !strings.Contains(out, "RESTART begin") {
		t.Errorf("journalctl EVENT=restart says %q", out)
	}
	if out := on(t, head, "journalctl -t heard --no-pager -o cat"); !strings.Contains(out, "serving again after") {
		t.Errorf("a person heard %q", out)
	}
	invariant(t)
	on(t, head, "cluster-watchdog uninstall && test -e /etc/cluster-watchdog/config.yaml && test -e /var/lib/cluster-watchdog/state.db && test ! -e /usr/local/bin/cluster-watchdog")
}

// installDeb installs the package by README's line.
func installDeb(t *testing.T) {
	t.Helper()
	_, _, deb := readme(t)
	onProduct(t, deb)
}

// The package over itself in the middle of a restart: nothing is interrupted, what was armed stays
// armed. A removal leaves config and state alone.
func TestPackageUpgradedInTheMiddleOfARestart(t *testing.T) {
	serving(t)
	leavesTraces()
	from := mark(t)
	die(t, 2)
	saidSince(t, from, `RESTART begin`, deadWithin)
	onProduct(t, "dpkg -i dist/cluster-watchdog_*_$(dpkg --print-architecture).deb")
	saidSince(t, from, `RESTART launched all ranks`, deadWithin)
	phase(t, "SERVING", bootWithin)
	never(t, from, `RESTART (goes on|interrupted)`)
	if s := statusNow(t); !s.Armed {
		t.Error("the upgrade has disarmed it")
	}
	on(t, head, "apt-get -qq remove -y cluster-watchdog && test -e /etc/cluster-watchdog/config.yaml && test -e /var/lib/cluster-watchdog/state.db && test ! -e /usr/bin/cluster-watchdog")
	installDeb(t)
	phase(t, "SERVING", bootWithin)
	if s := statusNow(t); !s.Armed {
		t.Error("removed and installed again: no longer armed")
	}
}
