package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cluster-watchdog/restart/clustertest"
)

// programs is the executable that plays docker and the rest on simulated nodes.
var programs string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == examineState { // the program examines its state by itself
		os.Exit(runOn(host{}))
	}
	testscript.Main(programsFirst{m}, map[string]func(){
		"watchdog":         func() { os.Exit(runOn(host{id: "id-of-spark", name: "spark"})) },
		"other-head":       func() { os.Exit(runOn(host{id: "id-of-other", name: "other"})) },
		"no-head-id":       func() { os.Exit(runOn(host{name: "spark"})) },
		"watchdog-briefly": func() { os.Exit(runOn(host{id: "id-of-spark", name: "spark", within: briefly})) },
		"watchdog-on-disk": playDisk,
	})
}

// programsFirst builds the programs of the nodes before the tests run.
type programsFirst struct{ m *testing.M }

func (p programsFirst) Run() int {
	dir, err := os.MkdirTemp("", "watchdog-programs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if programs, err = clustertest.BuildPrograms(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.m.Run()
}

// TestScripts runs testdata/cli: the real program against simulated clusters.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/cli",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values[clusterKey{}] = &clusterHolder{}
			e.Defer(func() {
				if c := e.Values[clusterKey{}].(*clusterHolder).cluster; c != nil {
					c.Close()
				}
			})
			heard, err := os.MkdirTemp("", "watchdog-heard-") // $WORK is hidden from other users
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(heard) })
			e.Setenv("HEARD", heard)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			states, err := filepath.Abs("../../state/testdata")
			if err != nil {
				return err
			}
			e.Setenv("STATES", states)
			return os.Chmod(heard, 0o777)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "timens":
				return exec.Command("unshare", "-T", "--boottime", "1", "true").Run() == nil, nil
			}
			if name == "fuse" {
				return canHang(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cluster": scriptCluster, "config": scriptConfig, "group": scriptGroup, "crash": scriptCrash, "stop": scriptStop, "engine": scriptEngine,
			"fault": scriptFault, "mend": scriptMend, "code": scriptCode, "untouched": scriptUntouched, "until": scriptUntil, "waitfor": scriptWaitFor,
			"hang": scriptHang, "letgo": scriptLetGo,
		},
	})
}

type clusterKey struct{}

type clusterHolder struct {
	cluster *clustertest.Cluster
	faults  []int
	letGo   func() // of what hangs
}

func clusterOf(ts *testscript.TestScript) *clusterHolder {
	return ts.Value(clusterKey{}).(*clusterHolder)
}

func check(ts *testscript.TestScript, err error) {
	if err != nil {
		ts.Fatalf("%v", err)
	}
}

// cluster NODES [BOOT]: starts a simulated cluster and writes config.yaml for it.
func scriptCluster(ts *testscript.TestScript, _ bool, args []string) {
	nodes, err := strconv.Atoi(args[0])
	check(ts, err)
	boot := time.Duration(0)
	if len(args) > 1 {
		boot, err = time.ParseDuration(args[1])
		check(ts, err)
	}
	h := clusterOf(ts)
	h.cluster, err = clustertest.Start(clustertest.Options{Nodes: nodes, Dir: ts.MkAbs("cluster"), Programs: programs, BootTime: boot})
	check(ts, err)
	check(ts, os.WriteFile(ts.MkAbs("config.yaml"), demoConfig(h.cluster, ts.MkAbs(".")), 0o600))
}

// config OLD NEW: replaces text in config.yaml.
func scriptConfig(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile("config.yaml")
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("config.yaml does not hold %q:\n%s", args[0], text)
	}
	check(ts, os.WriteFile(ts.MkAbs("config.yaml"), []byte(strings.Replace(text, args[0], args[1], 1)), 0o600))
}

// group: a person starts all ranks, and they serve.
func scriptGroup(ts *testscript.TestScript, _ bool, _ []string) {
	c := clusterOf(ts).cluster
	check(ts, c.StartGroup())
	for !c.Serving() {
		time.Sleep(time.Millisecond)
	}
}

// crash RANK CODE: the rank's process ends by itself.
func scriptCrash(ts *testscript.TestScript, _ bool, args []string) {
	rank, err := strconv.Atoi(args[0])
	check(ts, err)
	code, err := strconv.Atoi(args[1])
	check(ts, err)
	check(ts, clusterOf(ts).cluster.Crash(rank, code))
}

// stop RANK: a person stops it.
func scriptStop(ts *testscript.TestScript, _ bool, args []string) {
	rank, err := strconv.Atoi(args[0])
	check(ts, err)
	check(ts, clusterOf(ts).cluster.PersonStop(rank))
}

// engine MODE: how the head answers from now on.
func scriptEngine(ts *testscript.TestScript, _ bool, args []string) {
	clusterOf(ts).cluster.SetEngine(clustertest.EngineMode(args[0]))
}

// fault SPEC: something goes wrong until mend.
func scriptFault(ts *testscript.TestScript, _ bool, args []string) {
	f, err := clustertest.ParseFault(args[0])
	check(ts, err)
	h := clusterOf(ts)
	h.faults = append(h.faults, h.cluster.Set(f))
}

func scriptMend(ts *testscript.TestScript, _ bool, _ []string) {
	h := clusterOf(ts)
	for _, id := range h.faults {
		h.cluster.Unset(id)
	}
	h.faults = nil
}

// code N PROGRAM ARGS: runs it and wants this exit code.
func scriptCode(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	check(ts, err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		check(ts, err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// untouched: since the start of the script no container was removed or launched by the watchdog.
func scriptUntouched(ts *testscript.TestScript, not bool, _ []string) {
	var touched []string
	for _, call := range clusterOf(ts).cluster.Journal() {
		for _, word := range []string{"script destroy/", "script launch/", "script settle/"} {
			if strings.Contains(call.Label, word) {
				touched = append(touched, fmt.Sprintf("%d: %s", call.Node, call.Label))
			}
		}
	}
	if (len(touched) > 0) != not {
		ts.Fatalf("touched: %q", touched)
	}
}

// scriptUntilTries bounds until: a story that does not come to its end has failed.
const scriptUntilTries = 60

// until PATTERN [CONFIG [PROGRAM]]: ticks, one after the other, until the journal of one matches.
func scriptUntil(ts *testscript.TestScript, _ bool, args []string) {
	text, err := regexp.Compile(args[0])
	check(ts, err)
	config, program := "config.yaml", "watchdog"
	if len(args) > 1 {
		config = args[1]
	}
	if len(args) > 2 {
		program = args[2]
	}
	for range scriptUntilTries {
		_ = ts.Exec(program, "-c", config, "tick") // a refusal is part of the story
		if out := ts.ReadFile("stderr"); text.MatchString(out) {
			return
		}
		time.Sleep(200 * time.Millisecond) // the period of this timer
	}
	ts.Fatalf("no tick said %q", args[0])
}

// waitfor FILE: until it exists.
func scriptWaitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(filepath.FromSlash(args[0]))); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}
