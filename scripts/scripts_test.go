package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

func TestAllKnowsEveryScriptByFolder(t *testing.T) {
	files, err := filepath.Glob("*/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range files {
		want = append(want, strings.TrimSuffix(f, ".sh"))
	}
	for _, s := range All() {
		got = append(got, s.Name())
		if folder := filepath.Dir(s.Name()); s.Class().String() != folder {
			t.Errorf("%s has class %v", s.Name(), s.Class())
		}
		if Get(s.Name()) != s {
			t.Errorf("Get(%q) is another script", s.Name())
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestClassesAreOrdered(t *testing.T) {
	if !(Preserve < Check && Check < Claim && Claim < Destroy && Destroy < Settle && Settle < Launch) {
		t.Error("the classes do not come in the order of the sequence")
	}
}

func TestGetPanicsOnUnknown(t *testing.T) {
	for _, name := range []string{"", "check/nothing", "nowhere/docker", "check/../check/docker", "examples/vllm-nnodes/launch"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Get(%q) did not panic", name)
				}
			}()
			Get(name)
		}()
	}
}

func parse(t *testing.T, name, text string) *syntax.File {
	t.Helper()
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), name)
	if err != nil {
		t.Fatalf("not POSIX shell: %v", err)
	}
	return f
}

func TestScriptsArePOSIX(t *testing.T) {
	parse(t, "front.sh", Front())
	for _, s := range All() {
		parse(t, s.Name(), s.Body())
	}
	for _, path := range examples(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parse(t, path, string(text))
	}
}

var header = regexp.MustCompile(`\A(?:# [^\n]+\n)*# class:  (\w+)\n# env:    ([^\n]+\n(?:#         [^\n]+\n)*)# output: [^\n]+\n(?:#         [^\n]+\n)*# exit:   [^\n]+\n(?:#         [^\n]+\n)*set -eu\n`)

var variableName = regexp.MustCompile(`WATCHDOG_[A-Z_]+`)

// The header is what the sequence and its readers go by: it must tell the truth.
func TestHeadersTellClassAndVariables(t *testing.T) {
	for _, s := range All() {
		m := header.FindStringSubmatch(s.Body())
		if m == nil {
			t.Errorf("%s: no header of what, class, env, output, exit, followed by set -eu", s.Name())
			continue
		}
		if m[1] != s.Class().String() {
			t.Errorf("%s says class %s", s.Name(), m[1])
		}
		told := variableName.FindAllString(m[2], -1)
		slices.Sort(told)
		if diff := cmp.Diff(slices.Compact(told), used(parse(t, s.Name(), s.Body()))); diff != "" {
			t.Errorf("%s: variables told (-) and used (+):\n%s", s.Name(), diff)
		}
	}
}

func used(f *syntax.File) []string {
	var names []string
	syntax.Walk(f, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && variableName.MatchString(p.Param.Value) {
			names = append(names, p.Param.Value)
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

func examples(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("examples/*/*.sh")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return paths
}

func TestShellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: apt-get install shellcheck")
	}
	check := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(shellcheck, append([]string{"-s", "sh"}, args...)...).CombinedOutput(); err != nil {
			t.Errorf("%s", out)
		}
	}
	check(examples(t)...)
	fakes, err := filepath.Glob("testdata/fakes/*")
	if err != nil {
		t.Fatal(err)
	}
	check(fakes...)
	for _, s := range All() { // as it is sent: behind the functions it uses
		path := filepath.Join(t.TempDir(), strings.ReplaceAll(s.Name(), "/", "-")+".sh")
		if err := os.WriteFile(path, []byte(Front()+s.Body()), 0o644); err != nil {
			t.Fatal(err)
		}
		check("-e", "SC2317", path) // functions that this script does not call
	}
}
