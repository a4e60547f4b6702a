package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// instance names the group whose own units, cluster-watchdog@NAME, use this config; empty: those
// without a name do.
func instance(configPath string) string {
	path, err := filepath.Abs(configPath)
	if err != nil || filepath.Dir(path) != filepath.Dir(defaultConfigPath) || path == defaultConfigPath {
		return ""
	}
	name, ok := strings.CutSuffix(filepath.Base(path), ".yaml")
	if !ok {
		return ""
	}
	return name
}

// timerOf is the timer that fires ticks with this config.
func timerOf(configPath string) string {
	if name := instance(configPath); name != "" {
		return installedName + "@" + name + ".timer"
	}
	return timerUnit
}

// ownNames stand in the state folder of the units without a name, where each instance has its own.
var ownNames = []string{"cases", "disarmed", "hung", "initialized", "lock", "saved"}

// refuseSharedState keeps a copied config from changing the state of the group it was copied from.
func refuseSharedState(configPath string, c Config) error {
	name := instance(configPath)
	if name == "" {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return codeError{exitUsage, fmt.Sprintf("cannot use %s for a group of its own: ", configPath) + fmt.Sprintf(format, args...)}
	}
	switch {
	case !groupShape.MatchString(name):
		return refuse("its name is that of %s: 1 to 32 of a-z, 0-9 and -", timerOf(configPath))
	case slices.Contains(ownNames, name):
		return refuse("%s stands in %s already: give it another name", name, defaultConfig().StateDir)
	case c.StateDir == defaultConfig().StateDir:
		return refuse("its state_dir is that of %s: say state_dir: %s", defaultConfigPath, filepath.Join(defaultConfig().StateDir, name))
	}
	return nil
}
