package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// askSystemd bounds what status waits for systemd: it must also answer on a machine in trouble.
const askSystemd = 3 * time.Second

// endedEarly says how a run ended that came to no look, where that is newer than the last look.
func (s *session) endedEarly(last []state.Row) (string, error) {
	deeds, err := s.past.Deeds()
	if err != nil {
		return "", err
	}
	for _, d := range slices.Backward(deeds) {
		switch {
		case len(last) > 0 && last[0].At.After(d.At):
			return "", nil
		case d.Kind == deedInterrupted:
			return fmt.Sprintf("the run of %s was %s", timeWords(d.At.Wall), d.Text), nil
		case d.Kind == deedHung, d.Kind == deedKilled:
			return d.Text, nil
		}
	}
	return "", nil
}

// whyStale says why no look came for three periods, as far as systemd and the clocks tell; "" where
// there is no systemd. last may be nil.
func (s *session) whyStale(last *state.Row, now watchdog.Clock) string {
	if s.host.systemctl == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), askSystemd)
	defer cancel()
	timer := timerOf(s.configPath)
	w := timing{timer: timer, service: serviceOf(s.configPath), now: now, awake: awake(), stale: stalePeriods * s.config.Period}
	if last != nil {
		w.last = last.At
	}
	ask := func(unit string) (map[string]string, error) {
		out, err := s.host.systemctl(ctx, "show", unit, "--property="+strings.Join(timingAsked, ","))
		return propertiesOf(out), err
	}
	var err error
	if w.ofTimer, err = ask(w.timer); err == nil {
		w.ofService, err = ask(w.service)
	}
	if err != nil {
		return "systemd does not say why: " + err.Error()
	}
	return w.words()
}

var timingAsked = []string{"LoadState", "UnitFileState", "ActiveState", "Result", "MainPID", "ExecMainCode", "ExecMainStatus", "ExecMainExitTimestamp",
	"InactiveExitTimestamp", "NextElapseUSecRealtime", "NextElapseUSecMonotonic", "LastTriggerUSecMonotonic"}

// propertiesOf takes the answer of systemctl show apart.
func propertiesOf(out string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			all[key] = value
		}
	}
	return all
}

// systemdRuns says whether systemd is this machine's init, as sd_booted(3) tells it.
func systemdRuns() bool {
	info, err := os.Lstat("/run/systemd/system")
	return err == nil && info.IsDir()
}

// awake is how long this machine has run since its boot, without the time it was suspended.
func awake() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
