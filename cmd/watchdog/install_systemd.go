package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// systemctlDeadline is for a systemd that does not answer.
const systemctlDeadline = time.Minute

// startTimer lets systemd know. Only the timer is touched, never the service: a restart that runs
// goes on with the program and the unit it began with.
func (i installer) startTimer(ctx context.Context, first bool) error {
	if i.systemctl == nil {
		return nil
	}
	if err := i.tell(ctx, "daemon-reload"); err != nil {
		return err
	}
	switch configured := exists(i.at(defaultConfigPath)); {
	case !first: // a timer that a person has stopped or disabled stays so
		timers, err := i.instances(ctx, ".timer")
		if err != nil {
			return err
		}
		return i.tell(ctx, append([]string{"try-restart", timerUnit}, timers...)...)
	case !configured: // without a config each look would end in exit code 2
		return i.tell(ctx, "enable", timerUnit)
	default:
		return i.tell(ctx, "enable", "--now", timerUnit)
	}
}

// instances names the units of more groups that systemd knows here, each an instance of a template.
func (i installer) instances(ctx context.Context, ending string) ([]string, error) {
	out, err := i.systemctl(ctx, "list-units", "--all", "--plain", "--no-legend", installedName+"@*"+ending)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, installedName+"@") && strings.HasSuffix(name, ending) {
			names = append(names, name)
		}
	}
	return names, nil
}

// tell has systemd do something, and says so.
func (i installer) tell(ctx context.Context, args ...string) error {
	words := "systemctl " + strings.Join(args, " ")
	if _, err := i.systemctl(ctx, args...); err != nil {
		return fmt.Errorf("%w: see to that, then run %s again; it can be repeated", err, i.verb)
	}
	fmt.Fprintln(i.out, "ran       "+words)
	return nil
}

func systemctl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, systemctlDeadline)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", args...).Output()
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("cannot run systemctl %s: %s", strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	return "", fmt.Errorf("cannot run systemctl %s: %w", strings.Join(args, " "), err)
}
