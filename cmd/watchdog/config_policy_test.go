package main

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultConfigIsTheDefaultPolicy(t *testing.T) {
	c := defaultConfig()
	built := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	want := watchdog.DefaultPolicy()
	want.Group, want.Identity, want.Config, want.Built = "llm", c.Identity(), c.Hash(), built
	if diff := cmp.Diff(want, c.Policy(built)); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

// A window that the config cannot set, or a key that sets none, would go unseen otherwise.
func TestEveryWindowComesFromTheConfig(t *testing.T) {
	fixed := []string{
		"MaxEvents",   // a fact about Docker
		"ClockFuture", // a fact about clocks
	}
	c := defaultConfig()
	c.Server.Engine = "sglang"
	eachValue(reflect.ValueOf(&c).Elem(), "", "", func(_, _ string, v reflect.Value) { change(v) })
	c.Server.Engine = "sglang"
	was, is := reflect.ValueOf(watchdog.DefaultPolicy()), reflect.ValueOf(c.Policy(time.Unix(1, 0)))
	for i := range was.NumField() {
		name := was.Type().Field(i).Name
		changed := !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface())
		if changed == slices.Contains(fixed, name) {
			t.Errorf("%s: changed %v", name, changed)
		}
	}
	back := judgeOf(c.Policy(time.Unix(1, 0)))
	if diff := cmp.Diff(c.Judge, back); diff != "" {
		t.Errorf("a key of judge is lost in the policy (-want +got):\n%s", diff)
	}
}

// Where busy_told is short, a skipped canary must not look like trouble.
func TestCanaryEveryStaysBelowBusyTold(t *testing.T) {
	c := defaultConfig()
	c.Judge.BusyTold = 4 * time.Minute
	if got := c.Policy(time.Unix(1, 0)).CanaryEvery; got != 2*time.Minute {
		t.Errorf("got %s", got)
	}
}

func TestEngineNames(t *testing.T) {
	for name, want := range map[string]watchdog.Engine{"auto": watchdog.EngineUnknown, "vllm": watchdog.VLLM, "sglang": watchdog.SGLang} {
		if got := engineOf(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// Every value is in the hash; only nodes, container, process, launch and URLs are in the identity.
func TestHashes(t *testing.T) {
	inIdentity := regexp.MustCompile(`^(container|process|nodes\..*|launch\..*|server\.(metrics_)?url)$`)
	c := exampleConfig(t)
	count := 0
	c.Launch.Dirs, c.Settle.Ports = []string{"/a", "/b"}, []int{1, 2}
	c.Checks.Mounts, c.Checks.Disk = []MountConfig{{"/m", "nfs4", "/m/x"}}, []DiskConfig{{"/d", GiB}}
	hashOf, identityOf := c.Hash(), c.Identity()
	eachValue(reflect.ValueOf(&c).Elem(), "", "", func(field, _ string, v reflect.Value) {
		count++
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		change(v)
		if c.Hash() == hashOf {
			t.Errorf("%s is not in the hash", field)
		}
		if got := c.Identity() != identityOf; got != inIdentity.MatchString(field) {
			t.Errorf("%s in the identity: %v", field, got)
		}
		v.Set(was)
	})
	if count < 60 {
		t.Errorf("only %d values seen", count)
	}
}

// A new version of the program must not disarm every cluster by hashing the same config anew.
func TestIdentityIsStable(t *testing.T) {
	c, problems := parseConfig([]byte(read(t, configData+"/good-minimal.yaml")))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got, want := c.Identity(), "acfd8a3ad17975cf"; got != want {
		t.Errorf("identity %s, was %s", got, want)
	}
}

// A launch whose end was never recorded is over when all that follow each other are.
func TestLaunchesThatFollowEachOther(t *testing.T) {
	c := exampleConfig(t) // four nodes
	for sequential, want := range map[bool]time.Duration{false: 20 * time.Minute, true: 40 * time.Minute} {
		c.Launch.Sequential = sequential
		if got := c.Policy(time.Unix(1, 0)).LaunchTimeout; got != want {
			t.Errorf("sequential %v: %s", sequential, got)
		}
	}
}

// The one bound holds for connecting and for copying logs.
func TestParallelReachesBothUses(t *testing.T) {
	c := exampleConfig(t)
	c.SSH.Parallel = 7
	if c.limits().Parallel != 7 || c.settings().Parallel != 7 {
		t.Errorf("connecting %d, copying %d", c.limits().Parallel, c.settings().Parallel)
	}
}

// What was the only order before there was a choice is the same config as before.
func TestTheUsualOrderIsNotInTheIdentity(t *testing.T) {
	good := read(t, configData+"/good-minimal.yaml")
	for line, want := range map[string]bool{"": true, "  order: workers-first\n": true, "  sequential: false\n": true, "  order: head-first\n": false, "  sequential: true\n": false} {
		c, problems := parseConfig([]byte(strings.Replace(good, "launch:\n", "launch:\n"+line, 1)))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := c.Identity() == "acfd8a3ad17975cf"; got != want {
			t.Errorf("%q: the same identity %v", line, got)
		}
	}
}

func exampleConfig(t *testing.T) Config {
	t.Helper()
	c, problems := parseConfig([]byte(read(t, exampleFile)))
	if len(problems) > 0 {
		t.Fatal((&configError{exampleFile, problems}).Error())
	}
	return c
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		v.SetInt(v.Int() + 1)
	}
}
