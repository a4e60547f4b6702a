package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// viewCommandName is for ourselves: what a sandbox sees.
const viewCommandName = "sandbox-view"

// viewAsk is what we want to know of a sandbox.
type viewAsk struct {
	Files    []viewFile
	Hook     string // the program of notify.command; empty: not asked
	HookUser string
}

type viewFile struct {
	What, Path string
	Write      bool // into this folder
}

// viewAnswer is what is wrong, by path or "hook"; what is not in it is fine.
type viewAnswer map[string]viewTrouble

type viewTrouble struct {
	Errno syscall.Errno
	Text  string
}

// viewHook is the key of notify.command in an answer.
const viewHook = "hook"

// viewAsk lists what the service reads and writes here.
func (c Config) viewAsk(configFile string) viewAsk {
	ask := viewAsk{HookUser: c.HookUser(), Files: []viewFile{{What: "config", Path: configFile}}}
	read := func(what string, paths ...string) {
		for _, p := range paths {
			if f := (viewFile{What: what, Path: p}); p != "" && !slices.Contains(ask.Files, f) { // nodes share their keys
				ask.Files = append(ask.Files, f)
			}
		}
	}
	nodes, targets := connect(c)
	defer nodes.Close()
	read("key", c.SSH.Keys...)
	for _, t := range targets {
		for at := &t; at != nil; at = at.Via {
			read("key", at.Keys...)
		}
	}
	read("known_hosts", c.SSH.KnownHosts)
	read("ssh_config", c.SSH.SSHConfig)
	read("server.ca_file", c.Server.CAFile)
	read("server.api_key_file", c.Server.APIKeyFile)
	for _, f := range []viewFile{{"state_dir", c.StateDir, true}, {"log_dir", c.LogDir, true}, {"the folder of acting_lock", filepath.Dir(c.ActingLock), true}} {
		if f.Path != "" {
			ask.Files = append(ask.Files, f)
		}
	}
	if words := strings.Fields(c.Notify.Command); len(words) > 0 && !strings.ContainsAny(words[0], "=$\"'`(){};&|<>*?[~#!\\") {
		ask.Hook = words[0]
	}
	return ask
}

// look answers, as whoever asks here may see it.
func (ask viewAsk) look() viewAnswer {
	answer := viewAnswer{}
	for _, f := range ask.Files {
		err := f.try()
		if err == nil {
			continue
		}
		t := viewTrouble{Text: err.Error()}
		errors.As(err, &t.Errno)
		answer[f.Path] = t
	}
	if ask.Hook != "" {
		s := &session{app: &app{}}
		s.config.Notify.User = ask.HookUser
		if err := s.runHook(fmt.Sprintf(findHook, ask.Hook), "", hookLookup); err != nil {
			answer[viewHook] = viewTrouble{Text: err.Error()}
		}
	}
	return answer
}

// findHook finds a program as a shell would, and asks whether it may be executed. A builtin needs no file.
const findHook = `p=$(command -v -- %s) || { echo "not found" >&2; exit 1; }; case $p in /*) test -x "$p" || { echo "$p may not be executed" >&2; exit 1; } ;; esac`

// hookLookup is for a shell that looks for a program.
const hookLookup = 10 * time.Second

var errEmpty = errors.New("there is an empty file")

// try reads a byte, or asks whether it may write. Nothing is changed.
func (f viewFile) try() error {
	if f.Write {
		return unix.Access(f.Path, unix.W_OK|unix.X_OK)
	}
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return reasonOf(err)
	}
	defer file.Close()
	_, err = file.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) { // what systemd puts in the place of a file that it hides
		return errEmpty
	}
	return reasonOf(err)
}

// viewCommand answers one question on stdin, and waits until it is closed: so long its sandbox can be
// looked at.
func viewCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    viewCommandName,
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			in := bufio.NewReader(a.in)
			line, err := in.ReadBytes('\n')
			if err != nil {
				return err
			}
			var ask viewAsk
			if err := json.Unmarshal(line, &ask); err != nil {
				return err
			}
			if err := json.NewEncoder(a.out).Encode(ask.look()); err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, in)
			return err
		},
	}
}
