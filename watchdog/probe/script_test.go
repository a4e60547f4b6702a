package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// beDocker makes this test binary a docker for one call: see fakeDocker.
const beDocker = "PROBE_TEST_BE_DOCKER"

func TestMain(m *testing.M) {
	if os.Getenv(playFiles) != "" {
		os.Exit(playDocker(os.Args[1:]))
	}
	if os.Getenv(beDocker) != "" {
		os.Exit(fakeDocker(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeDocker runs --format as Docker does, over one container named vllm and its events.
func fakeDocker(args []string) int {
	var rows []string
	var format string
	switch {
	case len(args) == 6 && args[0] == "inspect" && args[1] == "--type" && args[2] == "container" && args[3] == "--format":
		if args[5] != name {
			fmt.Println()
			fmt.Fprintf(os.Stderr, "Error response from daemon: No such container: %s\n", args[5])
			return 1
		}
		format, rows = args[4], []string{`{"Id":"` + idA + `","Name":"/vllm","Image":"sha256:x","RestartCount":0,
			"State":{"Status":"running","StartedAt":"2026-01-01T00:00:00Z","ExitCode":0,"Error":"","OOMKilled":false},
			"HostConfig":{"RestartPolicy":{"Name":""},"AutoRemove":true},"Config":{"Env":["TOKEN=hush"]}}`}
	case len(args) == 7 && args[0] == "events" && args[1] == "--since" && args[3] == "--until" && args[5] == "--format":
		format, rows = args[6], []string{
			`{"Type":"container","Action":"die","TimeNano":1767225600000000001,"Actor":{"ID":"` + idA + `","Attributes":{"exitCode":"0"}}}`,
			`{"Type":"container","Action":"exec_create: ` + strings.Repeat("hush ", 99) + `","TimeNano":1,"Actor":{"ID":"` + idA + `"}}`,
		}
	default:
		fmt.Fprintf(os.Stderr, "unknown docker command %q\n", args)
		return 125
	}
	return formatRows(format, rows)
}

// formatRows is Docker's --format.
func formatRows(format string, rows []string) int {
	t, err := template.New("").Option("missingkey=zero").Funcs(template.FuncMap{"json": func(v any) string {
		b, _ := json.Marshal(v)
		return string(b)
	}}).Parse(format)
	for _, row := range rows {
		if err == nil {
			err = t.Execute(os.Stdout, decode(row))
			fmt.Println()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 64
	}
	return 0
}

func decode(row string) map[string]any {
	d := json.NewDecoder(strings.NewReader(row))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	if actor, ok := v["Actor"].(map[string]any); ok && actor["Attributes"] == nil {
		actor["Attributes"] = map[string]any{}
	}
	return v
}

// runLook runs look.sh as a node would, with that docker script first in PATH.
func runLook(t *testing.T, docker string, env map[string]string) (out string, r watchdog.Rank) {
	t.Helper()
	programs := map[string]string{"docker": docker}
	if docker == "" {
		delete(programs, "docker")
	}
	out, err := runOnNode(t, t.Context(), scripts.Get("observe/look"), programs, env)
	if err != nil {
		t.Fatal(err)
	}
	readRank(&r, out, env["WATCHDOG_CONTAINER"], watchdog.Known{Clock: time.Unix(1, 0), Container: &watchdog.Container{ID: idA}})
	return out, r
}

// runOnNode runs a script through a shell that finds these programs first.
func runOnNode(t *testing.T, ctx context.Context, s scripts.Script, programs, env map[string]string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for program, text := range programs {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			return "", err
		}
	}
	fence := scripts.NewFence()
	text, err := scripts.Render(s, fence, env)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-s")
	cmd.Stdin = bytes.NewReader(text)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+path(t, programs["docker"] == ""))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	out, exit, ok := scripts.Inside(fence, stdout)
	if err != nil || exit != 0 || !ok || stderr.Len() > 0 {
		return "", fmt.Errorf("%s failed: %v, exit %d, fence %v\n%s\n%s", s.Name(), err, exit, ok, stdout, stderr.Bytes())
	}
	return out, nil
}

// path returns where the script finds its programs: without any docker where bare.
func path(t *testing.T, bare bool) string {
	if !bare {
		return os.Getenv("PATH")
	}
	dir := t.TempDir()
	for _, program := range []string{"date", "awk", "timeout", "head", "sed"} {
		found, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(found, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLookScript(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	real := beDocker + "=1 exec '" + self + `' "$@"`
	says := func(text string, exit int) string { return fmt.Sprintf("echo '%s' >&2; exit %d", text, exit) }
	const hang = "exec sleep 600"
	const deaf = "trap '' TERM; while :; do sleep 1; done" // ends by KILL only
	for _, row := range []struct {
		name, docker string
		container    string
		reach        watchdog.Reach
		present      bool
		seen         int
		eventsErr    bool
	}{
		{"normal", real, name, watchdog.ReachOK, true, 2, false},
		{"absent", real, "other", watchdog.ReachOK, false, 2, false},
		{"D02 No such object", says("Error: No such object: vllm", 1) + "", name, watchdog.ReachOK, false, 0, true},
		{"D02 no such object", says("error: no such object: vllm", 1), name, watchdog.ReachOK, false, 0, true},
		{"D02 Error: No such container", says("Error: No such container: vllm", 1), name, watchdog.ReachOK, false, 0, true},
		{"another name is absent", says("Error: No such object: other", 1), name, watchdog.ReachError, false, 0, false},
		{"absent with another exit", says("Error: No such object: vllm", 125), name, watchdog.ReachError, false, 0, false},
		{"D09 hang", hang, name, watchdog.ReachTimeout, false, 0, false},
		{"D09 deaf hang", deaf, name, watchdog.ReachTimeout, false, 0, false},
		{"a hang after half an answer", "printf 'container={\"id\":'; " + hang, name, watchdog.ReachTimeout, false, 0, false},
		{"events hang", `if test "$1" = events; then ` + hang + "; fi; " + real, name, watchdog.ReachOK, true, 0, true},
		{"D13 no docker", "", name, watchdog.ReachDenied, false, 0, false},
		{"D13 permission denied", says("permission denied while trying to connect to the docker API at unix:///var/run/docker.sock", 1), name, watchdog.ReachDenied, false, 0, false},
		{"no daemon", says("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", 1), name, watchdog.ReachRefused, false, 0, false},
		{"no socket", says("failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct and if the daemon is running: dial unix /var/run/docker.sock: connect: no such file or directory", 1), name, watchdog.ReachRefused, false, 0, false},
		{"a long complaint", "head -c 200000 /dev/zero | tr '\\0' x >&2; exit 1", name, watchdog.ReachError, false, 0, false},
		{"a warning beside the answer", "echo 'WARNING: config: permission denied' >&2; " + real, name, watchdog.ReachOK, true, 2, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			seconds := "15"
			if row.reach == watchdog.ReachTimeout || strings.Contains(row.docker, hang) {
				seconds = "4"
			}
			out, r := runLook(t, row.docker, map[string]string{"WATCHDOG_CONTAINER": row.container, "WATCHDOG_SINCE": "1.5", "WATCHDOG_SECONDS": seconds})
			if r.Docker != row.reach || (r.Container != nil) != row.present || r.EventsSeen != row.seen || (r.EventsErr != "") != row.eventsErr {
				t.Errorf("got %+v from\n%s", r, out)
			}
			if strings.Contains(out, "\nabsent\n") != (row.reach == watchdog.ReachOK && !row.present) || strings.Contains(out, "\nevents=") != (row.reach == watchdog.ReachOK) {
				t.Errorf("says\n%s", out)
			}
			if r.Clock.Before(time.Now().Add(-time.Hour)) {
				t.Errorf("clock %s", r.Clock)
			}
			if strings.Contains(out, "TOKEN") || strings.Count(out, "hush") > 20 || len(out) > 4000 {
				t.Errorf("says too much:\n%s", out)
			}
		})
	}
}

func TestLookScriptFirstTime(t *testing.T) {
	out, _ := runLook(t, `if test "$1" = events; then exit 9; fi; echo 'Error: No such object: vllm' >&2; exit 1`,
		map[string]string{"WATCHDOG_CONTAINER": name, "WATCHDOG_SINCE": ""})
	if strings.Contains(out, "events") || !strings.Contains(out, "\nabsent\n") {
		t.Errorf("got\n%s", out)
	}
}
