package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the maintainer scripts may have systemd do: the timer is theirs, the service is not.
var mayRun = []string{
	`systemctl --system daemon-reload`,
	`systemctl --quiet is-active "$timer"`,
	`systemctl --system try-restart 'cluster-watchdog@*.timer'`,
	`systemctl --system disable --now "$one"`, // of the timers that the next one lists
	`systemctl list-units --all --plain --no-legend 'cluster-watchdog@*.timer'`,
	`systemctl list-units --plain --no-legend --state=activating,active,deactivating cluster-watchdog.service 'cluster-watchdog@*.service'`,
	`deb-systemd-helper --quiet was-enabled "$timer"`,
	`deb-systemd-helper enable "$timer"`,
	`deb-systemd-helper update-state "$timer"`,
	`deb-systemd-helper purge cluster-watchdog.timer`,
	`deb-systemd-invoke restart "$timer"`,
	`deb-systemd-invoke start "$timer"`,
	`deb-systemd-invoke stop cluster-watchdog.timer`,
}

func TestMaintainerScriptsLeaveTheServiceAlone(t *testing.T) {
	call := regexp.MustCompile(`\b(systemctl|deb-systemd-\w+|kill|pkill|killall) [^;)>|&]*[^;)>|& ]`)
	timers := 0
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		for line := range strings.Lines(string(script(t, name))) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "echo ") {
				continue
			}
			if line == "timer="+timer {
				timers++
			}
			for _, got := range call.FindAllString(line, -1) {
				if !slices.Contains(mayRun, got) {
					t.Errorf("%s runs %s", name, got)
				}
			}
		}
	}
	if timers != 1 {
		t.Errorf("$timer is not %s", timer)
	}
}

// A purge must not follow a variable.
func TestPurgeRemovesTwoFoldersOnly(t *testing.T) {
	var removals []string
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		for line := range strings.Lines(string(script(t, name))) {
			if strings.Contains(line, "rm -") {
				removals = append(removals, name+": "+strings.TrimSpace(line))
			}
		}
	}
	if want := []string{"postrm: rm -rf /etc/cluster-watchdog /var/lib/cluster-watchdog"}; !slices.Equal(removals, want) {
		t.Errorf("removed is %q, want %q", removals, want)
	}
}

func TestPackageScriptsAreShell(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("skipped: no shellcheck on this machine")
	}
	for _, name := range []string{"postinst", "prerm", "postrm", "build.sh"} {
		if out, err := exec.Command("shellcheck", filepath.Join("deb", name)).CombinedOutput(); err != nil {
			t.Errorf("shellcheck %s: %v\n%s", name, err, out)
		}
	}
}

func script(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("deb", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
