package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module     = "cluster-watchdog"
	moduleRoot = "../.."
)

// Which packages of ours a package may import. "x/*" are the packages below x; the first line
// that fits a package holds. Packages that no line fits are refused.
var ourImports = []struct{ from, may, why string }{
	{"cmd/*", "*", "the program wires everything"},
	{"watchdog", "", "the judgement knows nothing of how facts are found or kept"},
	{"watchdog/probe", "watchdog scripts", "probe asks nodes through an interface; cmd wires it to restart's connections"},
	{"watchdog/netfs", "watchdog/netfs/badmount", "its tests see real mounts that hang"},
	{"watchdog/*", "watchdog", "what stands under the judgement may speak its words"},
	{"restart", "watchdog watchdog/netfs watchdog/netfs/badmount scripts", "the hands record facts and send scripts; they do not decide or keep"},
	{"restart/*", "restart restart/* watchdog scripts", "they stand in for the nodes that restart talks to"},
	{"state", "watchdog watchdog/netfs state/disktest", "the memory keeps what the judgement knows"},
	{"state/disktest", "", "a disk that fails knows nothing of who writes"},
	{"scripts", "watchdog/netfs/badmount", "text for nodes; its tests see real mounts that hang"},
	{"systemd", "", "files for systemd"},
}

// Where a library of others may be used, in tests too.
var theirImports = []struct{ library, in, why string }{
	{"go.etcd.io/bbolt", "state", "one place knows how things are kept"},
	{"github.com/rs/zerolog", "cmd/* restart restart/*", "the judgement, the memory and the probes return what they have to say"},
	{"golang.org/x/crypto/ssh", "restart restart/*", "one place knows the identity"},
	{"github.com/kevinburke/ssh_config", "restart restart/*", "one place knows the identity"},
	{"github.com/skeema/knownhosts", "restart restart/*", "one place knows the identity"},
	{"github.com/coreos/go-systemd/v22", "cmd/* systemd", "all else runs without systemd"},
	{"github.com/goccy/go-yaml", "cmd/*", "config belongs to the program"},
	{"github.com/spf13/cobra", "cmd/*", "flags belong to the program"},
}

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func (p goPackage) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

func TestLayers(t *testing.T) {
	packages := list(t)
	if len(packages) < 2 {
		t.Fatalf("go list found %d packages", len(packages))
	}
	for _, p := range packages {
		for _, wrong := range wrongImports(p) {
			t.Error(wrong)
		}
	}
}

// wrongImports names each import that no line above allows, with the reason of the line.
func wrongImports(p goPackage) []string {
	var wrong []string
	may, why := mayImport(p.name())
	tests := slices.Concat(p.TestImports, p.XTestImports)
	for _, path := range slices.Concat(p.Imports, tests) {
		ours, isOurs := strings.CutPrefix(path, module+"/")
		switch {
		case path == p.ImportPath:
		case isOurs && (strings.HasPrefix(ours, "cmd/") || !fits(may, ours)):
			wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.name(), ours, why))
		case p.name() == "watchdog" && isLibrary(path) && slices.Contains(p.Imports, path):
			wrong = append(wrong, fmt.Sprintf("watchdog imports %s: the judgement needs the standard library alone", path))
		}
		for _, rule := range theirImports {
			if (path == rule.library || strings.HasPrefix(path, rule.library+"/")) && !fits(rule.in, p.name()) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.name(), path, rule.why))
			}
		}
	}
	return wrong
}

func mayImport(name string) (may, why string) {
	for _, rule := range ourImports {
		if fits(rule.from, name) {
			return rule.may, rule.why
		}
	}
	return "", "no rule fits this package; the layout is fixed"
}

// fits says whether a name is one of the patterns.
func fits(patterns, name string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		folder, below := strings.CutSuffix(pattern, "*")
		if pattern == name || below && strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}

func isLibrary(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// The rules must catch what they are for.
func TestLayerRules(t *testing.T) {
	for _, row := range []struct {
		from, imports string
		allowed       bool
	}{
		{"cmd/watchdog", "cluster-watchdog/state", true},
		{"cmd/watchdog", "github.com/rs/zerolog", true},
		{"cmd/watchdog", "go.etcd.io/bbolt", false},
		{"cmd/watchdog", "golang.org/x/crypto/ssh", false},
		{"watchdog", "time", true},
		{"watchdog", "pgregory.net/rapid", false},
		{"watchdog", "cluster-watchdog/state", false},
		{"watchdog/probe", "cluster-watchdog/scripts", true},
		{"watchdog/probe", "cluster-watchdog/restart", false},
		{"watchdog/casefile", "cluster-watchdog/watchdog", true},
		{"watchdog/casefile", "cluster-watchdog/scripts", false},
		{"restart", "cluster-watchdog/watchdog", true},
		{"restart", "cluster-watchdog/state", false},
		{"restart", "golang.org/x/crypto/ssh/agent", true},
		{"restart/clustertest", "cluster-watchdog/restart", true},
		{"restart/clustertest", "cluster-watchdog/watchdog/probe", false},
		{"state", "go.etcd.io/bbolt", true},
		{"state", "github.com/rs/zerolog", false},
		{"state", "github.com/rs/zerolog/log", false},
		{"state", "cluster-watchdog/cmd/watchdog", false},
		{"cmd/other", "cluster-watchdog/cmd/watchdog", false},
		{"systemd", "github.com/coreos/go-systemd/v22/unit", true},
		{"scripts", "github.com/coreos/go-systemd/v22/unit", false},
		{"util", "cluster-watchdog/watchdog", false},
		{"state", "golang.org/x/crypto/ssh_other", true},
	} {
		wrong := wrongImports(goPackage{ImportPath: module + "/" + row.from, Imports: []string{row.imports}})
		if (len(wrong) == 0) != row.allowed {
			t.Errorf("%s imports %s: %q", row.from, row.imports, wrong)
		}
	}
	for _, p := range []goPackage{
		{ImportPath: module + "/state", TestImports: []string{module + "/restart"}},
		{ImportPath: module + "/state", XTestImports: []string{"golang.org/x/crypto/ssh"}},
	} {
		if len(wrongImports(p)) == 0 {
			t.Errorf("an import of a test is not seen: %+v", p)
		}
	}
	if wrong := wrongImports(goPackage{ImportPath: module + "/watchdog", TestImports: []string{"pgregory.net/rapid"}}); len(wrong) > 0 {
		t.Errorf("a test of the judgement may use a library: %q", wrong)
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	known := strings.Fields("cmd watchdog restart state scripts systemd testdata bin dist " +
		"README.md LICENSE CHANGELOG.md CONTRIBUTING.md Makefile go.mod go.sum")
	entries, err := os.ReadDir(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s: the top level does not grow", e.Name())
		}
	}
}

// list asks the go command. Its reads are not ours, so `go test` would show an old result after a
// change elsewhere; opening every folder here makes the result depend on them.
func list(t *testing.T) []goPackage {
	t.Helper()
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, d.Name()) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = moduleRoot, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot list packages: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
