package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTimerOf(t *testing.T) {
	for path, want := range map[string]string{
		"/etc/cluster-watchdog/config.yaml":      "cluster-watchdog.timer",
		"/etc/cluster-watchdog/b-2.yaml":         "cluster-watchdog@b-2.timer",
		"/etc/cluster-watchdog/../other/b.yaml":  "cluster-watchdog.timer",
		"/etc/cluster-watchdog/./b.yaml":         "cluster-watchdog@b.timer",
		"/etc/cluster-watchdog/config.yaml.old":  "cluster-watchdog.timer",
		"/home/anna/config.yaml":                 "cluster-watchdog.timer",
		"/home/anna/b.yaml":                      "cluster-watchdog.timer",
		"/etc/cluster-watchdog/deeper/b.yaml":    "cluster-watchdog.timer",
		filepath.Join(t.TempDir(), "b.yaml"):     "cluster-watchdog.timer",
		"/etc/cluster-watchdog/api-key":          "cluster-watchdog.timer",
		"/etc/cluster-watchdog//config.yaml":     "cluster-watchdog.timer",
		"/etc/cluster-watchdog/x/../config.yaml": "cluster-watchdog.timer",
	} {
		if got := timerOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A config that was copied for one more group must not go on with the first one's state.
func TestSharedStateIsRefused(t *testing.T) {
	for _, row := range []struct{ path, stateDir, says string }{
		{"/etc/cluster-watchdog/config.yaml", "/var/lib/cluster-watchdog", ""},
		{"/etc/cluster-watchdog/b.yaml", "/var/lib/cluster-watchdog/b", ""},
		{"/etc/cluster-watchdog/b.yaml", "/srv/b", ""},
		{"/etc/cluster-watchdog/b.yaml", "/var/lib/cluster-watchdog", "say state_dir: /var/lib/cluster-watchdog/b"},
		{"/etc/cluster-watchdog/cases.yaml", "/var/lib/cluster-watchdog/cases", "give it another name"},
		{"/etc/cluster-watchdog/disarmed.yaml", "/var/lib/cluster-watchdog/disarmed", "give it another name"},
		{"/etc/cluster-watchdog/B@x.yaml", "/var/lib/cluster-watchdog/b", "1 to 32 of a-z"},
		{"/home/anna/b.yaml", "/var/lib/cluster-watchdog", ""},
	} {
		c := defaultConfig()
		c.StateDir = row.stateDir
		err := refuseSharedState(row.path, c)
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%s: %v", row.path, err)
		case row.says != "" && (exitCode(err) != exitUsage || !strings.Contains(err.Error(), row.says)):
			t.Errorf("%s: %v", row.path, err)
		}
	}
}
