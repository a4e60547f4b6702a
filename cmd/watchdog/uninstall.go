package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func uninstallCommand(a *app) *cobra.Command {
	var root, prefix string
	c := &cobra.Command{
		Use:   "uninstall [--prefix DIR] [--root DIR]",
		Short: "Stop the timer, wait for a running look or restart to end, remove what install put; config and state stay",
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := newInstaller(a.out, "uninstall", root, prefix, os.Geteuid())
			if err != nil {
				return err
			}
			return i.uninstall(c.Context())
		},
	}
	placeFlags(c, &root, &prefix)
	return c
}

// uninstall can be repeated, and continues where an earlier one was cut off.
func (i installer) uninstall(ctx context.Context) error {
	if err := i.refuseOther(); err != nil {
		return err
	}
	files, err := i.files(nil)
	if err != nil {
		return err
	}
	if i.systemctl != nil {
		if err := i.stopTimers(ctx); err != nil {
			return err
		}
	}
	removed, err := i.remove(files)
	if err != nil {
		return err
	}
	if i.systemctl != nil {
		if err := i.tell(ctx, "daemon-reload"); err != nil {
			return err
		}
	}
	if removed == 0 {
		fmt.Fprintf(i.out, "nothing of %s was here\n", i.program())
		return nil
	}
	fmt.Fprintf(i.out, "next: nothing watches the LLM server now; config (%s) and state (%s, or state_dir of the config) were left alone: delete them when you no longer want them\n",
		i.at(filepath.Dir(defaultConfigPath)), i.at(defaultConfig().StateDir))
	return nil
}

// refuseOther refuses where the units are another installation's.
func (i installer) refuseOther() error {
	program := i.startedBy(i.units())
	if program != "" && program != i.program() {
		return i.refuse(i.units(), program)
	}
	if program == "" && !i.isPackage() && i.startedBy(packageUnits) != "" {
		return i.refuse(packageUnits, i.startedBy(packageUnits))
	}
	return nil
}

// stopTimers keeps new looks from starting, of all groups, and waits for those that run.
func (i installer) stopTimers(ctx context.Context) error {
	if exists(i.at(i.units() + "/" + timerUnit)) {
		timers, err := i.instances(ctx, ".timer")
		if err != nil {
			return err
		}
		if err := i.tell(ctx, append([]string{"disable", "--now", timerUnit}, timers...)...); err != nil {
			return err
		}
	}
	services, err := i.instances(ctx, ".service")
	if err != nil {
		return err
	}
	for _, service := range append([]string{serviceUnit}, services...) {
		if err := i.waitForService(ctx, service); err != nil {
			return err
		}
	}
	return nil
}

const (
	serviceWait = unitTimeout + time.Minute // systemd itself ends it before
	servicePoll = 500 * time.Millisecond
)

// waitForService waits until no look or restart runs. It is never stopped: it could be between
// removing the old containers and launching new ones.
func (i installer) waitForService(ctx context.Context, service string) error {
	over := time.NewTimer(serviceWait)
	defer over.Stop()
	for told := false; ; told = true {
		now, err := i.systemctl(ctx, "show", "--property=ActiveState", "--value", service)
		if err != nil {
			return err
		}
		if now == "inactive" || now == "failed" {
			return nil
		}
		if !told {
			fmt.Fprintf(i.out, "waiting for %s to end (%s); `%s status` shows where it is\n", service, now, i.program())
		}
		select {
		case <-ctx.Done():
			return codeError{exitRefused, fmt.Sprintf("cannot uninstall while %s runs: nothing was removed, the timer is stopped: run uninstall again", service)}
		case <-over.C:
			return codeError{exitBusy, fmt.Sprintf("cannot uninstall: %s still runs after %s: see `systemctl status %s`, then run uninstall again", service, serviceWait, service)}
		case <-time.After(servicePoll):
		}
	}
}

// remove removes the files, the program last, and then our own folders where they are empty.
func (i installer) remove(files []installed) (removed int, err error) {
	for _, f := range slices.Backward(files) {
		switch problem := os.Remove(i.at(f.path)); {
		case problem == nil:
			removed++
			fmt.Fprintln(i.out, "removed   "+i.at(f.path))
		case !errors.Is(problem, fs.ErrNotExist):
			err = errors.Join(err, fmt.Errorf("cannot remove %s: %w", i.at(f.path), problem))
		}
	}
	for _, folder := range i.ownFolders(files) {
		if os.Remove(i.at(folder)) == nil {
			fmt.Fprintln(i.out, "removed   "+i.at(folder))
		}
	}
	return removed, err
}

// ownFolders are those that only we use, the innermost first.
func (i installer) ownFolders(files []installed) []string {
	own := []string{filepath.Dir(defaultConfigPath), i.docs()}
	for _, f := range files {
		for folder := filepath.Dir(f.path); strings.HasPrefix(folder, i.docs()+"/"); folder = filepath.Dir(folder) {
			own = append(own, folder)
		}
	}
	slices.Sort(own)
	own = slices.Compact(own)
	slices.Reverse(own)
	return own
}
