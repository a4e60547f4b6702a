package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"cluster-watchdog/restart"
	"cluster-watchdog/scripts"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// app is one run of the program.
type app struct {
	in         io.Reader
	out, errs  io.Writer
	configPath string
	host       host
	story      bool // the demo: time stamps without a date wherever it is told

	// For a run that hangs, see hung.go.
	at     whereabouts
	opened atomic.Pointer[session]
	lock   atomic.Pointer[state.Lock]
	hooks  context.Context // of all hooks; nil: they have no end but their own
}

// session is everything that a command on one cluster needs.
type session struct {
	*app
	config  Config
	policy  watchdog.Policy
	store   memory
	past    *state.Store // the same, for who asks what was
	targets []restart.Target
	nodes   nodes
	prober  looker
	plan    *restart.Plan
	now     func() watchdog.Clock
	last    watchdog.Clock // of the last look, as it was loaded
	log     zerolog.Logger
}

// nodes asks nodes and runs the sequence on them, over the same connections.
type nodes interface {
	restart.Remote
	Handshakes(rank int) int
	LeaveAlone(rank int, left time.Duration)
	Close()
}

// open reads the config and makes ready what looks and acts. Nothing is dialled yet.
func (a *app) open() (*session, error) {
	s, err := a.openMemory()
	if err != nil {
		return nil, err
	}
	through := a.at.begin("reading keys and known_hosts")
	s.nodes, s.targets = connect(s.config)
	through()
	s.nodes = notedNodes{s.nodes, s.config.nodeNames(), &a.at}
	s.prober = probe.New(s.config.probe(), asker{s.nodes})
	return s, nil
}

// openMemory is for commands that ask no node: they answer also where the disk of the keys hangs.
func (a *app) openMemory() (*session, error) {
	through := a.at.begin("reading the config " + a.configPath)
	c, err := loadConfig(a.configPath)
	through()
	if err != nil {
		return nil, err
	}
	s := &session{app: a, config: c, policy: c.Policy(buildTime()), log: newLogger(a.errs, os.Getenv, a.story)}
	s.now = func() watchdog.Clock { return probe.Now().InLifeOf(s.last) }
	a.opened.Store(s)
	through = a.at.begin("opening the state folder " + c.StateDir)
	s.past, err = openState(c.StateDir)
	through()
	if err != nil {
		return nil, err
	}
	s.store = notedMemory{s.past, &a.at}
	settings := c.settings()
	settings.Owner = a.host.owner(c)
	if s.plan, err = restart.NewPlan(settings, restart.Steps()); err != nil {
		return nil, err
	}
	return s, nil
}

// connect resolves the targets. Where that fails, say for a lost key file, looking goes on by HTTP
// and every node answers with the reason: blind is worse than half blind, and nothing can be
// destroyed without its checks.
func connect(c Config) (nodes, []restart.Target) {
	targets, err := restart.Resolve(c.identity(), c.places())
	if err != nil {
		return unresolved{err, c.nodeNames()}, nil
	}
	return restart.NewConns(targets, c.limits()), targets
}

// unresolved stands for nodes that cannot be connected to because of the configuration.
type unresolved struct {
	err   error
	nodes []string
}

// errUnresolved is short: each node says it.
var errUnresolved = errors.New("its key or known_hosts cannot be used: see `cluster-watchdog check`")

func (u unresolved) Run(_ context.Context, rank int, _ scripts.Script, _ map[string]string) (restart.Result, error) {
	return restart.Result{}, &restart.NodeError{Node: u.nodes[rank], Reach: watchdog.ReachError, Err: errUnresolved}
}

func (u unresolved) Stream(ctx context.Context, rank int, s scripts.Script, env map[string]string, _ io.Writer) (restart.Result, error) {
	return u.Run(ctx, rank, s, env)
}
func (unresolved) Handshakes(int) int            { return 0 }
func (unresolved) LeaveAlone(int, time.Duration) {}
func (unresolved) Close()                        {}

// asker lets the probe ask over the connections of package restart.
type asker struct{ remote restart.Remote }

func (a asker) Ask(ctx context.Context, rank int, s scripts.Script, env map[string]string) (string, error) {
	res, err := a.remote.Run(ctx, rank, s, env)
	var n *restart.NodeError
	if errors.As(err, &n) && n.Script == "" {
		err = notReached{n}
	}
	return res.Stdout, err
}

// notReached is told behind "rank 0 (n1) cannot be asked: ", where "cannot reach n1" would say it twice.
type notReached struct{ *restart.NodeError }

func (e notReached) Error() string { return fmt.Sprintf("SSH: %v", e.Err) }

// world is what the runner may touch besides the nodes.
func (s *session) world(notice func(watchdog.NoticeKind, string, string)) restart.World {
	return restart.World{
		Clock:  s.now,
		Save:   s.store.SaveAttempt,
		Switch: func() watchdog.Flag { return state.ReadFlag(s.config.StateDir) },
		Local:  map[string]func() error{"state volume": s.stateVolume},
		Notice: notice,
		Log:    s.log,

		Progress: s.at.progress,
	}
}

// removeFlag takes away the flag that was seen. Another one than that was put there since, by
// somebody who wants this to stop.
func (s *session) removeFlag(seen watchdog.Flag) error {
	gone, err := state.EndFlag(s.config.StateDir, seen)
	if err == nil && !gone {
		return codeError{exitRefused, "the disarmed flag was changed meanwhile: it stays, and nothing is touched"}
	}
	return err
}

// stateVolume checks that the state can still be written for a good while: without it no budget
// can be kept, and nothing is destroyed.
func (s *session) stateVolume() error {
	defer s.at.begin("measuring the volume of " + s.config.StateDir)()
	var fs unix.Statfs_t
	if err := unix.Statfs(s.config.StateDir, &fs); err != nil {
		return fmt.Errorf("cannot measure the volume of %s: %w", s.config.StateDir, err)
	}
	free, least := int64(fs.Bavail)*fs.Bsize, int64(s.config.Checks.StateMinFree)
	if free < least {
		return fmt.Errorf("cannot keep state in %s: %s free, %s needed: free some space, or set checks.state_min_free",
			s.config.StateDir, Size(free), Size(least))
	}
	return nil
}

// underLock does what a person's command changes in the state. It waits for the lock, and says for
// whom; a damaged state is left to the next tick.
func (s *session) underLock(ctx context.Context, command string, do func(watchdog.State) error) error {
	if err := refuseSharedState(s.configPath, s.config); err != nil {
		return err
	}
	lock, err := state.AcquireWithin(ctx, s.config.StateDir, command, s.now, personWaits, func(h state.Holder) {
		fmt.Fprintf(s.errs, "waiting up to %s for another watchdog (%s)\n", personWaits, h)
	})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	st, damage, err := s.load()
	switch {
	case err != nil:
		return err
	case damage != nil:
		return fmt.Errorf("%w; %s after that", damage, command)
	}
	return do(st)
}

// personWaits is how long a person's command waits for a tick to end.
const personWaits = time.Minute

// whoami names the person behind a command, also behind sudo.
func whoami() string {
	name := "uid " + fmt.Sprint(os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if sudo := os.Getenv("SUDO_USER"); sudo != "" && sudo != name {
		return plain(sudo) + " (as " + name + ")"
	}
	return name
}

// load reads the state; a damaged one is the caller's to set aside.
func (s *session) load() (watchdog.State, *state.DamageError, error) {
	st, err := s.store.Load()
	var damage *state.DamageError
	if errors.As(err, &damage) {
		return watchdog.State{}, damage, nil
	}
	s.last = st.Last
	return st, nil, err
}
