package main

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// Why no look came for three periods, as systemd and the clocks tell it.
func TestWhyStale(t *testing.T) {
	at := func(minutes int) watchdog.Clock {
		return watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute), Boot: time.Hour + time.Duration(minutes)*time.Minute, BootID: "b"}
	}
	active := map[string]string{"LoadState": "loaded", "UnitFileState": "enabled", "ActiveState": "active", "Result": "success",
		"NextElapseUSecRealtime": "Sun 2026-03-01 12:11:00 UTC", "NextElapseUSecMonotonic": "0", "LastTriggerUSecMonotonic": "1h 9min 30s"}
	ended := map[string]string{"LoadState": "loaded", "UnitFileState": "static", "ActiveState": "inactive", "Result": "success", "MainPID": "0",
		"ExecMainCode": "1", "ExecMainStatus": "0", "ExecMainExitTimestamp": "12:09"}
	but := func(m map[string]string, pairs ...string) map[string]string {
		m = maps.Clone(m)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	booted := at(10)
	booted.BootID, booted.Boot = "c", 40*time.Second
	back := at(10)
	back.Wall = back.Wall.Add(-2 * time.Hour)
	for _, row := range []struct {
		name           string
		timer, service map[string]string
		last, now      watchdog.Clock
		awake          time.Duration
		want           string
	}{
		{"not installed", but(active, "LoadState", "not-found", "ActiveState", "inactive"), ended, at(0), at(10), 0, "w.timer is not installed: `sudo cluster-watchdog install`"},
		{"masked", but(active, "LoadState", "masked", "ActiveState", "inactive"), ended, at(0), at(10), 0, "w.timer is masked: `systemctl unmask w.timer`"},
		{"the service is masked", active, but(ended, "LoadState", "masked"), at(0), at(10), 0, "w.service is masked: `systemctl unmask w.service`"},
		{"wrong", but(active, "LoadState", "bad-setting"), ended, at(0), at(10), 0, "systemd cannot use w.timer (bad-setting): see `systemctl status w.timer`"},
		{"not enabled", but(active, "UnitFileState", "disabled", "ActiveState", "inactive"), ended, at(0), at(10), 0, "w.timer is not enabled: `systemctl enable --now w.timer`"},
		{"stopped", but(active, "ActiveState", "inactive"), ended, at(0), at(10), 0, "w.timer is enabled, but inactive: `systemctl start w.timer`"},
		{"failed", but(active, "ActiveState", "failed", "Result", "resources"), ended, at(0), at(10), 0, "w.timer has failed (resources): see `systemctl status w.timer`, then `systemctl restart w.timer`"},
		{"Y03: active, and no next time", but(active, "NextElapseUSecRealtime", "", "NextElapseUSecMonotonic", "infinity"), ended, at(0), at(10), 0,
			"w.timer is active, but systemd has no next time for it: `systemctl restart w.timer`; see `systemctl cat w.timer` for an OnUnitActiveSec="},
		{"Y02: a run that hangs before it has the lock", active, but(ended, "ActiveState", "activating", "MainPID", "77", "InactiveExitTimestamp", "12:01"), at(0), at(10), 0,
			"w.service is still at work since 12:01 (pid 77), and the next look comes after it; `systemctl stop w.service` ends it"},
		{"just booted", active, but(ended, "ExecMainCode", "0"), at(0), booted, 0, "the machine booted 40s ago: the next look comes"},
		{"suspended", but(active, "LastTriggerUSecMonotonic", "30min"), ended, at(0), at(10), 31 * time.Minute, "the machine was suspended, and has run for 1m since the timer last fired: the next look comes"},
		{"wrong config", active, but(ended, "Result", "exit-code", "ExecMainStatus", "2"), at(0), at(10), 0, "w.timer fires, and the run of 12:09 ended with exit code 2, a wrong config: see `cluster-watchdog check`"},
		{"a fault", active, but(ended, "Result", "exit-code", "ExecMainStatus", "1"), at(0), at(10), 0, "w.timer fires, and the run of 12:09 ended with exit code 1: see `journalctl -u w.service`"},
		{"no program", active, but(ended, "Result", "exit-code", "ExecMainStatus", "203"), at(0), at(10), 0, "w.timer fires, and systemd could not begin the run of 12:09 (exit code 203): see `journalctl -u w.service`"},
		{"time limit", active, but(ended, "Result", "timeout", "ExecMainCode", "2", "ExecMainStatus", "15"), at(0), at(10), 0, "w.timer fires, and the run of 12:09 was ended by systemd's time limit: see `journalctl -u w.service`"},
		{"killed", active, but(ended, "Result", "oom-kill", "ExecMainCode", "2", "ExecMainStatus", "9"), at(0), at(10), 0, "w.timer fires, and the run of 12:09 was ended by signal 9 (oom-kill): see `journalctl -u w.service`"},
		{"another config", active, ended, at(0), at(10), 0, "w.timer fires, and the run of 12:09 ended with exit code 0 and saved no look here; does it use this config? See `systemctl cat w.service`"},
		{"no look ever", active, but(ended, "ExecMainCode", "0"), watchdog.Clock{}, at(10), 0, "w.timer is active and has not fired since it was started; its next time is Sun 2026-03-01 12:11:00 UTC"},
		{"the clock was set back", active, but(ended, "ExecMainCode", "0"), at(0), back, 0,
			"w.timer is active and has not fired since it was started; its next time is Sun 2026-03-01 12:11:00 UTC; the clock was set back by 2h since the last look"},
	} {
		w := timing{timer: "w.timer", service: "w.service", ofTimer: row.timer, ofService: row.service, last: row.last, now: row.now, awake: row.awake, stale: 3 * time.Minute}
		if got := w.words(); got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, got, row.want)
		}
	}
}

// A systemd that hangs holds status up for a moment only, and one that is not there not at all.
func TestWhyStaleAsks(t *testing.T) {
	s := &session{app: &app{configPath: "/etc/cluster-watchdog/two.yaml"}, config: defaultConfig()}
	if why := s.whyStale(nil, watchdog.Clock{}); why != "" {
		t.Errorf("without systemd: %q", why)
	}
	var asked []string
	s.host.systemctl = func(ctx context.Context, args ...string) (string, error) {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("it may ask for ever")
		}
		asked = append(asked, args[1])
		return "LoadState=not-found\nActiveState=inactive\n", nil
	}
	if why := s.whyStale(&state.Row{}, watchdog.Clock{}); !strings.HasPrefix(why, "cluster-watchdog@two.timer is not installed") {
		t.Errorf("says %q", why)
	}
	if got := strings.Join(asked, " "); got != "cluster-watchdog@two.timer cluster-watchdog@two.service" {
		t.Errorf("asked for %s", got)
	}
	s.host.systemctl = func(context.Context, ...string) (string, error) { return "", errors.New("it hangs") }
	if why := s.whyStale(nil, watchdog.Clock{}); why != "systemd does not say why: it hangs" {
		t.Errorf("says %q", why)
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{"1h 2min 3.5s": time.Hour + 2*time.Minute + 3500*time.Millisecond, "250ms": 250 * time.Millisecond,
		"1w 2d": 9 * 24 * time.Hour, "0": -1, "": -1, "infinity": -1, "3x": -1} {
		got, ok := parseSpan(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
