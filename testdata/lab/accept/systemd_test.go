//go:build lab

package accept

import (
	"strings"
	"testing"
	"time"
)

// dropIn adds lines to a unit until the test ends.
func dropIn(t *testing.T, unit, lines string) (takeAway func()) {
	t.Helper()
	dir := "/run/systemd/system/" + unit + ".d"
	on(t, head, "mkdir -p "+dir+" && printf '"+lines+"' >"+dir+"/zz-test.conf && systemctl daemon-reload")
	takeAway = func() { on(t, head, "rm -rf "+dir+" && systemctl daemon-reload") }
	t.Cleanup(func() { _, _ = try(head, "rm -rf "+dir+"; systemctl daemon-reload") })
	return takeAway
}

// A check in the service's own sandbox passes, sees what a drop-in hides, and leaves nothing behind.
// Before the first look status says what keeps the timer. (Y03, Y05)
func TestSandboxAndTimer(t *testing.T) {
	leavesTraces()
	fresh(t)
	before := on(t, head, "mkdir -p -m 0700 /var/lib/cluster-watchdog /run/cluster-watchdog && stat -c '%n %i %u %a' /var/lib/cluster-watchdog /run/cluster-watchdog")
	if out := on(t, head, "cluster-watchdog check --deep"); !strings.Contains(out, "under the sandbox of cluster-watchdog.service") || !strings.Contains(out, "all checks passed on 4/4 nodes") || strings.Contains(out, "warning: ") {
		t.Errorf("check --deep: %s", out)
	}
	for _, row := range []struct{ name, lines, want string }{
		{"Y05: a key that is hidden", `[Service]\nInaccessiblePaths=/home/ops/.ssh/id_ed25519\n`, "the service cannot read the key /home/ops/.ssh/id_ed25519: there is an empty file: InaccessiblePaths=/home/ops/.ssh/id_ed25519 hides it"},
		{"Y05: a home that is hidden", `[Service]\nProtectHome=yes\n`, "the service cannot read the known_hosts /home/ops/.ssh/known_hosts: no such file or directory: ProtectHome=yes hides it: set ProtectHome=read-only"},
		{"state that is read-only", `[Service]\nReadOnlyPaths=/var/lib/cluster-watchdog\n`, "add ReadWritePaths=/var/lib/cluster-watchdog"},
		{"notify.command", `[Service]\nNoExecPaths=/usr/bin/logger\n`, "the service cannot run notify.command: logger as ops"},
		{"what cannot be given", `[Service]\nNoSuchSetting=1\n`, "warning: NoSuchSetting= of cluster-watchdog.service cannot be given to a transient unit by this systemd"},
	} {
		takeAway := dropIn(t, "cluster-watchdog.service", row.lines)
		out, err := try(head, "cluster-watchdog check --deep")
		if !strings.Contains(out, row.want) || (err == nil) != strings.HasPrefix(row.want, "warning") {
			t.Errorf("%s: %v: %s", row.name, err, out)
		}
		takeAway()
	}
	if out, _ := try(head, "cluster-watchdog check --deep >/tmp/said 2>&1 & sleep 0.5; kill -INT $!; wait $!; echo $?"); out != "3" {
		t.Errorf("Ctrl-C ends it with %s", out)
	}
	if left := on(t, head, "systemctl list-units --all --no-legend 'cluster-watchdog-check*'"); left != "" {
		t.Errorf("left behind: %s", left)
	}
	if after := on(t, head, "stat -c '%n %i %u %a' /var/lib/cluster-watchdog /run/cluster-watchdog"); after != before {
		t.Errorf("changed: %s to %s", before, after)
	}

	says := func(name, want string) {
		t.Helper()
		if out := on(t, head, "cluster-watchdog status"); !strings.Contains(out, want) {
			t.Errorf("%s: %s", name, out)
		}
	}
	says("stopped", "no look yet: cluster-watchdog.timer is enabled, but inactive: `systemctl start cluster-watchdog.timer`")
	takeAway := dropIn(t, "cluster-watchdog.timer", `[Timer]\nOnCalendar=\nOnCalendar=2001-01-01\n`) // as one that has nothing to count from
	on(t, head, "systemctl start cluster-watchdog.timer")
	says("Y03", "cluster-watchdog.timer is active, but systemd has no next time for it: `systemctl restart cluster-watchdog.timer`")
	on(t, head, "systemctl stop cluster-watchdog.timer")
	takeAway()
}

// systemctl stop in mid-restart: it ends at once, says in which step, frees the lock, and the next
// look goes on with the same attempt. (Y02)
func TestStoppedInMidRestart(t *testing.T) {
	serving(t)
	leavesTraces()
	from := mark(t)
	die(t, 2)
	saidSince(t, from, `RESTART step "remove containers" done`, deadWithin)
	began := time.Now()
	on(t, head, "systemctl stop cluster-watchdog.timer cluster-watchdog.service")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	saidSince(t, from, `RESTART interrupted in step ".*": no rank runs, the group is down; the next tick goes on`, twoTicks)
	s := statusNow(t)
	if s.Working != "" || s.Attempt == nil || !strings.HasPrefix(s.Attempt.Error, `interrupted in step "`+s.Attempt.Step+`"`) {
		t.Errorf("status: %+v", s)
	}
	on(t, head, "systemctl start cluster-watchdog.timer")
	saidSince(t, from, `RESTART goes on \(attempt \d+, try 2\)`, twoTicks)
	saidSince(t, from, `RESTART launched all ranks`, deadWithin)
	invariant(t)
}

// known_hosts on a mount that hangs: it is refused by the mount's name, nothing there is asked, and neither
// a run nor a check hangs. (N01)
func TestIdentityOnAHungMount(t *testing.T) {
	leavesTraces()
	fresh(t)
	on(t, head, "cp /home/ops/.ssh/known_hosts /shared/known_hosts && cp /etc/cluster-watchdog/config.yaml /run/config.kept && sed -i 's#known_hosts: .*#known_hosts: /shared/known_hosts#' /etc/cluster-watchdog/config.yaml")
	t.Cleanup(func() {
		_, _ = try(head, "echo ok >/run/faultfs.mode; cat /run/config.kept >/etc/cluster-watchdog/config.yaml; rm -f /shared/known_hosts")
	})
	from := mark(t)
	on(t, head, "echo hang >/run/faultfs.mode; systemctl start cluster-watchdog.service")
	saidSince(t, from, `its key or known_hosts cannot be used`, twoTicks)
	if out, err := try(head, "cluster-watchdog check"); err == nil || !strings.Contains(out, "/shared/known_hosts") || !strings.Contains(out, "nas:/shared") {
		t.Errorf("check: %v: %s", err, out)
	}
}
