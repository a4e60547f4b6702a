package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"
)

func installCommand(a *app) *cobra.Command {
	var root, prefix string
	c := &cobra.Command{
		Use:   "install [--prefix DIR] [--root DIR]",
		Short: "Put this program, its units and its manual in place; config, state and a running restart are left alone",
		RunE: func(c *cobra.Command, _ []string) error {
			i, err := newInstaller(a.out, "install", root, prefix, os.Geteuid())
			if err != nil {
				return err
			}
			return i.install(c.Context())
		},
	}
	placeFlags(c, &root, &prefix)
	return c
}

func placeFlags(c *cobra.Command, root, prefix *string) {
	c.Flags().StringVar(prefix, "prefix", "/usr/local", "the program goes into DIR/bin; /usr is for packages")
	c.Flags().StringVar(root, "root", "", "work below this folder, without systemd (to prepare a package or an image)")
}

// installer installs and uninstalls.
type installer struct {
	layout
	out  io.Writer
	verb string
	// systemctl is nil where nothing runs: below --root.
	systemctl func(ctx context.Context, args ...string) (string, error)
}

func newInstaller(out io.Writer, verb, root, prefix string, uid int) (installer, error) {
	l, err := newLayout(root, prefix)
	if err != nil {
		return installer{}, err
	}
	i := installer{layout: l, out: out, verb: verb}
	if root != "" {
		return i, nil
	}
	if uid != 0 {
		return installer{}, codeError{exitRefused, fmt.Sprintf("cannot %s: it changes %s and %s, which belong to root: run it with sudo, or below a folder of your own with --root DIR", verb, l.units(), prefix)}
	}
	i.systemctl = systemctl
	return i, nil
}

// install can be repeated, and continues where an earlier one was cut off. It needs no lock: each
// file is replaced in one instant, and a look that runs keeps the program it began with.
func (i installer) install(ctx context.Context) error {
	if err := i.refuseSecond(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find the program that is to be installed: %w", err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return fmt.Errorf("cannot read the program that is to be installed: %w", err)
	}
	files, err := i.files(program)
	if err != nil {
		return err
	}
	first := !exists(i.at(i.units() + "/" + timerUnit))
	for _, f := range files {
		if err := i.put(f); err != nil {
			return err
		}
	}
	if err := makeFolder(i.at(filepath.Dir(defaultConfigPath))); err != nil {
		return err
	}
	if err := i.startTimer(ctx, first); err != nil {
		return err
	}
	i.sayNext(first)
	return nil
}

// refuseSecond refuses a second installation beside another: the units of one hide the other's.
func (i installer) refuseSecond() error {
	for _, folder := range []string{localUnits, packageUnits} {
		program := i.startedBy(folder)
		if program == "" || folder == i.units() && program == i.program() {
			continue
		}
		return i.refuse(folder, program)
	}
	return nil
}

func (i installer) refuse(folder, program string) error {
	hint := "`" + program + " uninstall --prefix " + filepath.Dir(filepath.Dir(program)) + "` removes that one"
	if folder == packageUnits {
		hint = "it came as a package, which `apt remove cluster-watchdog` removes"
	}
	return codeError{exitRefused, fmt.Sprintf("cannot %s %s: %s/%s starts another one, %s: %s", i.verb, i.program(), folder, serviceUnit, program, hint)}
}

// put replaces a file in one instant, and only where it differs.
func (i installer) put(f installed) error {
	path := i.at(f.path)
	old, err := os.ReadFile(path)
	if info, statErr := os.Lstat(path); err == nil && statErr == nil && info.Mode() == f.mode && bytes.Equal(old, f.content) {
		fmt.Fprintln(i.out, "same      "+path)
		return nil
	}
	word := "installed "
	if err == nil {
		word = "replaced  "
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	if err := replace(path, f.content, f.mode); err != nil {
		return fmt.Errorf("cannot install %s: %w", path, err)
	}
	fmt.Fprintln(i.out, word+path)
	return nil
}

func replace(path string, content []byte, mode fs.FileMode) error {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }()
	if _, err := file.Write(content); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// makeFolder makes a folder that everyone can read, whatever the umask; existing ones stay as they are.
func makeFolder(path string) error {
	if exists(path) {
		return nil
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder %s: %w", path, err)
	}
	return os.Chmod(path, 0o755)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (i installer) sayNext(first bool) {
	say := func(words string) { fmt.Fprintln(i.out, "next: "+words) }
	switch configured := exists(i.at(defaultConfigPath)); {
	case i.systemctl == nil:
		say("nothing was started; on the machine itself: systemctl daemon-reload && systemctl enable --now " + timerUnit)
	case !configured:
		say("cp " + i.docs() + "/config.example.yaml " + defaultConfigPath + ", and fill it in")
		say(installedName + " check")
		say("systemctl enable --now " + timerUnit + "   (it looks, and does not act)")
		say(installedName + " arm   (from then on it may act)")
	case first:
		say(installedName + " check, then " + installedName + " arm")
	default:
		say(installedName + " status")
	}
}
