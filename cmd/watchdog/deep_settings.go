package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
)

// unitSetting is one line of a unit.
type unitSetting struct{ name, value string }

// settings are those of a service, in their order, with its drop-ins.
type settings struct {
	values   map[string][]string // all of [Service], as they stand in the end
	given    []unitSetting       // what a transient unit gets
	warnings []string
}

// notForCheck are settings about when and how often a service runs, which a check has its own of.
var notForCheck = []string{"Type", "ExecStart", "SuccessExitStatus", "TimeoutStartSec", "TimeoutSec", "TimeoutAbortSec", "RuntimeMaxSec", "RemainAfterExit",
	"Restart", "RestartSec", "RestartMode", "RestartSteps", "RestartMaxDelaySec", "StandardInput", "StandardOutput", "StandardError", "WatchdogSec", "NotifyAccess",
	"RuntimeDirectoryPreserve", "FileDescriptorStoreMax"}

// folders are the settings by which systemd makes folders, and where.
var folders = []struct{ name, root, variable string }{
	{"StateDirectory", "/var/lib", "STATE_DIRECTORY"}, {"RuntimeDirectory", "/run", "RUNTIME_DIRECTORY"},
	{"CacheDirectory", "/var/cache", "CACHE_DIRECTORY"}, {"LogsDirectory", "/var/log", "LOGS_DIRECTORY"},
}

// parseSettings reads what `systemctl cat` prints.
func parseSettings(text, name string) (settings, error) {
	options, err := unit.DeserializeOptions(strings.NewReader(text))
	if err != nil {
		return settings{}, err
	}
	s := settings{values: map[string][]string{}}
	var order []string
	for _, o := range options {
		if o.Section != "Service" {
			continue
		}
		if o.Value == "" { // takes back what stood before
			delete(s.values, o.Name)
			continue
		}
		value, unknown := expand(o.Value, name)
		if unknown != "" {
			s.warnings = append(s.warnings, fmt.Sprintf("%s=%s holds %s, which is not known here: checked as it stands", o.Name, o.Value, unknown))
		}
		if !slices.Contains(order, o.Name) {
			order = append(order, o.Name)
		}
		s.values[o.Name] = append(s.values[o.Name], value)
	}
	for _, name := range order {
		s.give(name)
	}
	return s, nil
}

// give decides what of a setting the transient unit gets.
func (s *settings) give(name string) {
	values := s.values[name]
	for _, f := range folders {
		if name == f.name && len(values) > 0 {
			s.giveFolder(f.name, f.root, f.variable, strings.Fields(strings.Join(values, " ")))
			return
		}
		if name == f.name+"Mode" {
			return
		}
	}
	switch {
	case slices.Contains(notForCheck, name):
	case strings.HasPrefix(name, "Exec") && name != "ExecPaths" && len(values) > 0:
		s.warnings = append(s.warnings, fmt.Sprintf("%s= is not run beside a check", name))
	default:
		for _, v := range values {
			s.given = append(s.given, unitSetting{name, v})
		}
	}
}

// giveFolder lets a check write where the service may, but not have systemd make the folders its own
// or take them away afterwards: then two would hold the lock for acting. One that is not there yet is
// made as for the service.
func (s *settings) giveFolder(name, root, variable string, dirs []string) {
	var paths, absent []string
	for _, d := range dirs {
		d, _, _ = strings.Cut(d, ":") // a link beside it
		path := filepath.Join(root, d)
		paths = append(paths, path)
		if _, err := os.Stat(path); err != nil {
			absent = append(absent, d)
			continue
		}
		s.given = append(s.given, unitSetting{"ReadWritePaths", path})
	}
	if len(absent) == 0 {
		s.given = append(s.given, unitSetting{"Environment", variable + "=" + strings.Join(paths, ":")})
		return
	}
	s.given = append(s.given, unitSetting{name, strings.Join(absent, " ")})
	if mode := s.values[name+"Mode"]; len(mode) > 0 {
		s.given = append(s.given, unitSetting{name + "Mode", mode[len(mode)-1]})
	}
	if name == "RuntimeDirectory" {
		s.given = append(s.given, unitSetting{"RuntimeDirectoryPreserve", "yes"})
	}
}

// leaveOut takes a setting out, and says whether there was one.
func (s *settings) leaveOut(name string) bool {
	before := len(s.given)
	s.given = slices.DeleteFunc(s.given, func(g unitSetting) bool { return g.name == name })
	return len(s.given) < before
}

// is says whether a setting has that value in the end.
func (s settings) is(name string, values ...string) bool {
	have := s.values[name]
	return len(have) > 0 && slices.Contains(values, have[len(have)-1])
}

// expand replaces the specifiers of a unit file, which a transient unit takes literally.
func expand(value, name string) (expanded, unknown string) {
	whole := strings.TrimSuffix(name, ".service")
	prefix, inst, _ := strings.Cut(whole, "@")
	known := map[byte]string{'%': "%", 'i': inst, 'I': strings.ReplaceAll(inst, "-", "/"), 'n': name, 'N': whole, 'p': prefix,
		'S': "/var/lib", 't': "/run", 'C': "/var/cache", 'L': "/var/log", 'E': "/etc", 'T': "/tmp", 'V': "/var/tmp",
		'h': "/root", 'u': "root", 'U': "0", 'g': "root", 'G': "0"}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' || i+1 == len(value) {
			b.WriteByte(value[i])
			continue
		}
		i++
		if text, ok := known[value[i]]; ok {
			b.WriteString(text)
			continue
		}
		unknown = value[i-1 : i+1]
		b.WriteString(unknown)
	}
	return b.String(), unknown
}
