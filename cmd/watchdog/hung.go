package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// guard ends this process by itself where nothing else does: contexts end what waits, but no call
// that hangs in the kernel, on a dead disk or mount, a full pipe or a journal that takes nothing.
// It asks nothing of what may hang. stopped ends with SIGTERM; what is returned calls it off.
func (a *app) guard(stopped context.Context) (callOff func()) {
	var endHooks context.CancelFunc
	a.hooks, endHooks = context.WithCancel(context.Background())
	context.AfterFunc(stopped, func() { time.AfterFunc(tellAfterTerm, endHooks) })
	b, began, off := a.host.bounds(), probe.Now(), make(chan struct{})
	go func() {
		end := time.NewTimer(b.end)
		defer end.Stop()
		var reason string
		select {
		case <-off:
			return
		case <-end.C:
			reason = fmt.Sprintf("%s after its begin, before systemd would", briefDuration(b.end))
		case <-stopped.Done():
			select {
			case <-off:
				return
			case <-time.After(b.stop):
				reason = fmt.Sprintf("%s after it was asked to", briefDuration(b.stop))
			}
		}
		a.endHung(began, reason)
		os.Exit(exitFault)
	}()
	return func() { close(off); endHooks() }
}

// endHung says where the run hangs: to the journal first, then to the next run by a note, and to
// people. Each has its own bound, since each may be what hangs.
func (a *app) endHung(began watchdog.Clock, reason string) {
	h := state.Hung{PID: os.Getpid(), Since: began, At: probe.Now(), Where: a.at.String(), Reason: reason}
	within(sayLimit, func() {
		log := newLogger(a.errs, os.Getenv, a.story)
		log.Error().Str("event", "hung").Msg("HUNG " + h.String())
	})
	s, dir := a.opened.Load(), a.stateDir()
	note := func(h state.Hung) func() { return func() { _ = state.SaveHung(dir, h) } }
	if dir != "" {
		within(noteLimit, note(h))
	}
	if s != nil && s.config.Notify.Command != "" {
		var told atomic.Bool
		within(tellLimit, func() { told.Store(s.hook(watchdog.NoticeTrouble, h.String()) == nil) })
		if h.Told = told.Load(); h.Told {
			within(noteLimit, note(h))
		}
	}
	if l := a.lock.Load(); l != nil {
		within(unlockLimit, func() { _ = l.Release() })
	}
}

// within waits for do, but no longer than limit.
func within(limit time.Duration, do func()) {
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

// stateDir is where the note goes, "" where that is not known: the config may be what hangs, and
// then the unit knows.
func (a *app) stateDir() string {
	if s := a.opened.Load(); s != nil {
		return s.config.StateDir
	}
	dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	return dir
}

// tellBefore says what became of the run before this one where it did not live to say so itself: it
// hung and left a note, or it was killed and left its lock.
func (s *session) tellBefore(left state.Holder) {
	h := state.ReadHung(s.config.StateDir)
	d := state.Deed{At: h.At, Kind: deedHung, Text: h.String()}
	switch {
	case !h.Zero():
		s.log.Error().Str("event", "hung").Msg("the run before this one: " + d.Text)
		if !h.Told && !s.notify(watchdog.NoticeTrouble, d.Text) {
			return // the next one tells it again
		}
	case left.PID != 0:
		d = state.Deed{At: s.now(), Kind: deedKilled,
			Text: fmt.Sprintf("a run was killed, or the power went: pid %d, %q, begun at %s", left.PID, left.Command, timeWords(left.Since.Wall))}
		s.log.Warn().Str("event", "killed").Msg(plain(d.Text))
	default:
		return
	}
	err := s.store.Record(d)
	if err == nil {
		err = state.RemoveHung(s.config.StateDir)
	}
	if err != nil {
		s.log.Error().Str("event", "save").Msg(err.Error())
	}
}
