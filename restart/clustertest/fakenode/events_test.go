package fakenode

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// actions returns what was told of containers.
func actions(t *testing.T, n Node) string {
	t.Helper()
	r := onDocker(n, "events", "--since", "0", "--until", "0s", "--filter", "type=container", "--format",
		`{{.Action}}{{with index .Actor.Attributes "signal"}}={{.}}{{end}}{{with index .Actor.Attributes "exitCode"}}={{.}}{{end}}`)
	if r.code != 0 {
		t.Fatalf("got %+v", r)
	}
	return strings.Join(strings.Fields(r.out), " ")
}

func TestEventsOfEachEnd(t *testing.T) {
	crash := func(t *testing.T, n Node) {
		t.Helper()
		err := n.Change(func(d *Daemon) error {
			d.Crash(d.Containers[0], 1, time.Now())
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) func(*testing.T, Node) {
		return func(t *testing.T, n Node) {
			t.Helper()
			if r := onDocker(n, args...); r.code != 0 {
				t.Fatalf("got %+v", r)
			}
		}
	}
	for _, tc := range []struct {
		name  string
		run   []string
		do    func(*testing.T, Node)
		want  string
		count int // containers left
	}{
		{"crash", nil, crash, "die=1", 1},
		{"crash with a restart policy", []string{"--restart", "always"}, crash, "die=1 start", 1},
		{"crash with --rm", []string{"--rm"}, crash, "die=1 destroy", 0},
		{"stop", nil, command("stop", "-t", "5", "vllm"), "kill=15 die=0 stop", 1},
		{"kill", nil, command("kill", "vllm"), "kill=9 die=137", 1},
		{"kill with HUP", nil, command("kill", "-s", "USR1", "vllm"), "kill=10", 1},
		{"rm -f", nil, command("rm", "-f", "vllm"), "kill=9 die=137 destroy", 0},
		{"restart", nil, command("restart", "vllm"), "kill=15 die=0 stop start restart", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := newNode(t)
			run(t, n, tc.run...)
			tc.do(t, n)
			if got := actions(t, n); got != "create start "+tc.want {
				t.Errorf("told %s", got)
			}
			d, err := n.Look()
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Containers) != tc.count {
				t.Errorf("%d containers are left", len(d.Containers))
			}
			if again := slices.Contains(tc.run, "always"); tc.count > 0 && (d.Containers[0].RestartCount == 1) != again {
				t.Errorf("Docker started it again %d times", d.Containers[0].RestartCount)
			}
		})
	}
}

// TestEventLine: the very text of docker events, and what is remembered of many.
func TestEventLine(t *testing.T) {
	n := newNode(t)
	id := run(t, n)
	onDocker(n, "rm", "-f", "vllm")
	r := onDocker(n, "events", "--since", "0", "--until", "0s", "--filter", "event=die", "--format", "{{json .}}")
	var e Event
	if err := json.Unmarshal([]byte(r.out), &e); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"status":"die","id":"%s","from":"%s","Type":"container","Action":"die","Actor":{"ID":"%[1]s","Attributes":`+
		`{"execDuration":"0","exitCode":"137","image":"%[2]s","name":"vllm"}},"scope":"local","time":%[3]d,"timeNano":%d}`+"\n", id, testImage, e.Time, e.TimeNano)
	if r.out != want {
		t.Errorf("got  %s\nwant %s", r.out, want)
	}
	all := onDocker(n, "events", "--since", "0", "--until", "0s", "--format", "json")
	if got := strings.Count(all.out, "\n"); got != 7 {
		t.Errorf("%d events, with those of the network: %s", got, all.out)
	}
	exactly := fmt.Sprintf("%d.%09d", e.Time, e.TimeNano%int64(time.Second))
	if r := onDocker(n, "events", "--since", exactly, "--until", exactly, "--format", "{{.Action}}"); r.out != "die\n" {
		t.Errorf("at its own time: %+v", r)
	}
}

func TestOnlyTheLastEventsAreKept(t *testing.T) {
	d := NewDaemon("n1", 1, testImage)
	now := time.Now()
	c, err := d.Create(Spec{Name: "vllm", Image: testImage}, now)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.Start(c, now)
		d.Die(c, 1, now)
	}
	if len(d.Events) != 256 {
		t.Errorf("%d are kept", len(d.Events))
	}
	for i := range d.Events[1:] {
		if d.Events[i].TimeNano >= d.Events[i+1].TimeNano {
			t.Fatal("two events have one time")
		}
	}
}

// TestRemovalTakesItsTime: D02, by the clock it is given.
func TestRemovalTakesItsTime(t *testing.T) {
	d := NewDaemon("n1", 1, testImage)
	now := time.Now()
	c, err := d.Create(Spec{Name: "vllm", Image: testImage}, now)
	if err != nil {
		t.Fatal(err)
	}
	d.Leave(c, now.Add(time.Second))
	d.sweep(now)
	if len(d.Containers) != 1 || c.State.Status != "removing" {
		t.Fatalf("at once it is %+v", d.Containers)
	}
	d.sweep(now.Add(time.Second))
	if last := d.Events[len(d.Events)-1]; len(d.Containers) != 0 || last.Action != "destroy" {
		t.Errorf("in the end it is %+v, told as %s", d.Containers, last.Action)
	}
}
