package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// troubles are what the service cannot do and root outside its sandbox can, each with its cause and
// cure. What fails outside too the check itself says.
func (d *deep) troubles(ask viewAsk, outside, inside viewAnswer) []string {
	var all []string
	told := map[string]bool{}
	for _, f := range ask.Files {
		in, bad := inside[f.Path]
		_, badOutside := outside[f.Path]
		if !bad || badOutside || told[f.Path] {
			continue
		}
		told[f.Path] = true
		verb := "read the " + f.What
		if f.Write {
			verb = "write in " + f.What
		}
		all = append(all, fmt.Sprintf("the service cannot %s %s: %s: %s; `systemctl edit %s`, then again", verb, f.Path, in.Text, d.set.cause(f, in.Errno), d.unit))
	}
	in, bad := inside[viewHook]
	if _, badOutside := outside[viewHook]; bad && !badOutside {
		all = append(all, fmt.Sprintf("the service cannot run notify.command: %s as %s: %s: nobody would be told; see `systemctl cat %s`", ask.Hook, ask.HookUser, in.Text, d.unit))
	} else if bad {
		all = append(all, fmt.Sprintf("notify.command cannot be run: %s as %s: %s: nobody would be told; correct it, or notify.user", ask.Hook, ask.HookUser, in.Text))
	}
	return all
}

// cause names the setting that keeps the service from a file, and what to set instead.
func (s settings) cause(f viewFile, errno syscall.Errno) string {
	for _, name := range []string{"InaccessiblePaths", "TemporaryFileSystem"} {
		if by := s.covering(name, f.Path); by != "" {
			return fmt.Sprintf("%s=%s hides it: set %s= without that", name, by, name)
		}
	}
	switch {
	case s.is("ProtectHome", "yes", "true", "on", "1", "tmpfs") && below(f.Path, "/home", "/root", "/run/user"):
		return fmt.Sprintf("ProtectHome=%s hides it: set ProtectHome=read-only", s.values["ProtectHome"][len(s.values["ProtectHome"])-1])
	case s.is("PrivateTmp", "yes", "true", "on", "1", "disconnected") && below(f.Path, "/tmp", "/var/tmp"):
		return "PrivateTmp= gives it a /tmp of its own: keep the file elsewhere"
	case f.Write && errno == syscall.EROFS:
		by := "ProtectSystem="
		if below(f.Path, "/home", "/root", "/run/user") {
			by = "ProtectHome="
		}
		if path := s.covering("ReadOnlyPaths", f.Path); path != "" {
			by = "ReadOnlyPaths=" + path
		}
		return fmt.Sprintf("%s makes it read-only: add ReadWritePaths=%s", by, f.Path)
	case f.Write && errno == syscall.EACCES:
		return "without CAP_DAC_OVERRIDE root writes only what is root's: chown it to root"
	case len(s.values["User"]) > 0:
		return fmt.Sprintf("User=%s runs it as another than root: take that out", s.values["User"][0])
	case errno == syscall.EACCES && len(s.values["CapabilityBoundingSet"]) > 0 && !strings.Contains(strings.Join(s.values["CapabilityBoundingSet"], " "), "CAP_DAC_READ_SEARCH"):
		return "CapabilityBoundingSet= lacks CAP_DAC_READ_SEARCH: add it"
	case s.covering("NoExecPaths", f.Path) != "":
		return "NoExecPaths= covers it: set it without that"
	}
	return "its sandbox keeps it away"
}

// covering returns the path of a list that a file is in or below, also behind symbolic links.
func (s settings) covering(name, path string) string {
	real := path
	if r, err := filepath.EvalSymlinks(path); err == nil {
		real = r
	}
	for _, word := range strings.Fields(strings.Join(s.values[name], " ")) {
		at, _, _ := strings.Cut(strings.TrimLeft(word, "-+"), ":")
		if below(path, at) || below(real, at) {
			return at
		}
	}
	return ""
}

// below says whether a path is one of these, or in one.
func below(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, strings.TrimSuffix(f, "/")+"/")
	})
}

// compared are the properties that make a sandbox, as systemd names them.
var compared = strings.Fields(`User Group DynamicUser SupplementaryGroups CapabilityBoundingSet AmbientCapabilities NoNewPrivileges SecureBits
	ProtectSystem ProtectHome PrivateTmp PrivateDevices PrivateNetwork PrivateUsers PrivateMounts PrivateIPC ProtectKernelTunables ProtectKernelModules ProtectKernelLogs
	ProtectControlGroups ProtectHostname ProtectClock ProtectProc ProcSubset RestrictNamespaces RestrictRealtime RestrictSUIDSGID RestrictAddressFamilies RestrictFileSystems
	LockPersonality MemoryDenyWriteExecute RemoveIPC SystemCallFilter SystemCallArchitectures SystemCallErrorNumber SystemCallLog
	ReadWritePaths ReadOnlyPaths InaccessiblePaths ExecPaths NoExecPaths TemporaryFileSystem BindPaths BindReadOnlyPaths RootDirectory RootImage WorkingDirectory
	NetworkNamespacePath DeviceAllow DevicePolicy IPAddressAllow IPAddressDeny SocketBindAllow SocketBindDeny LoadCredential SetCredential ImportCredential
	Environment EnvironmentFiles PassEnvironment UnsetEnvironment UMask LimitNOFILE LimitCORE LimitNPROC LimitAS LimitMEMLOCK MemoryMax MemoryHigh TasksMax Nice OOMScoreAdjust
	AppArmorProfile SELinuxContext SmackProcessLabel Slice KillMode`)

// compare asks systemd what it has made of both units, and names each difference: what a transient
// unit could not be given is not passed over in silence.
func (d *deep) compare(ctx context.Context) {
	show := func(unit string) (map[string]string, error) {
		out, err := d.host.systemctl(ctx, "show", unit, "--property="+strings.Join(compared, ","))
		return propertiesOf(out), err
	}
	theirs, err := show(d.unit)
	ours, errOurs := show(d.name)
	if err != nil || errOurs != nil {
		d.warn("systemd does not say whether all settings of %s are in force in the check: %v", d.unit, firstOf(err, errOurs))
		return
	}
	for _, name := range differing(theirs, ours) {
		d.warn("%s= is %q for %s, and %q in the check: what depends on it may differ", name, theirs[name], d.unit, ours[name])
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// differing are the properties in which the check's unit is not the service's. It has more of what
// stands for the folders that systemd makes for a service.
func differing(theirs, ours map[string]string) []string {
	var names []string
	for _, name := range compared {
		t, o := theirs[name], ours[name]
		switch name {
		case "ReadWritePaths", "Environment":
			have := strings.Fields(o)
			if slices.ContainsFunc(strings.Fields(t), func(w string) bool { return !slices.Contains(have, w) }) {
				names = append(names, name)
			}
		default:
			if t != o {
				names = append(names, name)
			}
		}
	}
	return names
}
