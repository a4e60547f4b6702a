package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

// timing is what systemd and the clocks know of a timer whose looks stay away.
type timing struct {
	timer, service     string
	ofTimer, ofService map[string]string // properties
	last, now          watchdog.Clock    // of the last look, zero: none; and now
	awake              time.Duration     // since the boot, without suspends
	stale              time.Duration     // from then on a look is overdue
}

// words say why, and what to do: the first of these that fits.
func (w timing) words() string {
	why := w.unitsWords()
	if why == "" {
		why = w.clocksWords()
	}
	if why == "" {
		why = w.lastRunWords()
	}
	if jump := w.jump(); jump != 0 {
		way := "forward"
		if jump < 0 {
			way, jump = "back", -jump
		}
		why += fmt.Sprintf("; the clock was set %s by %s since the last look", way, briefDuration(jump.Round(time.Second)))
	}
	return why
}

// unitsWords say what keeps the timer from firing, "" where nothing does.
func (w timing) unitsWords() string {
	timer, service := w.ofTimer, w.ofService
	if service["ActiveState"] == "activating" {
		return fmt.Sprintf("%s is still at work since %s (pid %s), and the next look comes after it; `systemctl stop %s` ends it",
			w.service, orUnknown(service["InactiveExitTimestamp"]), service["MainPID"], w.service)
	}
	for _, u := range []struct {
		name string
		is   map[string]string
	}{{w.timer, timer}, {w.service, service}} {
		switch load := u.is["LoadState"]; load {
		case "not-found":
			return fmt.Sprintf("%s is not installed: `sudo cluster-watchdog install`", u.name)
		case "masked":
			return fmt.Sprintf("%s is masked: `systemctl unmask %s`", u.name, u.name)
		case "loaded":
		default:
			return fmt.Sprintf("systemd cannot use %s (%s): see `systemctl status %s`", u.name, orUnknown(load), u.name)
		}
	}
	switch active := timer["ActiveState"]; {
	case active == "failed":
		return fmt.Sprintf("%s has failed (%s): see `systemctl status %s`, then `systemctl restart %s`", w.timer, timer["Result"], w.timer, w.timer)
	case active != "active" && !strings.HasPrefix(timer["UnitFileState"], "enabled"):
		return fmt.Sprintf("%s is not enabled: `systemctl enable --now %s`", w.timer, w.timer)
	case active != "active":
		return fmt.Sprintf("%s is enabled, but %s: `systemctl start %s`", w.timer, orUnknown(active), w.timer)
	case !elapses(timer["NextElapseUSecRealtime"]) && !elapses(timer["NextElapseUSecMonotonic"]):
		return fmt.Sprintf("%s is active, but systemd has no next time for it: `systemctl restart %s`; see `systemctl cat %s` for an OnUnitActiveSec=", w.timer, w.timer, w.timer)
	}
	return ""
}

// elapses says whether a property is a time that will come.
func elapses(next string) bool {
	return next != "" && next != "infinity" && next != "0" && next != "n/a"
}

// clocksWords say where the machine itself was away.
func (w timing) clocksWords() string {
	if w.last.IsZero() {
		return ""
	}
	if w.last.BootID != w.now.BootID && w.now.Boot < w.stale {
		return fmt.Sprintf("the machine booted %s ago: the next look comes", briefDuration(w.now.Boot.Round(time.Second)))
	}
	since := w.now.Since(w.last)
	trigger, ok := parseSpan(w.ofTimer["LastTriggerUSecMonotonic"])
	if ok && trigger > 0 && w.awake > trigger && w.awake-trigger < w.stale && w.last.BootID == w.now.BootID {
		if ran := w.awake - trigger; since-ran > w.stale && w.now.Boot-w.awake > w.stale { // it slept that long, at some time
			return fmt.Sprintf("the machine was suspended, and has run for %s since the timer last fired: the next look comes", briefDuration(ran.Round(time.Second)))
		}
	}
	return ""
}

// lastRunWords say how the last run ended, where the timer does fire.
func (w timing) lastRunWords() string {
	s := w.ofService
	at := ""
	if t := s["ExecMainExitTimestamp"]; t != "" {
		at = " of " + t
	}
	see := fmt.Sprintf("see `journalctl -u %s`", w.service)
	code, _ := strconv.Atoi(s["ExecMainStatus"])
	switch result := s["Result"]; {
	case result == "timeout":
		return fmt.Sprintf("%s fires, and the run%s was ended by systemd's time limit: %s", w.timer, at, see)
	case s["ExecMainCode"] == "0" || s["ExecMainCode"] == "":
		if result != "success" && result != "" {
			return fmt.Sprintf("%s fires, and the run could not begin (%s): %s", w.timer, result, see)
		}
		return fmt.Sprintf("%s is active and has not fired since it was started; its next time is %s", w.timer, orUnknown(w.ofTimer["NextElapseUSecRealtime"]))
	case s["ExecMainCode"] != "1": // CLD_EXITED
		return fmt.Sprintf("%s fires, and the run%s was ended by signal %d (%s): %s", w.timer, at, code, result, see)
	case code == exitUsage:
		return fmt.Sprintf("%s fires, and the run%s ended with exit code 2, a wrong config: see `cluster-watchdog check`", w.timer, at)
	case code >= 200:
		return fmt.Sprintf("%s fires, and systemd could not begin the run%s (exit code %d): %s", w.timer, at, code, see)
	case result != "success":
		return fmt.Sprintf("%s fires, and the run%s ended with exit code %d: %s", w.timer, at, code, see)
	default:
		return fmt.Sprintf("%s fires, and the run%s ended with exit code %d and saved no look here; does it use this config? See `systemctl cat %s`", w.timer, at, code, w.service)
	}
}

// jumpLeast is more than a time server corrects at once.
const jumpLeast = 10 * time.Second

// jump is by how much the wall clock was set since the last look.
func (w timing) jump() time.Duration {
	if w.last.IsZero() || w.last.BootID != w.now.BootID {
		return 0
	}
	jump := w.now.Wall.Sub(w.last.Wall) - (w.now.Boot - w.last.Boot)
	if jump.Abs() < jumpLeast {
		return 0
	}
	return jump
}

// spanUnits are systemd's words for lengths of time.
var spanUnits = map[string]time.Duration{"y": 31557600 * time.Second, "month": 2629800 * time.Second, "w": 7 * 24 * time.Hour, "d": 24 * time.Hour,
	"h": time.Hour, "min": time.Minute, "s": time.Second, "ms": time.Millisecond, "us": time.Microsecond}

// parseSpan reads a time as systemd prints it: "1h 2min 3.5s".
func parseSpan(text string) (sum time.Duration, ok bool) {
	for _, word := range strings.Fields(text) {
		at := strings.IndexFunc(word, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if at < 1 {
			return 0, false
		}
		n, err := strconv.ParseFloat(word[:at], 64)
		unit, known := spanUnits[word[at:]]
		if err != nil || !known {
			return 0, false
		}
		sum += time.Duration(n * float64(unit))
	}
	return sum, text != ""
}
