package fakenode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// when says, in the words of a shell's case, in which calls a program is played at all; in all
// others the machine's own runs at once. Programs that are not listed are always played.
var when = map[string]string{
	"awk":  `case "$*" in */proc/meminfo* | */proc/net/tcp*) `,
	"cat":  onlyBadMounts,
	"stat": onlyBadMounts,
	"head": onlyBadMounts,
	"df":   `case ",$` + EnvFaults + `," in *,` + MountHangs + `,* | *,` + MountStale + `,* | *,` + DiskFull + `,*) `,
}

const onlyBadMounts = `case ",$` + EnvFaults + `," in *,` + MountHangs + `,* | *,` + MountStale + `,* | *,` + MountSlow + `,*) `

// Install puts the programs into the node's bin, each a small wrapper around the executable that
// plays them.
func (n Node) Install(executable string, args []string) error {
	words := []string{"exec", quote(executable)}
	for _, arg := range args {
		words = append(words, quote(arg))
	}
	play := strings.Join(words, " ")
	for _, name := range Programs() {
		body := fmt.Sprintf("#!/bin/sh\n%s %s \"$@\"\n", play, name)
		if condition, ok := when[name]; ok {
			own, err := ownProgram(name)
			if err != nil {
				return err
			}
			body = fmt.Sprintf("#!/bin/sh\n%s%s %s \"$@\" ;; esac\nexec %s \"$@\"\n", condition, play, name, quote(own))
		}
		if err := os.WriteFile(filepath.Join(n.Bin(), name), []byte(body), 0o700); err != nil {
			return fmt.Errorf("cannot install the simulated programs: %w", err)
		}
	}
	return nil
}

// Check tells whether the executable can be run at all.
func Check(executable string) error {
	info, err := os.Stat(executable)
	if err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
		err = errors.New("it is not executable")
	}
	if err != nil {
		return fmt.Errorf("cannot use %s for the programs of the simulated nodes: %w", executable, err)
	}
	return nil
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
