package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// rack is a row of nodes in memory on which every script takes the time that it is given, and a disk
// on which a save takes its time too. It notes who was launched in which order beside whom.
type rack struct {
	t     *testing.T
	set   Settings
	takes func(script string, rank int) time.Duration // nil: no time
	write time.Duration                               // of one save
	fault func(script string, rank int) error
	flag  func() watchdog.Flag

	mu       sync.Mutex
	boxes    []string // the id that runs, per rank
	began    []string // "launch n2", "launched n2", "verify n2", in the order they happened
	at, most int      // launches at once
	disk     watchdog.Attempt
	saves    int
	killAt   int // the effect that does not happen any more; 0: never
	effects  int
	wrong    []string
}

var errPowerCut = errors.New("killed")

func newRack(t *testing.T, set Settings) *rack {
	r := &rack{t: t, set: set}
	for rank := range set.Nodes {
		r.boxes = append(r.boxes, fmt.Sprintf("%064x", 0xa000+rank))
	}
	return r
}

// rackSettings are those of a group of so many nodes.
func rackSettings(t *testing.T, nodes int) Settings {
	t.Helper()
	s := Settings{Group: "llm", Container: "vllm", HeadAddr: "10.0.0.1", Command: "sh ~/launch.sh", LaunchTimeout: time.Minute,
		StopSeconds: 10, Image: "img", Dirs: []string{"/d"}, Mounts: []Mount{{Path: "/models"}}, Disks: []Disk{{Path: "/", MinFree: 1}},
		Ports: []int{8000}, MemoryWait: time.Minute, FlusherEvery: time.Minute, FlusherFor: time.Hour, Evidence: t.TempDir()}
	for i := range nodes {
		s.Nodes = append(s.Nodes, fmt.Sprintf("n%d", i+1))
	}
	return s
}

// effect says whether what comes next still happens.
func (r *rack) effect() bool {
	r.effects++
	return r.killAt == 0 || r.effects < r.killAt
}

func (r *rack) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (Result, error) {
	if err := r.wait(ctx, s, rank); err != nil {
		return Result{}, err
	}
	if r.fault != nil {
		if err := r.fault(s.Name(), rank); err != nil {
			return Result{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Class() > scripts.Check && !r.effect() {
		return Result{}, errPowerCut
	}
	return r.do(s, rank, env["WATCHDOG_ID"])
}

// wait lets the script's time pass.
func (r *rack) wait(ctx context.Context, s scripts.Script, rank int) error {
	launch := s.Name() == "launch/launch"
	if launch {
		r.mu.Lock()
		r.at++
		r.most = max(r.most, r.at)
		r.began = append(r.began, "launch "+r.set.Nodes[rank])
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.at--
		}()
	}
	return r.pass(ctx, s, rank, 1)
}

// pass lets a part of a script's time pass.
func (r *rack) pass(ctx context.Context, s scripts.Script, rank, parts int) error {
	if r.takes == nil {
		return ctx.Err()
	}
	timer := time.NewTimer(r.takes(s.Name(), rank) / time.Duration(parts))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &NodeError{Node: r.set.Nodes[rank], Script: s.Name(), Reach: watchdog.ReachTimeout, Unknown: true, Err: ctx.Err()}
	}
}

func (r *rack) do(s scripts.Script, rank int, id string) (Result, error) {
	node := r.set.Nodes[rank]
	switch s.Name() {
	case "check/shell", "check/docker", "check/mount", "check/image", "check/sudo", "check/disk", "check/dirs", "check/claim", "check/identity",
		"claim/claim", "destroy/gone", "settle/flusher", "settle/ports", "settle/orphans":
	case "settle/memory":
		return Result{Stdout: "memfree=1000\n"}, nil
	case "destroy/remove":
		r.must(!r.disk.Committed.IsZero(), "%s destroyed before the commit was on disk", node)
		r.boxes[rank] = ""
	case "launch/launch":
		r.must(!r.disk.Launching.IsZero(), "%s launched before launching was on disk", node)
		r.must(r.boxes[rank] == "", "a second container of the name on %s", node)
		r.boxes[rank] = fmt.Sprintf("%064x", 0xb000+rank)
		r.began = append(r.began, "launched "+node)
		return Result{Stdout: "id=" + r.boxes[rank] + "\nstarted_at=2026-03-01T12:00:00Z\nstatus=running\n"}, nil
	case "launch/verify":
		r.must(id == r.boxes[rank], "%s is verified as %.12q", node, id)
		r.began = append(r.began, "verify "+node)
	default:
		r.t.Errorf("the rack does not know script %s", s.Name())
	}
	return Result{}, nil
}

func (r *rack) Stream(ctx context.Context, rank int, s scripts.Script, _ map[string]string, w io.Writer) (Result, error) {
	const parts = 8 // a log comes bit by bit
	for range parts {
		if err := r.pass(ctx, s, rank, parts); err != nil {
			return Result{}, err
		}
		if _, err := fmt.Fprintf(w, "engine started on %s\n", r.set.Nodes[rank]); err != nil {
			return Result{}, err
		}
	}
	return Result{}, nil
}

func (r *rack) must(ok bool, format string, args ...any) {
	if !ok {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

func (r *rack) save(a watchdog.Attempt) error {
	time.Sleep(r.write)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.effect() {
		return errPowerCut
	}
	r.saves++
	r.disk = a
	r.disk.Launched = slices.Clone(a.Launched)
	return nil
}

// world is what a runner on the rack gets.
func (r *rack) world() World {
	began := time.Now()
	return World{
		Clock: func() watchdog.Clock {
			return watchdog.Clock{Wall: time.Now(), Boot: time.Hour + time.Since(began), BootID: "boot"}
		},
		Save: r.save, Notice: func(watchdog.NoticeKind, string, string) {}, Log: zerolog.Nop(),
		Switch: func() watchdog.Flag {
			if r.flag == nil {
				return watchdog.Flag{}
			}
			return r.flag()
		},
	}
}

// preserved lists the files of evidence.
func preserved(t *testing.T, set Settings) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(set.Evidence, "incident-1", "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// restart runs one try on what stands now.
func (r *rack) restart(a watchdog.Attempt) watchdog.Attempt {
	r.t.Helper()
	p, err := NewPlan(r.set, Steps())
	if err != nil {
		r.t.Fatal(err)
	}
	if a.ID == 0 {
		a = watchdog.Attempt{ID: 1, Why: "rank 2 exited", Incident: 1}
	}
	got, err := NewRunner(p, r, r.world()).Run(context.Background(), Order{Attempt: a, Seen: slices.Clone(r.boxes)})
	if err != nil && r.killAt == 0 {
		r.t.Fatal(err)
	}
	for _, w := range r.wrong {
		r.t.Error(w)
	}
	return got
}

// story is what happened to the launches, as one line.
func (r *rack) story() string { return strings.Join(r.began, ", ") }
