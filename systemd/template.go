package systemd

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Unit is one unit as it is installed, but for the place of Program.
type Unit struct {
	Name string
	Text []byte
}

// change is one line of a unit that says something else in its template.
type change struct{ line, template string }

// templates are the units that one more group has of its own, as cluster-watchdog@NAME.timer: the
// units themselves but for these lines.
var templates = []struct {
	of, name string
	changes  []change
}{
	{"cluster-watchdog.service", "cluster-watchdog@.service", []change{
		{"# One look at the cluster, and a restart where one is due. Started by cluster-watchdog.timer.",
			"# One look at one more group, and a restart where one is due. Started by cluster-watchdog@NAME.timer.\n" +
				"# Its config is /etc/cluster-watchdog/NAME.yaml, with state_dir: /var/lib/cluster-watchdog/NAME."},
		{"# Change a line with `systemctl edit cluster-watchdog.service`, never in this file.",
			"# Change a line with `systemctl edit cluster-watchdog@.service` for all groups, or with\n" +
				"# `systemctl edit cluster-watchdog@NAME.service` for one, never in this file."},
		{"Description=Watchdog of a multi-node LLM server (one look)", "Description=Watchdog of the multi-node LLM server %i (one look)"},
		{"OnFailure=cluster-watchdog-notice.service", "OnFailure=cluster-watchdog-notice@%i.service"},
		{"ExecStart=" + Program + " tick", "ExecStart=" + Program + " --config /etc/cluster-watchdog/%i.yaml tick"},
		{"StateDirectory=cluster-watchdog", "StateDirectory=cluster-watchdog/%i"},
		{"LoadCredential=api-key:/etc/cluster-watchdog/api-key", "LoadCredential=api-key:/etc/cluster-watchdog/%i.api-key"},
	}},
	{"cluster-watchdog.timer", "cluster-watchdog@.timer", []change{
		{"# Starts cluster-watchdog.service every minute. Enable this unit, not the service:",
			"# Starts cluster-watchdog@NAME.service every minute. Enable this unit, not the service:"},
		{"#   systemctl enable --now cluster-watchdog.timer", "#   systemctl enable --now cluster-watchdog@NAME.timer"},
		{"Description=Watchdog of a multi-node LLM server (every minute)", "Description=Watchdog of the multi-node LLM server %i (every minute)"},
	}},
	{"cluster-watchdog-notice.service", "cluster-watchdog-notice@.service", []change{
		{"# Says loudly in the journal that a tick failed. Started by OnFailure= of cluster-watchdog.service.",
			"# Says loudly in the journal that a tick failed. Started by OnFailure= of cluster-watchdog@NAME.service."},
		{"# To be told otherwise, `systemctl edit cluster-watchdog-notice.service` and add an ExecStart=.",
			"# To be told otherwise, `systemctl edit cluster-watchdog-notice@.service` and add an ExecStart=."},
		{"Description=Notice that the watchdog of the LLM server failed", "Description=Notice that the watchdog of the LLM server %i failed"},
		{"ExecStart=-/usr/bin/logger -t cluster-watchdog -p daemon.crit \"the watchdog itself failed (${MONITOR_SERVICE_RESULT} ${MONITOR_EXIT_STATUS}): nothing watches the LLM server; see `journalctl -u cluster-watchdog.service`\"",
			"ExecStart=-/usr/bin/logger -t cluster-watchdog -p daemon.crit \"the watchdog itself failed (${MONITOR_SERVICE_RESULT} ${MONITOR_EXIT_STATUS}): nothing watches the LLM server %i; see `journalctl -u cluster-watchdog@%i.service`\""},
	}},
}

// Units returns every unit, sorted by name, the templates among them. It fails where a unit does not
// hold a line exactly once that its template has to change.
func Units() ([]Unit, error) {
	services, _ := fs.Glob(Files, "*.service") // the pattern is good
	timers, _ := fs.Glob(Files, "*.timer")
	var all []Unit
	for _, name := range slices.Concat(services, timers) {
		text, err := Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, Unit{name, text})
	}
	for _, t := range templates {
		text, err := Files.ReadFile(t.of)
		if err != nil {
			return nil, err
		}
		for _, c := range t.changes {
			line, template := []byte("\n"+c.line+"\n"), []byte("\n"+c.template+"\n")
			whole := append([]byte("\n"), text...)
			if n := bytes.Count(whole, line); n != 1 {
				return nil, fmt.Errorf("internal error: %s holds %d times the line %q", t.of, n, c.line)
			}
			text = bytes.Replace(whole, line, template, 1)[1:]
		}
		all = append(all, Unit{t.name, text})
	}
	slices.SortFunc(all, func(a, b Unit) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
