//go:build lab

package accept

import (
	"strings"
	"testing"
)

const refused = `RESTART refused, nothing touched, not counted: .*`

// Faults in which hand-written watchdogs made a group worse. Ours leaves it no worse, says what is
// wrong, and goes on when it is mended.
func TestNoWorse(t *testing.T) {
	rows := []struct {
		name        string
		spoil, mend func(*testing.T)
		healthy     string   // what a look at the serving group says, "": as ever
		want        []string // what stands in the journal when a rank has died then
	}{
		{"root without the key",
			func(t *testing.T) { on(t, head, "mv /home/ops/.ssh/id_ed25519 /home/ops/.ssh/away") },
			func(t *testing.T) { on(t, head, "mv /home/ops/.ssh/away /home/ops/.ssh/id_ed25519") },
			``,
			[]string{`no node can be asked: nothing can be done .*its key or known_hosts cannot be used`}},
		{"a worker's Docker hangs, one is unreachable, and the shared mount is stale on a third",
			func(t *testing.T) {
				on(t, 1, "pkill -STOP -x dockerd")
				on(t, 3, "systemctl stop ssh")
				on(t, 2, "echo stale >/run/faultfs.mode")
			},
			func(t *testing.T) {
				on(t, 1, "pkill -CONT -x dockerd")
				on(t, 3, "systemctl start ssh")
				on(t, 2, "echo ok >/run/faultfs.mode")
			},
			`phase=SERVING served a completion.*node2`,
			[]string{refused + `docker on node2: `,
				refused + `shell on node4: cannot reach node4 by SSH: .*refused`,
				refused + `mount /shared on node3: .*[Ss]tale`}},
		{"a worker's sshd is silent, and the shared mount hangs on another",
			func(t *testing.T) {
				mustOuter(t, "pause", container(1))
				on(t, 3, "echo hang >/run/faultfs.mode")
			},
			func(t *testing.T) {
				mustOuter(t, "unpause", container(1))
				on(t, 3, "echo ok >/run/faultfs.mode")
			},
			``,
			[]string{refused + `shell on node2: cannot reach node2 by SSH: `,
				refused + `mount /shared on node4: .*hung`}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			serving(t)
			before, from := ids(t), mark(t)
			r.spoil(t)
			mended := false
			defer func() {
				if !mended {
					r.mend(t)
				}
			}()
			if r.healthy != "" {
				saidSince(t, from, r.healthy, wedgeWithin)
			}
			die(t, 2)
			for _, want := range r.want {
				saidSince(t, from, want, 2*wedgeWithin)
			}
			quiet(t, twoTicks)
			never(t, from, `RESTART (step|checks passed|launched)`)
			r.mend(t)
			mended = true
			if now := ids(t); strings.Join(now, " ") != strings.Join(before, " ") {
				t.Errorf("touched: containers changed from %v to %v", before, now)
			}
			if s := statusNow(t); !strings.HasPrefix(s.Budget, "restart 0/2") {
				t.Errorf("counted: %s", s.Budget)
			}
			saidSince(t, from, `RESTART launched all ranks`, 2*wedgeWithin)
			phase(t, "SERVING", bootWithin)
			invariant(t)
		})
	}
}

// The head's state volume is full to the last byte: nothing is destroyed, and it says so.
func TestFullStateVolume(t *testing.T) {
	leavesTraces()
	fresh(t)
	on(t, head, "mkdir -p -m 0700 /var/lib/cluster-watchdog && mount -t tmpfs -o size=80m,mode=0700 tmpfs /var/lib/cluster-watchdog")
	defer func() {
		_, _ = try(head, "systemctl stop cluster-watchdog.timer; umount -l /var/lib/cluster-watchdog")
	}()
	on(t, head, "cluster-watchdog arm --launch && systemctl start cluster-watchdog.timer")
	phase(t, "SERVING", bootWithin)
	said(t, "phase=SERVING served a completion", twoTicks)
	before, from := ids(t), mark(t)
	on(t, head, "dd if=/dev/zero of=/var/lib/cluster-watchdog/full bs=1M 2>/dev/null; true")
	die(t, 2)
	saidSince(t, from, `(no space left on device|cannot keep state)`, deadWithin)
	quiet(t, twoTicks)
	never(t, from, `RESTART (step|launched)`)
	if now := ids(t); strings.Join(now, " ") != strings.Join(before, " ") {
		t.Errorf("touched: containers changed from %v to %v", before, now)
	}
	on(t, head, "rm /var/lib/cluster-watchdog/full")
	saidSince(t, from, `RESTART launched all ranks`, deadWithin+deadWithin)
	phase(t, "SERVING", bootWithin)
}
