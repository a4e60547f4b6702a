package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewriteConfigs = flag.Bool("rewrite-configs", false, "write what is wrong into the first lines of testdata/config/bad-*.yaml")

const configData = "../../testdata/config"

const wantMark = "# want: "

// Each bad config holds one mistake, named by the file; its first lines say what a person is told.
func TestBadConfigs(t *testing.T) {
	files, err := filepath.Glob(configData + "/bad-*.yaml")
	if err != nil || len(files) < 80 {
		t.Fatalf("found %d bad configs, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, problems := parseConfig(content)
			if len(problems) == 0 {
				t.Fatal("accepted")
			}
			got := (&configError{"config", problems}).Error()
			if *rewriteConfigs {
				rewriteWants(t, file, string(content), got)
				return
			}
			if diff := cmp.Diff(wants(string(content)), got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "hunter2") {
				t.Error("a secret is shown")
			}
		})
	}
}

func wants(content string) string {
	var lines []string
	for line := range strings.Lines(content) {
		if want, ok := strings.CutPrefix(line, wantMark); ok {
			lines = append(lines, strings.TrimSpace(want))
		}
	}
	return strings.Join(lines, "\n")
}

// rewriteWants keeps the number of lines, since the messages hold line numbers.
func rewriteWants(t *testing.T, file, content, got string) {
	t.Helper()
	had := strings.Count(content, wantMark)
	lines := strings.Split(got, "\n")
	if had != len(lines) {
		t.Fatalf("%d problems but %d lines %q:\n%s", len(lines), had, wantMark, got)
	}
	_, rest := splitLines(content, had)
	content = wantMark + strings.Join(lines, "\n"+wantMark) + "\n" + rest
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func splitLines(s string, n int) (head, rest string) {
	parts := strings.SplitAfterN(s, "\n", n+1)
	return strings.Join(parts[:n], ""), parts[n]
}

func TestEveryProblemHasItsPlace(t *testing.T) {
	shape := regexp.MustCompile(`^config:\d+: ([a-z_.<]+(\[\d+\])?[a-z_.]*: )?[a-zA-Z].*$`)
	files, _ := filepath.Glob(configData + "/bad-*.yaml")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, problems := parseConfig(content)
		for line := range strings.Lines((&configError{"config", problems}).Error()) {
			if !shape.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: %s", filepath.Base(file), line)
			}
		}
	}
}

func TestMinimalConfigIsEnough(t *testing.T) {
	c, err := loadConfig(place(t, read(t, configData+"/good-minimal.yaml"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	want := defaultConfig()
	want.Container = "vllm"
	want.Nodes = []NodeConfig{{Name: "spark1", Address: "10.0.0.1"}, {Name: "spark2", Address: "10.0.0.2"}}
	want.SSH = SSHConfig{User: "ops", Keys: []string{"/home/ops/.ssh/id_ed25519"}, KnownHosts: "/home/ops/.ssh/known_hosts", Parallel: 32}
	want.Server.URL = "http://10.0.0.1:8000"
	want.Launch.Command = `bash ~/launch.sh "$WATCHDOG_RANK"`
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Config{})); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

// Wherever the file is broken, what it holds is not told.
func TestParseErrorsQuoteNothing(t *testing.T) {
	good := read(t, configData+"/good-minimal.yaml")
	secret := "hunter2hunter2"
	for _, broken := range []string{
		"\"%", "'%", "%: %: %", "[%", "{%", "{%: %", "*%", "&%", "!!%", "@%", "`%", "\"\\q%\"", "|%", ">-9%",
		"{% %: }", "\t%: %", "- %", "? %", "%: [a, %", "<<: %", "!<%> a", "%YAML %", "{\"%\": 1, \"%\": 2", "[%]]",
	} {
		value := strings.ReplaceAll(broken, "%", secret)
		for _, text := range []string{
			strings.Replace(good, "user: ops", "user: "+value, 1),
			good + value + "\n",
			value + "\n" + good,
			good + "server: " + value + "\n",
			strings.Replace(good, "command: bash", "command: "+value, 1),
			strings.Replace(good, "url: http", "url: "+value, 1),
			good + "notify:\n  command: " + value + "\n",
			strings.Replace(good, "url:", "api_key_file: "+value+"\n  url:", 1),
		} {
			_, problems := parseConfig([]byte(text))
			told := (&configError{"config", problems}).Error()
			if strings.Contains(told, secret) && !keyOrName(told, secret) {
				t.Errorf("value %q: told %s", value, told)
			}
		}
	}
}

// keyOrName allows the name of an unknown key and a refused user name: neither is a secret.
func keyOrName(told, secret string) bool {
	for line := range strings.Lines(told) {
		if strings.Contains(line, secret) && !strings.Contains(line, "unknown key") && !strings.Contains(line, "ssh.user") {
			return false
		}
	}
	return true
}

func FuzzParseConfig(f *testing.F) {
	files, _ := filepath.Glob(configData + "/*.yaml")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if c, problems := parseConfig(content); len(problems) == 0 {
			if again := c.Validate(); len(again) > 0 {
				t.Errorf("accepted, then %v", again)
			}
		}
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// place writes a config into a folder of its own that passes the checks of owner and mode.
func place(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "config.yaml")
	if err := errors.Join(os.WriteFile(file, []byte(content), 0o600), os.Chmod(file, mode), os.Chmod(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	return file
}

// A longer one would not fit into the environment of the scripts that run it.
func TestLongCommand(t *testing.T) {
	good := read(t, configData+"/good-minimal.yaml")
	for length, want := range map[int]int{64 << 10: 0, 64<<10 + 1: 1} {
		command := strings.Repeat("x", length)
		_, problems := parseConfig([]byte(strings.Replace(good, `bash ~/launch.sh "$WATCHDOG_RANK"`, command, 1)))
		if len(problems) != want {
			t.Errorf("%d bytes: %d problems, want %d", length, len(problems), want)
		}
	}
}
