package main

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/systemd"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const exampleFile = "../../systemd/config.example.yaml"

// The unit and the code are two places for the same numbers.
func TestUnitMatchesTheCode(t *testing.T) {
	service, timer := setting(t, "cluster-watchdog.service"), setting(t, "cluster-watchdog.timer")
	if got := strings.Replace(service("Service", "TimeoutStartSec"), "min", "m", 1); got != briefDuration(unitTimeout) {
		t.Errorf("TimeoutStartSec is %s, unitTimeout %s", got, unitTimeout)
	}
	if got := service("Service", "TimeoutStopSec"); got != unitStop.String() {
		t.Errorf("TimeoutStopSec is %s, unitStop %s", got, unitStop)
	}
	if b := unitBounds; b.finish >= b.end || b.end+lastWords >= unitTimeout || b.stop+lastWords > unitStop || tellAfterTerm >= b.stop {
		t.Errorf("Y02: a hung run does not end in time by itself: %+v, with last words of %s", b, lastWords)
	}
	if got := service("Service", "StateDirectory"); got != filepath.Base(defaultConfig().StateDir) {
		t.Errorf("StateDirectory is %s, state_dir %s", got, defaultConfig().StateDir)
	}
	if got := "/run/" + service("Service", "RuntimeDirectory"); got != filepath.Dir(defaultConfig().ActingLock) {
		t.Errorf("RuntimeDirectory is %s, acting_lock %s", got, defaultConfig().ActingLock)
	}
	if got := timer("Timer", "OnCalendar"); got != "minutely" || defaultConfig().Period != time.Minute {
		t.Errorf("OnCalendar is %s, period %s", got, defaultConfig().Period)
	}
	if got := service("Service", "LoadCredential"); got != "api-key:"+filepath.Dir(defaultConfigPath)+"/api-key" {
		t.Errorf("LoadCredential is %s, the config %s", got, defaultConfigPath)
	}
	if tasks, err := strconv.Atoi(service("Service", "TasksMax")); err != nil || 2*mostParallel > tasks {
		t.Errorf("TasksMax is %d, and %d threads may wait for the disk", tasks, mostParallel)
	}
	if text := read(t, exampleFile); !strings.Contains(text, defaultConfigPath) || !strings.Contains(text, "45 minutes") || unitTimeout != 45*time.Minute {
		t.Errorf("the example names another file than %s or another time than %s", defaultConfigPath, unitTimeout)
	}
}

// The example is the reference of all keys: it must show each, and defaults as they are.
func TestExampleShowsTheDefaults(t *testing.T) {
	own := []string{"container", "nodes", "ssh.user", "ssh.keys", "ssh.known_hosts", "server.url", "launch.command"}
	c := exampleConfig(t)
	want := defaultConfig()
	for _, key := range own {
		from, to := at(reflect.ValueOf(&c), key), at(reflect.ValueOf(&want), key)
		if to.Len() > 0 {
			t.Errorf("%s has a default after all", key)
		}
		to.Set(from)
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(Config{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the example against the defaults (-default +example):\n%s", diff)
	}

	shown := decode([]byte(read(t, exampleFile)), &Config{}).lines
	for _, key := range keysOf(reflect.TypeFor[Config](), "") {
		if shown[key] == 0 {
			t.Errorf("the example does not show %s", key)
		}
	}
}

// What the example offers in comments must work when the mark is taken away.
func TestCommentedExamplesAreValid(t *testing.T) {
	count := 0
	lines := strings.Split(read(t, exampleFile), "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(strings.TrimPrefix(line, "  # "), ": ")
		if !strings.HasPrefix(line, "  # ") || !ok || i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "  "+key+": ") {
			continue
		}
		count++
		text := append(append([]string{}, lines[:i]...), "  "+strings.TrimPrefix(line, "  # "))
		text = append(text, lines[i+2:]...)
		if _, problems := parseConfig([]byte(strings.Join(text, "\n"))); len(problems) > 0 {
			t.Errorf("%s: %v", line, problems)
		}
	}
	if count != 3 {
		t.Errorf("%d commented examples found", count)
	}
}

func TestLongestTick(t *testing.T) {
	c := defaultConfig()
	sum, most := c.stepBudget()
	if sum < 25*time.Minute || sum > unitTimeout-10*time.Minute || most != "launch.timeout" {
		t.Errorf("the longest tick takes %s, most by %s", sum, most)
	}
	for _, row := range []struct {
		name   string
		change func(*Config)
		longer time.Duration
		most   string
	}{
		{"launches count twice: workers, then head", func(c *Config) { c.Launch.Timeout += time.Minute }, 2 * time.Minute, "launch.timeout"},
		{"one launch after the other: three in place of two", func(c *Config) { c.Nodes, c.Launch.Sequential = make([]NodeConfig, 3), true }, c.Launch.Timeout + 45*time.Second, "launch.timeout"},
		{"stopping", func(c *Config) { c.Launch.StopSeconds += 60 }, time.Minute, "launch.timeout"},
		{"memory", func(c *Config) { c.Settle.MemoryWait += 30 * time.Minute }, 30 * time.Minute, "settle.memory_wait"},
		{"between two looks", func(c *Config) { c.Judge.Dead.Apart += time.Minute }, time.Minute, "launch.timeout"},
		{"notices", func(c *Config) { c.Notify.Timeout += 10 * time.Minute }, 40 * time.Minute, "notify.timeout"},
	} {
		c := defaultConfig()
		row.change(&c)
		if got, most := c.stepBudget(); got != sum+row.longer || most != row.most {
			t.Errorf("%s: %s longer, most by %s", row.name, got-sum, most)
		}
	}
}

func setting(t *testing.T, file string) func(section, name string) string {
	t.Helper()
	content, err := systemd.Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options, err := unit.DeserializeOptions(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return func(section, name string) string {
		for _, o := range options {
			if o.Section == section && o.Name == name {
				return o.Value
			}
		}
		return ""
	}
}

// at finds the value of a key.
func at(v reflect.Value, key string) reflect.Value {
	v = v.Elem()
	for name := range strings.SplitSeq(key, ".") {
		fields, _ := fieldsOf(v)
		v = fields[name]
	}
	return v
}

// keysOf lists every key outside lists.
func keysOf(typ reflect.Type, path string) []string {
	if typ.Kind() != reflect.Struct {
		return []string{path}
	}
	var keys []string
	for i := range typ.NumField() {
		if name := typ.Field(i).Tag.Get("yaml"); name != "" {
			keys = append(keys, keysOf(typ.Field(i).Type, join(path, name))...)
		}
	}
	return keys
}
