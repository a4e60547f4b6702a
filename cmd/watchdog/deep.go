package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"cluster-watchdog/restart"
)

// deep runs a check where the service would: in a transient unit with the settings of the installed
// one, read as they are on the disk with all drop-ins. It goes through systemd-run, which takes every
// setting in the very words of a unit file and says which it does not know; over D-Bus each would
// have to be turned into its own type here, and one that we do not know could not be passed at all.
type deep struct {
	*app
	config Config
	unit   string // the installed service
	name   string // the transient one
	set    settings
	run    func(ctx context.Context, in io.Reader, out, errs io.Writer, args []string) (code int, err error) // systemd-run
}

// deepLimit is when systemd ends a check that hangs.
const deepLimit = lookLimit + restart.ChecksLimit + time.Minute

// checkDeep runs `check` under the sandbox of the service and returns how it ended.
func (a *app) checkDeep(ctx context.Context) error {
	c, err := loadConfig(a.configPath)
	if err != nil {
		return err
	}
	d := &deep{app: a, config: c, unit: serviceOf(a.configPath), name: fmt.Sprintf("%s-check-%d.service", installedName, os.Getpid()), run: a.systemdRun}
	if err := d.possible(ctx); err != nil {
		return codeError{exitUsage, "cannot check under the sandbox of " + d.unit + ": " + err.Error()}
	}
	text, err := a.host.systemctl(ctx, "cat", d.unit)
	if err != nil {
		return err
	}
	if d.set, err = parseSettings(text, d.unit); err != nil {
		return fmt.Errorf("cannot read the settings of %s: %w", d.unit, err)
	}
	for _, w := range d.set.warnings {
		d.warn("%s", w)
	}
	program, err := d.program()
	if err != nil {
		return err
	}
	troubles, err := d.look(ctx, program)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "under the sandbox of %s:\n", d.unit)
	for _, t := range troubles {
		fmt.Fprintf(a.out, "FAILED  sandbox  %s\n", plain(t))
	}
	code, err := d.run(ctx, nil, a.out, a.errs, d.args([]string{program, "--config", d.configFile(), "check"}))
	switch {
	case ctx.Err() != nil: // it says so itself
		return codeError{code: exitRefused}
	case err != nil:
		return err
	case code == exitFine && len(troubles) > 0:
		return codeError{exitRefused, fmt.Sprintf("%s failed in the sandbox of %s", checksWords(len(troubles)), d.unit)}
	case code != exitFine:
		return codeError{code: code}
	}
	return nil
}

func serviceOf(configPath string) string {
	return strings.TrimSuffix(timerOf(configPath), ".timer") + ".service"
}

func (d *deep) configFile() string {
	if path, err := filepath.Abs(d.configPath); err == nil {
		return path
	}
	return d.configPath
}

func (d *deep) warn(format string, args ...any) {
	fmt.Fprintf(d.out, "warning: "+format+"\n", args...)
}

// possible says what is missing for it.
func (d *deep) possible(ctx context.Context) error {
	switch {
	case d.host.systemctl == nil:
		return errors.New("no systemd runs this machine; `cluster-watchdog check` checks without it")
	case os.Geteuid() != 0:
		return errors.New("only root may start a unit: use sudo")
	}
	out, err := d.host.systemctl(ctx, "show", d.unit, "--property=LoadState,NeedDaemonReload")
	if err != nil {
		return err
	}
	is := propertiesOf(out)
	switch load := is["LoadState"]; load {
	case "loaded":
	case "not-found":
		return errors.New("it is not installed: `sudo cluster-watchdog install`, or `cluster-watchdog check` without it")
	default:
		return fmt.Errorf("systemd cannot use it (%s): see `systemctl status %s`", load, d.unit)
	}
	if is["NeedDaemonReload"] == "yes" {
		d.warn("the files of %s have changed since systemd read them: checked is what they say now; `systemctl daemon-reload` makes it so for the service", d.unit)
	}
	return nil
}

// program is what the service runs, in place of whatever runs this check.
func (d *deep) program() (string, error) {
	starts := d.set.values["ExecStart"]
	if len(starts) != 1 {
		return "", fmt.Errorf("cannot tell the program of %s from %d lines ExecStart=: see `systemctl cat %s`", d.unit, len(starts), d.unit)
	}
	words := strings.Fields(starts[0])
	path := strings.TrimLeft(words[0], "-@:+!")
	if strings.ContainsAny(words[0][:len(words[0])-len(path)], "+!") {
		d.warn("ExecStart=%s runs with more rights than the check has here", starts[0])
	}
	if words[len(words)-1] != "tick" || filepath.Base(path) != installedName {
		return "", fmt.Errorf("cannot tell the program of %s: it runs %q, and no tick of %s: see `systemctl cat %s`", d.unit, starts[0], installedName, d.unit)
	}
	for i, w := range words[:len(words)-1] {
		if (w == "--config" || w == "-c") && words[i+1] != d.configFile() {
			d.warn("%s uses the config %s, and %s is checked", d.unit, words[i+1], d.configFile())
		}
	}
	return path, nil
}

// args are systemd-run's, for that command.
func (d *deep) args(command []string) []string {
	args := []string{"--unit=" + d.name, "--pipe", "--wait", "--collect", "--quiet", "--service-type=oneshot",
		"--description=Check under the sandbox of " + d.unit, fmt.Sprintf("--property=TimeoutStartSec=%d", int(deepLimit.Seconds()))}
	for _, s := range d.set.given {
		args = append(args, "--property="+s.name+"="+s.value)
	}
	return append(append(args, "--"), command...)
}

var notTaken = regexp.MustCompile(`(?:Unknown assignment: |Cannot set property |Unknown property |Failed to parse |Invalid setting )(\w+)`)

// look has the sandbox say what it sees of our files, and compares that with what is there. What
// this systemd does not take for a transient unit is named, and left out.
func (d *deep) look(ctx context.Context, program string) ([]string, error) {
	ask := d.config.viewAsk(d.configFile())
	for range len(d.set.given) + 1 {
		answer, said, err := d.view(ctx, program, ask)
		if err == nil {
			return d.troubles(ask, ask.look(), answer), nil
		}
		if ctx.Err() != nil {
			return nil, codeError{exitRefused, "interrupted; nothing was changed"}
		}
		not := notTaken.FindStringSubmatch(said)
		if not == nil || !d.set.leaveOut(not[1]) {
			return nil, fmt.Errorf("cannot run anything under the sandbox of %s: %w%s; the service cannot either: see `journalctl -u %s` for why", d.unit, err, behind(plain(strings.TrimSpace(said))), d.name)
		}
		d.warn("%s= of %s cannot be given to a transient unit by this systemd: checked without it", not[1], d.unit)
	}
	return nil, errors.New("internal error: no end of settings that are not taken")
}

// behind puts words behind a colon, where there are any.
func behind(words string) string {
	if words == "" {
		return ""
	}
	return ": " + words
}

// exitWords names the exit codes of systemd itself, see systemd.exec(5).
func exitWords(code int) string {
	step, ok := map[int]string{200: "WorkingDirectory=", 203: "the program", 216: "Group=", 217: "User=", 218: "CapabilityBoundingSet=", 219: "control groups", 222: "PAM", 225: "PrivateNetwork=",
		226: "a mount namespace", 227: "NoNewPrivileges=", 228: "SystemCallFilter=", 229: "SELinuxContext=", 231: "AppArmorProfile=", 233: "RuntimeDirectory=", 238: "StateDirectory=", 243: "credentials"}[code]
	if !ok {
		return fmt.Sprintf("exit code %d", code)
	}
	return fmt.Sprintf("systemd cannot set up %s (exit code %d)", step, code)
}

// view runs sandbox-view in the sandbox. While it waits, systemd is asked what has become of the
// settings.
func (d *deep) view(ctx context.Context, program string, ask viewAsk) (viewAnswer, string, error) {
	question, err := json.Marshal(ask)
	if err != nil {
		return nil, "", err
	}
	in, toIt, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	fromIt, out, err := os.Pipe()
	if err != nil {
		return nil, "", errors.Join(err, in.Close(), toIt.Close())
	}
	defer func() { _, _ = in.Close(), fromIt.Close() }()
	var said bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		code, err := d.run(ctx, in, out, &said, d.args([]string{program, viewCommandName}))
		if err == nil && code != exitFine {
			err = errors.New(exitWords(code))
		}
		_ = out.Close() // nobody else holds it any more: that is the end of the answer
		ended <- err
	}()
	_, _ = toIt.Write(append(question, '\n')) // less than a pipe takes
	var answer viewAnswer
	decodeErr := json.NewDecoder(fromIt).Decode(&answer)
	if decodeErr == nil {
		d.compare(ctx)
	}
	_ = toIt.Close()
	err = <-ended
	if err == nil && decodeErr != nil {
		err = decodeErr
	}
	return answer, said.String(), err
}

// systemdRun runs systemd-run, in a process group of its own: a Ctrl-C is ours, and ends the unit.
func (a *app) systemdRun(ctx context.Context, in io.Reader, out, errs io.Writer, args []string) (int, error) {
	unit := strings.TrimPrefix(args[0], "--unit=")
	cmd := exec.CommandContext(ctx, "systemd-run", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		stop, cancel := context.WithTimeout(context.Background(), unitStop)
		defer cancel()
		_, err := a.host.systemctl(stop, "stop", unit)
		return err
	}
	cmd.WaitDelay = unitStop + time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return exitFault, fmt.Errorf("cannot run systemd-run: %w", err)
	}
	return exitFine, nil
}
