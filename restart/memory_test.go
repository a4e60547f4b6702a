package restart

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// memory is a cluster and a disk in memory. It knows the scripts by name and fails on others. It
// can stop dead before its n-th effect, as a SIGKILL would: from then on nothing happens any more.
type memory struct {
	mu         sync.Mutex
	t          *testing.T
	containers []string // id per rank, "" for none
	launches   []int    // per rank
	removed    []string // ids destroyed
	flushers   []bool
	calls      []string // "check/docker n2"
	fault      func(script string, rank int) error
	disk       watchdog.Attempt // as saved last
	saves      int
	saveFault  func(n int, a watchdog.Attempt) error
	flag       func(m *memory) watchdog.Flag
	effects    int
	killAt     int // 0: never
	dead       bool
	now        watchdog.Clock
	claims     []string // per rank, the head that claims it; "": none
	head       string   // whose runner this is
	notices    []string
	wrong      []string // broken invariants
}

func newMemory(t *testing.T, nodes int) *memory {
	m := &memory{t: t, containers: make([]string, nodes), launches: make([]int, nodes), flushers: make([]bool, nodes),
		claims: make([]string, nodes), head: "id-spark",
		now: watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Boot: time.Hour, BootID: "boot"}}
	for i := range m.containers {
		m.containers[i] = fmt.Sprintf("%064x", 0xa0+i)
	}
	return m
}

// effect says whether the next effect still happens.
func (m *memory) effect() bool {
	m.effects++
	if m.killAt > 0 && m.effects >= m.killAt {
		m.dead = true
	}
	return !m.dead
}

var errKilled = fmt.Errorf("killed")

func (m *memory) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return Result{}, &NodeError{Node: m.node(rank), Reach: watchdog.ReachTimeout, Unknown: true, Err: err}
	}
	m.calls = append(m.calls, s.Name()+" "+m.node(rank))
	if m.dead {
		return Result{}, errKilled
	}
	if m.fault != nil {
		if err := m.fault(s.Name(), rank); err != nil {
			return Result{}, err
		}
	}
	if s.Class() > scripts.Check && !m.effect() {
		return Result{}, errKilled
	}
	return m.do(s, rank, env)
}

func (m *memory) do(s scripts.Script, rank int, env map[string]string) (Result, error) {
	id := env["WATCHDOG_ID"]
	switch s.Name() {
	case "check/shell", "check/docker", "check/mount", "check/image", "check/sudo", "check/disk", "check/dirs",
		"settle/ports", "settle/orphans":
	case "check/identity":
		if m.containers[rank] != id {
			return m.refuse(s, rank, "a person is at work: the name is held by "+m.containers[rank])
		}
	case "check/claim":
		if c := m.claims[rank]; c != "" && c != env["WATCHDOG_HEAD_ID"] {
			return m.refuse(s, rank, "group llm is claimed by "+c)
		}
	case "claim/claim":
		if c := m.claims[rank]; c != "" && c != env["WATCHDOG_HEAD_ID"] {
			if env["WATCHDOG_TAKE_OVER"] != "yes" {
				return m.refuse(s, rank, "group llm is claimed by "+c)
			}
			m.claims[rank] = env["WATCHDOG_HEAD_ID"]
			return Result{Stdout: "replaced=group llm is claimed by " + c + "\n"}, nil
		}
		m.claims[rank] = env["WATCHDOG_HEAD_ID"]
	case "destroy/remove":
		m.must(m.claims[rank] == m.head || m.disk.Stop && m.claims[rank] == "", "destroyed on %s, which %q claims", m.node(rank), m.claims[rank])
		m.must(!m.disk.Committed.IsZero(), "destroyed on %s before the commit was on disk", m.node(rank))
		m.must(id == "" || (rank < len(m.disk.Destroy) && m.disk.Destroy[rank] == id), "destroyed %.4q on %s, on disk is %v", id, m.node(rank), m.disk.Destroy)
		if m.containers[rank] != id {
			return m.refuse(s, rank, "the name is held by another container")
		}
		if id != "" {
			m.removed = append(m.removed, id)
		}
		m.containers[rank] = ""
	case "destroy/gone":
		if m.containers[rank] != "" {
			return m.refuse(s, rank, "the name is still there")
		}
	case "settle/flusher":
		m.must(m.disk.Flusher, "started a flusher on %s that is not on disk", m.node(rank))
		m.flushers[rank] = true
	case "settle/endflusher":
		m.flushers[rank] = false
	case "settle/memory":
		return Result{Stdout: "memfree=1000\n"}, nil
	case "launch/launch":
		m.must(!m.disk.Launching.IsZero(), "launched on %s before launching was on disk", m.node(rank))
		m.must(!slices.ContainsFunc(m.removedYet(), func(left string) bool { return left != "" }) || m.launches[rank] > 0,
			"launched on %s over a half-cleaned group: %v", m.node(rank), m.containers)
		if m.containers[rank] != "" {
			return m.refuse(s, rank, "the name exists")
		}
		m.launches[rank]++
		m.containers[rank] = fmt.Sprintf("%064x", 0xb00+rank+16*m.launches[rank])
		return Result{Stdout: "id=" + m.containers[rank] + "\nstarted_at=2026-03-01T12:00:00Z\nstatus=running\n"}, nil
	case "launch/verify":
		if m.containers[rank] == "" || m.containers[rank] != id {
			return m.refuse(s, rank, "does not run")
		}
	default:
		m.t.Fatalf("memory cluster does not know script %s", s.Name())
	}
	return Result{}, nil
}

// removedYet returns the old containers that still stand.
func (m *memory) removedYet() []string {
	var left []string
	for rank, id := range m.containers {
		if id == fmt.Sprintf("%064x", 0xa0+rank) {
			left = append(left, id)
		}
	}
	return left
}

func (m *memory) Stream(ctx context.Context, rank int, s scripts.Script, _ map[string]string, w io.Writer) (Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, s.Name()+" "+m.node(rank))
	if m.dead {
		return Result{}, errKilled
	}
	if m.fault != nil {
		if err := m.fault(s.Name(), rank); err != nil {
			return Result{}, err
		}
	}
	_, err := fmt.Fprintf(w, "engine started with --api-key verysecret on %s\n", m.node(rank))
	return Result{}, err
}

func (m *memory) node(rank int) string { return fmt.Sprintf("n%d", rank+1) }

func (m *memory) refuse(s scripts.Script, rank int, why string) (Result, error) {
	return Result{}, &NodeError{Node: m.node(rank), Reach: watchdog.ReachOK, Exit: 1, Stderr: why, Err: fmt.Errorf("%s: %s", s.Name(), why)}
}

// refuseErr is a script's own refusal, for a fault.
func (m *memory) refuseErr(rank int, why string) error {
	return &NodeError{Node: m.node(rank), Reach: watchdog.ReachOK, Exit: 1, Stderr: why, Err: fmt.Errorf("%s", why)}
}

func (m *memory) must(ok bool, format string, args ...any) {
	if !ok {
		m.wrong = append(m.wrong, fmt.Sprintf(format, args...))
	}
}

func (m *memory) save(a watchdog.Attempt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.effect() {
		return errKilled
	}
	m.saves++
	if m.saveFault != nil {
		if err := m.saveFault(m.saves, a); err != nil {
			return err
		}
	}
	m.disk = a
	m.disk.Destroy = slices.Clone(a.Destroy)
	m.disk.Launched = slices.Clone(a.Launched)
	return nil
}

// world is what a runner gets; its clock advances a little with each reading.
func (m *memory) world() World {
	return World{
		Clock: func() watchdog.Clock {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.now = m.now.Add(time.Millisecond)
			return m.now
		},
		Save: m.save,
		Switch: func() watchdog.Flag {
			if m.flag == nil {
				return watchdog.Flag{}
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.flag(m)
		},
		Notice: func(k watchdog.NoticeKind, _, text string) { m.notices = append(m.notices, k.String()+": "+text) },
		Log:    zerolog.Nop(),
	}
}

// settings of a group as large as the memory cluster.
func (m *memory) settings() Settings {
	s := Settings{Owner: Owner{ID: m.head, Name: "spark", Address: "10.0.0.1", StateDir: "/var/lib/w"}, Group: "llm", Container: "vllm", HeadAddr: "10.0.0.1", Command: "bash ~/launch.sh", LaunchTimeout: time.Minute,
		StopSeconds: 10, Image: "img", Dirs: []string{"/d"}, Mounts: []Mount{{Path: "/models"}}, Disks: []Disk{{Path: "/", MinFree: 1}},
		Ports: []int{8000}, MemoryWait: time.Minute, FlusherEvery: time.Minute, FlusherFor: time.Hour, Evidence: m.t.TempDir()}
	for i := range m.containers {
		s.Nodes = append(s.Nodes, m.node(i))
	}
	return s
}

func (m *memory) runner() *Runner {
	m.t.Helper()
	p, err := NewPlan(m.settings(), Steps())
	if err != nil {
		m.t.Fatal(err)
	}
	return NewRunner(p, m, m.world())
}

// order asks for the attempt on what stands now.
func (m *memory) order(a watchdog.Attempt) Order {
	if a.ID == 0 {
		a = watchdog.Attempt{ID: 1, Why: "rank 2 exited", Incident: 1}
	}
	return Order{Attempt: a, Seen: slices.Clone(m.containers)}
}

// called says whether any call of that script was made.
func (m *memory) called(prefix string) bool {
	return slices.ContainsFunc(m.calls, func(c string) bool { return strings.HasPrefix(c, prefix) })
}
