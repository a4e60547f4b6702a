package memcluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/restart"
	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/restart/clustertest/memcluster"
	"cluster-watchdog/watchdog"
)

const nodes = 2

var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "memcluster")
	if err == nil {
		programs, err = clustertest.BuildPrograms(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// came is what one restart came to: the scripts that each node was asked to run, in their order, and
// how the attempt ended.
type came struct {
	scripts [nodes][]string
	outcome watchdog.AttemptOutcome
	step    string
}

// settings of the same group on both kinds of cluster.
func settings(dir, mount string, memory time.Duration) restart.Settings {
	return restart.Settings{
		Owner: restart.Owner{ID: "id-of-spark", Name: "spark", StateDir: "/state"},
		Group: "demo", Container: clustertest.Container, Nodes: []string{"n1", "n2"}, HeadAddr: "127.0.0.1", Command: `sh ~/launch.sh "$WATCHDOG_RANK"`,
		LaunchTimeout: 20 * time.Second, StopSeconds: 1, Image: clustertest.Image,
		Mounts: []restart.Mount{{Path: mount, Sentinel: filepath.Join(mount, clustertest.Sentinel)}}, Disks: []restart.Disk{{Path: "/", MinFree: 1}},
		Ports: []int{29500}, MemoryWait: memory, FlusherEvery: time.Minute, FlusherFor: 10 * time.Minute, Evidence: filepath.Join(dir, "cases"),
	}
}

// kindOf is a step without the path that it is about.
func kindOf(step string) string {
	kind, _, _ := strings.Cut(step, " /")
	return kind
}

// restarted runs one restart and returns how it ended.
func restarted(t *testing.T, remote restart.Remote, set restart.Settings, ids []string) watchdog.Attempt {
	t.Helper()
	a, err := try(t, remote, set, ids, watchdog.Attempt{ID: 1, Why: "rank 1 exited", Incident: 1}, func(watchdog.Attempt) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try runs one try of an attempt.
func try(t *testing.T, remote restart.Remote, set restart.Settings, ids []string, a watchdog.Attempt, save func(watchdog.Attempt) error) (watchdog.Attempt, error) {
	t.Helper()
	plan, err := restart.NewPlan(set, restart.Steps())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	world := restart.World{
		Clock: func() watchdog.Clock {
			return watchdog.Clock{Wall: time.Now(), Boot: time.Since(began), BootID: "boot"}
		},
		Save:   save,
		Switch: func() watchdog.Flag { return watchdog.Flag{} },
		Notice: func(watchdog.NoticeKind, string, string) {},
		Log:    zerolog.Nop(),
	}
	const floor = 64 << 30
	return restart.NewRunner(plan, remote, world).Run(context.Background(), restart.Order{Attempt: a, Seen: ids, MemFloor: []int64{floor, floor}})
}

// overSSH starts a group over real SSH, one of whose ranks has died.
func overSSH(t *testing.T, f *clustertest.Fault) (cluster *clustertest.Cluster, dial func() *restart.Conns, ids []string, dir string) {
	dir = t.TempDir()
	cluster, err := clustertest.Start(clustertest.Options{Nodes: nodes, Dir: filepath.Join(dir, "cluster"), Programs: programs, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	if err := cluster.StartGroup(); err != nil {
		t.Fatal(err)
	}
	var places []restart.Place
	for _, n := range cluster.Nodes {
		places = append(places, restart.Place{Name: n.Name, Host: n.Host, Port: n.Port})
	}
	if err := cluster.Crash(1, 1); err != nil {
		t.Fatal(err)
	}
	if f != nil {
		cluster.Set(*f)
	}
	targets, err := restart.Resolve(restart.Identity{User: clustertest.User, Keys: []string{cluster.KeyFile}, KnownHosts: cluster.KnownHostsFile}, places)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, func() *restart.Conns { return restart.NewConns(targets, restart.DefaultLimits()) }, standing(t, cluster), dir
}

// standing is the id of the container on each node, "" for none.
func standing(t *testing.T, cluster *clustertest.Cluster) []string {
	ids := make([]string, nodes)
	for rank := range nodes {
		d, err := cluster.Docker(rank)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(d.Containers); n > 1 {
			t.Errorf("n%d has %d containers", rank+1, n)
		} else if n == 1 {
			ids[rank] = d.Containers[0].ID
		}
	}
	return ids
}

// real plays it over real SSH.
func real(t *testing.T, f *clustertest.Fault) (c came) {
	cluster, dial, ids, dir := overSSH(t, f)
	conns := dial()
	defer conns.Close()
	a := restarted(t, conns, settings(dir, cluster.Mount, time.Second), ids)
	for rank := range nodes {
		for _, label := range cluster.Calls(rank) {
			if name, ok := strings.CutPrefix(label, "script "); ok {
				c.scripts[rank] = append(c.scripts[rank], name)
			}
		}
	}
	c.outcome, c.step = a.Outcome, kindOf(a.Step)
	return c
}

// inMemory plays it in memory.
func inMemory(t *testing.T, f *clustertest.Fault) (c came) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cluster := memcluster.New(memcluster.Options{Nodes: nodes, Seed: 1, Heard: func(script string, rank int) {
			c.scripts[rank] = append(c.scripts[rank], script)
		}})
		for rank := nodes - 1; rank >= 0; rank-- {
			cluster.PersonStart(rank)
		}
		var ids []string
		for rank := range nodes {
			ids = append(ids, cluster.Look(rank).ID)
		}
		cluster.Crash(1, 1)
		time.Sleep(time.Minute)
		if f != nil {
			if _, err := cluster.Faults.Set(*f); err != nil {
				t.Fatal(err)
			}
		}
		a := restarted(t, cluster.Dial("watchdog"), settings(dir, "/models", time.Minute), ids)
		c.outcome, c.step = a.Outcome, kindOf(a.Step)
	})
	return c
}

// TestSameAsOverSSH plays 20 restarts on both kinds of cluster: each node is asked for the same
// scripts in the same order, and the attempt ends the same.
func TestSameAsOverSSH(t *testing.T) {
	at := func(kind clustertest.FaultKind, node int, step string) *clustertest.Fault {
		return &clustertest.Fault{Kind: kind, Node: node, Step: step}
	}
	faults := []*clustertest.Fault{
		nil,
		at(clustertest.ContainerExits, 0, "launch/launch"), at(clustertest.ContainerExits, 1, "launch/launch"),
		at(clustertest.ContainerHangs, 0, "destroy/remove"), at(clustertest.ContainerLingers, 0, "destroy/remove"), at(clustertest.ContainerLingers, 1, "destroy/remove"),
		at(clustertest.LaunchFails, 0, "launch/launch"), at(clustertest.LaunchFails, 1, "launch/launch"),
		at(clustertest.DockerDenied, 0, "check/docker"), at(clustertest.DockerDenied, 1, "settle/orphans"),
		at(clustertest.DockerDown, 1, "check/identity"), at(clustertest.DockerDown, 1, "launch/verify"),
		at(clustertest.MountAbsent, 0, "check/mount"), at(clustertest.MountStale, 1, "check/mount"), at(clustertest.MountSlow, 1, "check/mount"),
		at(clustertest.NoSudo, 1, "check/sudo"), at(clustertest.NoSudo, 0, "settle/flusher"),
		at(clustertest.DiskFull, 1, "check/disk"), at(clustertest.MemoryShort, 1, "settle/memory"),
		at(clustertest.SSHDDrops, 1, "launch/launch"), at(clustertest.SSHDRefuses, 1, ""),
	}
	for _, f := range faults {
		name := "no fault"
		if f != nil {
			name = fmt.Sprintf("%s on n%d %s", f.Kind, f.Node+1, f.Step)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each has a cluster of its own
			want, got := real(t, f), inMemory(t, f)
			if want.outcome != got.outcome || want.step != got.step {
				t.Errorf("in memory it ends %s in %q, over SSH %s in %q", got.outcome, got.step, want.outcome, want.step)
			}
			for rank := range nodes {
				if !slices.Equal(want.scripts[rank], got.scripts[rank]) {
					t.Errorf("n%d is asked in memory for\n%v, over SSH for\n%v", rank+1, got.scripts[rank], want.scripts[rank])
				}
			}
		})
	}
}

// Every fault of the table is known here: one that changes nothing would be a lie.
func TestEveryFaultIsPlayed(t *testing.T) {
	clean := inMemory(t, nil)
	for _, kind := range clustertest.Kinds() {
		got := inMemory(t, &clustertest.Fault{Kind: kind, Node: 1})
		same := got.outcome == clean.outcome && slices.Equal(got.scripts[1], clean.scripts[1])
		told := kind == clustertest.MountSlow                      // and no more
		if same && !told && kind != clustertest.ContainerLingers { // the barrier waits for it
			t.Errorf("%s changes nothing: %s, %v", kind, got.outcome, got.scripts[1])
		}
	}
}
