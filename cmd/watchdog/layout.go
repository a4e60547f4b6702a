package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"cluster-watchdog/scripts"
	"cluster-watchdog/systemd"
)

const (
	installedName = "cluster-watchdog" // Debian's hardware watchdog owns "watchdog"
	serviceUnit   = installedName + ".service"
	timerUnit     = installedName + ".timer"

	localUnits   = "/etc/systemd/system"
	packageUnits = "/usr/lib/systemd/system"
)

// layout is where an installation lies: everything below root, which is empty on a live machine.
type layout struct{ root, prefix string }

// plainPath is what can stand in ExecStart= without quotes.
var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_.+-]+)+$`)

func newLayout(root, prefix string) (layout, error) {
	if !plainPath.MatchString(prefix) || path.Clean(prefix) != prefix {
		return layout{}, usageError{fmt.Errorf("cannot use --prefix %q: give an absolute path of plain characters, such as /usr/local", prefix)}
	}
	if root == "" {
		return layout{prefix: prefix}, nil
	}
	root, err := filepath.Abs(root)
	return layout{root, prefix}, err
}

// at returns the path on this machine.
func (l layout) at(path string) string { return filepath.Join(l.root, path) }

// isPackage says that the files are those of a distribution's package: /usr is its own.
func (l layout) isPackage() bool { return l.prefix == "/usr" }

func (l layout) program() string { return l.prefix + "/bin/" + installedName }
func (l layout) docs() string    { return l.prefix + "/share/doc/" + installedName }

func (l layout) units() string {
	if l.isPackage() {
		return packageUnits
	}
	return localUnits
}

func (l layout) zshFolder() string {
	if l.isPackage() {
		return "/usr/share/zsh/vendor-completions"
	}
	return l.prefix + "/share/zsh/site-functions"
}

// installed is one file that install puts and uninstall removes.
type installed struct {
	path    string // without the root
	mode    fs.FileMode
	content []byte
}

// files lists everything that is put, the program first: an older unit can start a newer program.
func (l layout) files(program []byte) ([]installed, error) {
	list := []installed{{l.program(), 0o755, program}}
	for _, part := range []func() ([]installed, error){l.unitFiles, l.manualFiles, l.exampleFiles, l.completionFiles} {
		more, err := part()
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

func (l layout) unitFiles() ([]installed, error) {
	units, err := systemd.Units()
	var list []installed
	for _, u := range units {
		text := bytes.ReplaceAll(u.Text, []byte(systemd.Program), []byte(l.program()))
		list = append(list, installed{l.units() + "/" + u.Name, 0o644, text})
	}
	return list, err
}

// exampleFiles are the config to start from and the launch commands to start from.
func (l layout) exampleFiles() ([]installed, error) {
	config, err := systemd.Files.ReadFile("config.example.yaml")
	if err != nil {
		return nil, err
	}
	list := []installed{{l.docs() + "/config.example.yaml", 0o644, config}}
	err = fs.WalkDir(scripts.Examples, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		text, err := scripts.Examples.ReadFile(name)
		list = append(list, installed{l.docs() + "/" + name, mode, text})
		return err
	})
	return list, err
}

// startedBy names the program that the service in a folder of units starts; empty where there is
// no such unit.
func (l layout) startedBy(folder string) string {
	text, err := os.ReadFile(l.at(folder + "/" + serviceUnit))
	if err != nil {
		return ""
	}
	_, line, _ := strings.Cut("\n"+string(text), "\nExecStart=")
	program, _, _ := strings.Cut(line, " ")
	return strings.TrimSpace(program)
}
