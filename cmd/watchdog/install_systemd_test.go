package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeSystemctl writes down each call, and whether the program still stands. The service runs for
// as many questions as the file "running" has lines.
const fakeSystemctl = `#!/bin/sh
set -eu
program=gone
[ ! -e "$PLACE/usr/local/bin/cluster-watchdog" ] || program=there
echo "$* ($program)" >>"$PLACE/calls"
case $1 in
show)
	if [ -s "$PLACE/running" ]; then
		sed -i 1d "$PLACE/running"
		echo activating
	else
		echo inactive
	fi ;;
list-units)
	for unit in $(cat "$PLACE/instances" 2>/dev/null); do
		case $unit in cluster-watchdog@*"${5#*@\*}") echo "$unit loaded active waiting" ;; esac
	done ;;
$REFUSES)
	echo "Failed to $1: no answer" >&2
	exit 1 ;;
esac
`

// liveMachine is a folder that stands for a machine where systemd runs.
func liveMachine(t *testing.T, configured bool) string {
	t.Helper()
	root, bin := t.TempDir(), t.TempDir()
	if configured {
		lay(t, root+defaultConfigPath, "container: mine\n")
	}
	lay(t, bin+"/systemctl", fakeSystemctl)
	if err := os.Chmod(bin+"/systemctl", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("PLACE", root)
	t.Setenv("REFUSES", "nothing")
	return root
}

// live installs or uninstalls there, and returns what was said and what systemctl was asked.
func live(ctx context.Context, t *testing.T, verb, root string) (said string, calls []string, err error) {
	t.Helper()
	var out bytes.Buffer
	i, err := newInstaller(&out, verb, "", "/usr/local", 0)
	if err != nil {
		t.Fatal(err)
	}
	i.root = root
	err = carryOut(ctx, i)
	text, _ := os.ReadFile(root + "/calls")
	_ = os.Remove(root + "/calls")
	for line := range strings.Lines(string(text)) {
		calls = append(calls, strings.TrimSpace(line))
	}
	for _, call := range calls {
		if strings.Contains(call, ".service") && !strings.HasPrefix(call, "show ") && !strings.HasPrefix(call, "list-units ") {
			t.Errorf("%s does something to the service: %s", verb, call)
		}
	}
	return out.String(), calls, err
}

// What systemd is asked of the units of more groups.
const (
	listTimers   = "list-units --all --plain --no-legend cluster-watchdog@*.timer (there)"
	listServices = "list-units --all --plain --no-legend cluster-watchdog@*.service (there)"
)

const showCall = "show --property=ActiveState --value cluster-watchdog.service (there)"

func TestOnlyTheTimerIsTouched(t *testing.T) {
	for _, row := range []struct {
		name          string
		configured    bool
		first, second string
		next          string
	}{
		{"without a config it is enabled, not started", false, "enable cluster-watchdog.timer (there)", "try-restart cluster-watchdog.timer (there)", "fill it in"},
		{"with a config it looks at once", true, "enable --now cluster-watchdog.timer (there)", "try-restart cluster-watchdog.timer (there)", "cluster-watchdog arm"},
	} {
		root := liveMachine(t, row.configured)
		lay(t, root+"/running", strings.Repeat("a restart\n", 2))
		said, calls, err := live(t.Context(), t, "install", root)
		if want := []string{"daemon-reload (there)", row.first}; err != nil || !slices.Equal(calls, want) {
			t.Errorf("%s: %q, %v", row.name, calls, err)
		}
		if !strings.Contains(said, "next: ") || !strings.Contains(said, row.next) {
			t.Errorf("%s: says\n%s", row.name, said)
		}
		_, calls, err = live(t.Context(), t, "install", root)
		if want := []string{"daemon-reload (there)", listTimers, row.second}; err != nil || !slices.Equal(calls, want) {
			t.Errorf("%s: the second time: %q, %v", row.name, calls, err)
		}
		said, calls, err = live(t.Context(), t, "uninstall", root)
		want := []string{listTimers, "disable --now cluster-watchdog.timer (there)", listServices, showCall, showCall, showCall, "daemon-reload (gone)"}
		if err != nil || !slices.Equal(calls, want) {
			t.Errorf("%s: uninstall: %q, %v", row.name, calls, err)
		}
		if strings.Count(said, "waiting for cluster-watchdog.service to end (activating)") != 1 {
			t.Errorf("%s: uninstall says\n%s", row.name, said)
		}
	}
}

// Each group's timer is restarted with its new settings and stopped before the program goes, and each
// group's restart is waited for.
func TestTimersOfMoreGroups(t *testing.T) {
	root := liveMachine(t, true)
	if _, _, err := live(t.Context(), t, "install", root); err != nil {
		t.Fatal(err)
	}
	lay(t, root+"/instances", "cluster-watchdog@a.timer\ncluster-watchdog@b-c.timer\ncluster-watchdog@a.service\n")
	_, calls, err := live(t.Context(), t, "install", root)
	if want := []string{"daemon-reload (there)", listTimers, "try-restart cluster-watchdog.timer cluster-watchdog@a.timer cluster-watchdog@b-c.timer (there)"}; err != nil || !slices.Equal(calls, want) {
		t.Errorf("install: %q, %v", calls, err)
	}
	_, calls, err = live(t.Context(), t, "uninstall", root)
	want := []string{listTimers, "disable --now cluster-watchdog.timer cluster-watchdog@a.timer cluster-watchdog@b-c.timer (there)", listServices, showCall,
		"show --property=ActiveState --value cluster-watchdog@a.service (there)", "daemon-reload (gone)"}
	if err != nil || !slices.Equal(calls, want) {
		t.Errorf("uninstall: %q, %v", calls, err)
	}
}

// Who does not want to wait finds everything as it was, but for the timer.
func TestUninstallInterrupted(t *testing.T) {
	root := liveMachine(t, true)
	if _, _, err := live(t.Context(), t, "install", root); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	ctx, cancel := context.WithCancel(t.Context())
	i, err := newInstaller(cancelOnWait{cancel}, "uninstall", "", "/usr/local", 0)
	if err != nil {
		t.Fatal(err)
	}
	i.root = root
	i.systemctl = func(context.Context, ...string) (string, error) { return "activating", nil }
	if err := i.uninstall(ctx); exitCode(err) != exitRefused || !strings.Contains(err.Error(), "nothing was removed") {
		t.Errorf("%v", err)
	}
	if after := tree(t, root); !slices.Equal(before, after) {
		t.Errorf("left: %q", after)
	}
}

// cancelOnWait is a person who types Ctrl-C when told to wait.
type cancelOnWait struct{ cancel func() }

func (c cancelOnWait) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "waiting for") {
		c.cancel()
	}
	return len(p), nil
}

func TestSystemdDoesNotAnswer(t *testing.T) {
	root := liveMachine(t, true)
	for _, row := range []struct{ verb, refuses string }{
		{"install", "daemon-reload"}, {"install", "try-restart"}, {"uninstall", "disable"},
	} {
		t.Setenv("REFUSES", row.refuses)
		_, _, err := live(t.Context(), t, row.verb, root)
		if exitCode(err) != exitFault || !strings.Contains(err.Error(), "no answer") || !strings.Contains(err.Error(), "run "+row.verb+" again") {
			t.Errorf("%s: %s refuses: %v", row.verb, row.refuses, err)
		}
		if !exists(root + "/usr/local/bin/cluster-watchdog") {
			t.Errorf("%s: the program is gone, and the timer may run", row.verb)
		}
	}
}

// The manual must name every command and every exit code.
func TestManualIsComplete(t *testing.T) {
	manual := read(t, "../../systemd/cluster-watchdog.8")
	commands, rest, _ := strings.Cut(manual[strings.Index(manual, ".SH COMMANDS"):], ".SH OPTIONS")
	for _, c := range newRoot(&app{}).Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		if !strings.Contains(commands, ".TP\n.B "+c.Name()+"\n") && !strings.Contains(commands, ".BR "+c.Name()+" \"") &&
			!strings.Contains(commands, ".BI \""+c.Name()+" ") {
			t.Errorf("the manual does not show %s", c.Name())
		}
	}
	for _, code := range []int{exitFine, exitFault, exitUsage, exitRefused, exitBroken, exitGivenUp, exitBusy} {
		if !strings.Contains(rest, fmt.Sprintf(".TP\n.B %d\n", code)) {
			t.Errorf("the manual does not show exit code %d", code)
		}
	}
}

func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readAll(r io.Reader) (string, error) {
	text, err := io.ReadAll(r)
	return string(text), err
}

func octal(mode fs.FileMode) string { return fmt.Sprintf("%04o", mode) }
