package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cluster-watchdog/systemd"
)

// What stands on a machine where the watchdog has been at work.
var kept = map[string]string{
	"/etc/cluster-watchdog/config.yaml":                              "container: mine\n",
	"/etc/cluster-watchdog/api-key":                                  "secret\n",
	"/etc/systemd/system/cluster-watchdog.service.d/override.conf":   "[Service]\nNice=1\n",
	"/var/lib/cluster-watchdog/state.db":                             "what it knew",
	"/var/lib/cluster-watchdog/lock":                                 "",
	"/usr/local/share/doc/cluster-watchdog/examples/mine/launch.sh":  "echo\n",
	"/usr/local/share/man/man8/other.8":                              "another's",
	"/usr/local/share/bash-completion/completions/cluster-watchdog2": "another's",
}

func TestUninstallRemovesWhatInstallPut(t *testing.T) {
	root := t.TempDir()
	defer unix.Umask(unix.Umask(0o077)) // a careful root must not lock others out of the manual
	say := stage(t, "install", root)
	put := tree(t, root)
	want := []string{
		"/etc/systemd/system/cluster-watchdog-notice.service 0644",
		"/etc/systemd/system/cluster-watchdog-notice@.service 0644",
		"/etc/systemd/system/cluster-watchdog.service 0644",
		"/etc/systemd/system/cluster-watchdog.timer 0644",
		"/etc/systemd/system/cluster-watchdog@.service 0644",
		"/etc/systemd/system/cluster-watchdog@.timer 0644",
		"/usr/local/bin/cluster-watchdog 0755",
		"/usr/local/share/bash-completion/completions/cluster-watchdog 0644",
		"/usr/local/share/doc/cluster-watchdog/config.example.yaml 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/sglang/README.md 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/sglang/config.yaml 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/sglang/launch.sh 0755",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-nnodes/README.md 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-nnodes/config.yaml 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-nnodes/launch.sh 0755",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-ray/README.md 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-ray/config.yaml 0644",
		"/usr/local/share/doc/cluster-watchdog/examples/vllm-ray/launch.sh 0755",
		"/usr/local/share/fish/vendor_completions.d/cluster-watchdog.fish 0644",
		"/usr/local/share/man/man8/cluster-watchdog.8.gz 0644",
		"/usr/local/share/zsh/site-functions/_cluster-watchdog 0644",
	}
	if !slices.Equal(put, want) {
		t.Errorf("put:\n%s\nwant:\n%s", strings.Join(put, "\n"), strings.Join(want, "\n"))
	}
	for _, file := range put {
		if path, _, _ := strings.Cut(file, " "); !strings.Contains(say, "installed "+root+path+"\n") {
			t.Errorf("nothing is said of %s", path)
		}
	}
	if info, err := os.Stat(filepath.Join(root, "usr/local/share/man")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("a new folder is %v, %v", info.Mode(), err)
	}
	if say := stage(t, "install", root); strings.Count(say, "same ") != len(want) || strings.Contains(say, "replaced") {
		t.Errorf("the second time:\n%s", say)
	}
	stage(t, "uninstall", root)
	if left := tree(t, root); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	for _, folder := range []string{"usr/local/share/doc/cluster-watchdog", "etc/cluster-watchdog"} {
		if exists(filepath.Join(root, folder)) {
			t.Errorf("the folder %s is left", folder)
		}
	}
	if say := stage(t, "uninstall", root); !strings.Contains(say, "nothing of /usr/local/bin/cluster-watchdog was here") {
		t.Errorf("the second time:\n%s", say)
	}
}

func TestInstallKeepsConfigAndState(t *testing.T) {
	root := t.TempDir()
	for path, text := range kept {
		lay(t, root+path, text)
	}
	lay(t, root+"/usr/local/bin/cluster-watchdog", "an older program")
	lay(t, root+"/etc/systemd/system/cluster-watchdog.timer", "[Timer]\nOnCalendar=hourly\n")
	running, err := os.Open(root + "/usr/local/bin/cluster-watchdog")
	if err != nil {
		t.Fatal(err)
	}
	defer running.Close()

	say := stage(t, "install", root)
	if !strings.Contains(say, "replaced  "+root+"/usr/local/bin/cluster-watchdog\n") || !strings.Contains(say, "replaced  "+root+"/etc/systemd/system/cluster-watchdog.timer\n") {
		t.Errorf("the older ones are not replaced:\n%s", say)
	}
	if text, err := readAll(running); err != nil || text != "an older program" {
		t.Errorf("a running program would see %.20q, %v", text, err)
	}
	if !bytes.Equal([]byte(read(t, root+"/usr/local/bin/cluster-watchdog")), []byte(read(t, "/proc/self/exe"))) {
		t.Error("the installed program is not this very one")
	}
	stage(t, "uninstall", root)
	if left := tree(t, root); len(left) != len(kept) {
		t.Errorf("left: %q", left)
	}
	for path, text := range kept {
		if got := read(t, root+path); got != text {
			t.Errorf("%s is %q", path, got)
		}
	}
}

func TestUnitsStartTheInstalledProgram(t *testing.T) {
	for _, row := range []struct{ prefix, units, program string }{
		{"/usr/local", "/etc/systemd/system", "/usr/local/bin/cluster-watchdog"},
		{"/opt/llm-1.2", "/etc/systemd/system", "/opt/llm-1.2/bin/cluster-watchdog"},
		{"/usr", "/usr/lib/systemd/system", "/usr/bin/cluster-watchdog"},
	} {
		l, err := newLayout(t.TempDir(), row.prefix)
		if err != nil {
			t.Fatal(err)
		}
		files, err := l.files(nil)
		if err != nil {
			t.Fatal(err)
		}
		if files[0].path != row.program {
			t.Errorf("%s: the program is %s and comes first", row.prefix, files[0].path)
		}
		at := slices.IndexFunc(files, func(f installed) bool { return f.path == row.units+"/"+serviceUnit })
		if at < 0 {
			t.Errorf("%s: no service in %s", row.prefix, row.units)
			continue
		}
		text := string(files[at].content)
		if !strings.Contains(text, "\nExecStart="+row.program+" tick\n") || row.prefix != "/usr/local" && strings.Contains(text, systemd.Program) {
			t.Errorf("%s: the service starts something else:\n%s", row.prefix, text)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	const service = "[Service]\nExecStart="
	for _, row := range []struct {
		name, verb, prefix string
		unit, text         string
		uid, code          int
		says               string
	}{
		{"an ordinary user", "install", "/usr/local", "", "", 1000, 3, "sudo"},
		{"an ordinary user", "uninstall", "/usr/local", "", "", 1000, 3, "--root DIR"},
		{"what systemd would split", "install", "/opt/my tools", "", "", 0, 2, "--prefix"},
		{"what systemd would expand", "install", "/opt/%n", "", "", 0, 2, "--prefix"},
		{"a relative prefix", "install", "opt", "", "", 0, 2, "--prefix"},
		{"a prefix with dots", "install", "/opt/..", "", "", 0, 2, "--prefix"},
		{"beside the package", "install", "/usr/local", packageUnits, service + "/usr/bin/cluster-watchdog tick\n", 0, 3, "apt remove cluster-watchdog"},
		{"the package", "uninstall", "/usr/local", packageUnits, service + "/usr/bin/cluster-watchdog tick\n", 0, 3, "apt remove cluster-watchdog"},
		{"beside another prefix", "install", "/usr/local", localUnits, service + "/opt/x/bin/cluster-watchdog tick\n", 0, 3, "uninstall --prefix /opt/x"},
		{"another prefix", "uninstall", "/usr/local", localUnits, service + "/opt/x/bin/cluster-watchdog tick\n", 0, 3, "uninstall --prefix /opt/x"},
	} {
		root := t.TempDir()
		if row.unit != "" {
			lay(t, root+row.unit+"/"+serviceUnit, row.text)
		}
		before := tree(t, root)
		i, err := newInstaller(&bytes.Buffer{}, row.verb, "", row.prefix, row.uid)
		if err == nil {
			i.root = root
			i.systemctl = func(context.Context, ...string) (string, error) {
				t.Errorf("%s: %s: systemctl was called", row.verb, row.name)
				return "inactive", nil
			}
			err = carryOut(t.Context(), i)
		}
		if exitCode(err) != row.code || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "cannot ") {
			t.Errorf("%s: %s: %v (exit code %d)", row.verb, row.name, err, exitCode(err))
		}
		if after := tree(t, root); !slices.Equal(before, after) {
			t.Errorf("%s: %s: changed to %q", row.verb, row.name, after)
		}
	}
}

// stage installs or uninstalls below a folder, as anybody.
func stage(t *testing.T, verb, root string) string {
	t.Helper()
	var out bytes.Buffer
	i, err := newInstaller(&out, verb, root, "/usr/local", 1000)
	if err == nil {
		err = carryOut(t.Context(), i)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", verb, err, out.String())
	}
	return out.String()
}

func carryOut(ctx context.Context, i installer) error {
	if i.verb == "install" {
		return i.install(ctx)
	}
	return i.uninstall(ctx)
}

// tree lists the files below a folder with their modes.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		files = append(files, strings.TrimPrefix(path, root)+" "+octal(info.Mode()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}
