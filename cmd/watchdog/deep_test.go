package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cluster-watchdog/systemd"
)

// given are the settings that a transient unit gets, one a line.
func given(s settings) string {
	var lines []string
	for _, g := range s.given {
		lines = append(lines, g.name+"="+g.value)
	}
	return strings.Join(lines, "\n")
}

// What a person's drop-in adds, takes back or says of an instance is what is checked.
func TestDeepSettings(t *testing.T) {
	s, err := parseSettings(`# /etc/systemd/system/cluster-watchdog@.service
[Unit]
OnFailure=cluster-watchdog-notice@%i.service
[Service]
Type=oneshot
ExecStart=/usr/local/bin/cluster-watchdog --config /etc/cluster-watchdog/%i.yaml tick
ProtectHome=read-only
InaccessiblePaths=-/root/.ssh
LoadCredential=api-key:/etc/cluster-watchdog/%i.api-key
SuccessExitStatus=3 5 75
# /etc/systemd/system/cluster-watchdog@.service.d/override.conf
[Service]
InaccessiblePaths=
InaccessiblePaths=/home/%i
ProtectHome=yes
Environment="A=100%%" B=%b
ExecStartPre=/bin/true
`, "cluster-watchdog@two.service")
	if err != nil {
		t.Fatal(err)
	}
	want := `ProtectHome=read-only
ProtectHome=yes
InaccessiblePaths=/home/two
LoadCredential=api-key:/etc/cluster-watchdog/two.api-key
Environment="A=100%" B=%b`
	if got := given(s); got != want {
		t.Errorf("given:\n%s\nwant:\n%s", got, want)
	}
	if w := strings.Join(s.warnings, "\n"); !strings.Contains(w, "holds %b") || !strings.Contains(w, "ExecStartPre= is not run") || len(s.warnings) != 2 {
		t.Errorf("warnings:\n%s", w)
	}
	if !s.is("ProtectHome", "yes") {
		t.Error("the last one does not count")
	}
}

// Of our own units nothing but what is named is kept from the transient unit.
func TestDeepTakesOurUnits(t *testing.T) {
	left := append([]string{"StateDirectory", "StateDirectoryMode", "RuntimeDirectory", "RuntimeDirectoryMode"}, notForCheck...)
	all, err := systemd.Units()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range all {
		if !strings.HasPrefix(u.Name, "cluster-watchdog") || !strings.HasSuffix(u.Name, ".service") || strings.Contains(u.Name, "notice") {
			continue
		}
		s, err := parseSettings(string(u.Text), strings.Replace(u.Name, "@", "@two", 1))
		if err != nil || len(s.warnings) > 0 {
			t.Errorf("%s: %v, %q", u.Name, err, s.warnings)
		}
		for name := range s.values {
			if !slices.Contains(left, name) && !slices.ContainsFunc(s.given, func(g unitSetting) bool { return g.name == name }) {
				t.Errorf("%s: %s is left out", u.Name, name)
			}
		}
	}
}

// Folders that are there are neither made ours nor taken away afterwards.
func TestDeepFolders(t *testing.T) {
	const service = "[Service]\nStateDirectory=%s\nStateDirectoryMode=0700\nRuntimeDirectory=%s\nRuntimeDirectoryPreserve=no\n"
	for _, row := range []struct{ name, state, runtime, want string }{
		{"they are there", "misc/..", "lock/..", "ReadWritePaths=/var/lib\nEnvironment=STATE_DIRECTORY=/var/lib\nReadWritePaths=/run\nEnvironment=RUNTIME_DIRECTORY=/run"},
		{"they are not", "no-such-w", "no-such-w", "StateDirectory=no-such-w\nStateDirectoryMode=0700\nRuntimeDirectory=no-such-w\nRuntimeDirectoryPreserve=yes"},
	} {
		text := strings.Replace(strings.Replace(service, "%s", row.state, 1), "%s", row.runtime, 1)
		s, err := parseSettings(text, "w.service")
		if got := given(s); err != nil || got != row.want {
			t.Errorf("%s: %v\n%s", row.name, err, got)
		}
	}
}

// Y05: a key that the sandbox hides is no SSH failure, and the setting that hides it is named.
func TestDeepCausesY05(t *testing.T) {
	key := viewFile{What: "key", Path: "/home/ops/.ssh/id"}
	state := viewFile{What: "state_dir", Path: "/srv/w", Write: true}
	for _, row := range []struct {
		name, unit string
		file       viewFile
		errno      syscall.Errno
		want       string
	}{
		{"ProtectHome", "ProtectHome=yes", key, syscall.ENOENT, "ProtectHome=yes hides it: set ProtectHome=read-only"},
		{"ProtectHome=tmpfs", "ProtectHome=tmpfs", key, syscall.ENOENT, "ProtectHome=tmpfs hides it: set ProtectHome=read-only"},
		{"only this file", "ProtectHome=read-only\nInaccessiblePaths=-/root/.ssh +/home/ops/.ssh/id", key, 0, "InaccessiblePaths=/home/ops/.ssh/id hides it: set InaccessiblePaths= without that"},
		{"a folder of it", "TemporaryFileSystem=/home/ops:ro", key, syscall.ENOENT, "TemporaryFileSystem=/home/ops hides it: set TemporaryFileSystem= without that"},
		{"no folder of it", "InaccessiblePaths=/home/op", key, syscall.ENOENT, "its sandbox keeps it away"},
		{"PrivateTmp", "PrivateTmp=yes", viewFile{What: "key", Path: "/tmp/id"}, syscall.ENOENT, "PrivateTmp= gives it a /tmp of its own: keep the file elsewhere"},
		{"no capability", "CapabilityBoundingSet=CAP_SETUID", key, syscall.EACCES, "CapabilityBoundingSet= lacks CAP_DAC_READ_SEARCH: add it"},
		{"another user", "User=web", key, syscall.EACCES, "User=web runs it as another than root: take that out"},
		{"read-only state", "ProtectSystem=strict", state, syscall.EROFS, "ProtectSystem= makes it read-only: add ReadWritePaths=/srv/w"},
		{"read-only by hand", "ReadOnlyPaths=/srv", state, syscall.EROFS, "ReadOnlyPaths=/srv makes it read-only: add ReadWritePaths=/srv/w"},
		{"state of another", "ProtectSystem=strict", state, syscall.EACCES, "without CAP_DAC_OVERRIDE root writes only what is root's: chown it to root"},
	} {
		s, err := parseSettings("[Service]\n"+row.unit+"\n", "w.service")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.cause(row.file, row.errno); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// Only what fails inside and not outside is the sandbox's doing.
func TestDeepTroubles(t *testing.T) {
	d := &deep{unit: "w.service", set: settings{values: map[string][]string{"ProtectHome": {"yes"}}}}
	ask := viewAsk{Files: []viewFile{{What: "key", Path: "/home/a"}, {What: "known_hosts", Path: "/home/b"}, {What: "config", Path: "/etc/c"}}, Hook: "mailer", HookUser: "ops"}
	gone := viewTrouble{Errno: syscall.ENOENT, Text: "no such file or directory"}
	got := d.troubles(ask, viewAnswer{"/home/b": gone}, viewAnswer{"/home/a": gone, "/home/b": gone, viewHook: {Text: "not found"}})
	want := []string{"the service cannot read the key /home/a: no such file or directory: ProtectHome=yes hides it: set ProtectHome=read-only; `systemctl edit w.service`, then again",
		"the service cannot run notify.command: mailer as ops: not found: nobody would be told; see `systemctl cat w.service`"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// What this systemd does not take is named and left out; anything else ends the check.
func TestDeepLeavesOutWhatIsNotTaken(t *testing.T) {
	const unit = "[Service]\nExecStart=/usr/bin/cluster-watchdog tick\nProtectHome=yes\nNewThing=1\nNewThing=2\n"
	for _, row := range []struct {
		name, refuses string
		code          int
		said, err     string
	}{
		{"all taken", "", 0, "", ""},
		{"one is not", "NewThing", 0, "warning: NewThing= of w.service cannot be given to a transient unit", ""},
		{"systemd fails", "-", 226, "", "systemd cannot set up a mount namespace (exit code 226)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out bytes.Buffer
			set, err := parseSettings(unit, "w.service")
			if err != nil {
				t.Fatal(err)
			}
			d := &deep{app: &app{out: &out, errs: io.Discard, configPath: "/etc/c.yaml"}, unit: "w.service", name: "w-check.service", set: set}
			d.host.systemctl = func(_ context.Context, args ...string) (string, error) {
				if args[1] == "w-check.service" {
					return "ProtectHome=no\nNice=5\n", nil // it was taken, and not heeded
				}
				return "ProtectHome=yes\nNice=5\n", nil
			}
			d.run = func(_ context.Context, in io.Reader, out, errs io.Writer, args []string) (int, error) {
				if row.refuses == "-" {
					return row.code, nil
				}
				if row.refuses != "" && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, row.refuses) }) {
					_, _ = io.WriteString(errs, "Unknown assignment: "+row.refuses+"=1\n")
					return 1, nil
				}
				var ask viewAsk
				if err := json.NewDecoder(in).Decode(&ask); err != nil {
					t.Error(err)
				}
				_ = json.NewEncoder(out).Encode(viewAnswer{})
				_, err := io.Copy(io.Discard, in) // it waits to be looked at
				return 0, err
			}
			_, err = d.look(context.Background(), "/usr/bin/cluster-watchdog")
			if row.err == "" && err != nil || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("err = %v", err)
			}
			if !strings.Contains(out.String(), row.said) || (row.err == "") != strings.Contains(out.String(), `warning: ProtectHome= is "yes" for w.service, and "no" in the check`) {
				t.Errorf("said %s", &out)
			}
		})
	}
}

func TestDeepProgram(t *testing.T) {
	for _, row := range []struct{ start, want, warning, err string }{
		{"/usr/bin/cluster-watchdog tick", "/usr/bin/cluster-watchdog", "", ""},
		{"-/usr/bin/cluster-watchdog --config /etc/c.yaml tick", "/usr/bin/cluster-watchdog", "", ""},
		{"+/usr/bin/cluster-watchdog tick", "/usr/bin/cluster-watchdog", "more rights", ""},
		{"/usr/bin/cluster-watchdog -c /etc/other.yaml tick", "/usr/bin/cluster-watchdog", "uses the config /etc/other.yaml, and /etc/c.yaml is checked", ""},
		{"/bin/sh -c x", "", "", "no tick of cluster-watchdog"},
		{"/usr/bin/cluster-watchdog tick\nExecStart=/bin/true", "", "", "2 lines ExecStart="},
	} {
		var out bytes.Buffer
		set, err := parseSettings("[Service]\nExecStart="+row.start+"\n", "w.service")
		if err != nil {
			t.Fatal(err)
		}
		d := &deep{app: &app{out: &out, configPath: "/etc/c.yaml"}, unit: "w.service", set: set}
		got, err := d.program()
		if got != row.want || !strings.Contains(out.String(), row.warning) || (row.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%q: %q, %v, said %q", row.start, got, err, &out)
		}
	}
}

func TestDeepIsImpossible(t *testing.T) {
	for _, row := range []struct {
		name string
		ask  func(context.Context, ...string) (string, error)
		want string
	}{
		{"no systemd", nil, "no systemd runs this machine; `cluster-watchdog check` checks without it"},
		{"not installed", func(context.Context, ...string) (string, error) { return "LoadState=not-found", nil }, "it is not installed: `sudo cluster-watchdog install`"},
		{"wrong", func(context.Context, ...string) (string, error) { return "LoadState=bad-setting", nil }, "systemd cannot use it (bad-setting)"},
		{"hangs", func(context.Context, ...string) (string, error) { return "", errors.New("it hangs") }, "it hangs"},
	} {
		if row.ask != nil && os.Geteuid() != 0 {
			row.want = "only root may start a unit: use sudo"
		}
		d := &deep{app: &app{out: io.Discard}, unit: "w.service"}
		d.host.systemctl = row.ask
		if err := d.possible(context.Background()); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// A look reads and changes nothing.
func TestSandboxView(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := viewAsk{Files: []viewFile{{What: "key", Path: at("key", "x")}, {What: "hidden", Path: at("hidden", "")}, {What: "gone", Path: filepath.Join(dir, "gone")},
		{What: "fifo", Path: fifo}, {"state_dir", dir, true}, {"log_dir", "/proc/sys", true}}, Hook: "no-such-program", HookUser: "nobody"}
	got := ask.look()
	for path, want := range map[string]string{"hidden": "there is an empty file", "gone": "no such file or directory", "fifo": "there is an empty file", "/proc/sys": "", viewHook: "not found"} {
		if !filepath.IsAbs(path) && path != viewHook {
			path = filepath.Join(dir, path)
		}
		if trouble, ok := got[path]; !ok || !strings.Contains(trouble.Text, want) {
			t.Errorf("%s: %+v", path, trouble)
		}
		delete(got, path)
	}
	if len(got) > 0 {
		t.Errorf("also %v", got)
	}
	ask.Hook = "cat"
	if trouble, ok := ask.look()[viewHook]; ok {
		t.Errorf("cat: %+v", trouble)
	}
}
