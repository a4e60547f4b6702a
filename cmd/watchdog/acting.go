package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// acting carries out do under the one lock of this machine: two groups never act at once. Where
// another one acts it does nothing, says for whom it waits, and ends as busy: looking goes on, and
// the next tick decides anew. A lock that cannot be had at all is told: nothing is done without it.
func (s *session) acting(ctx context.Context, phase watchdog.Phase, tell func(watchdog.NoticeKind, string, string), do func() error) error {
	lock, err := state.AcquireActing(ctx, s.config.ActingLock, fmt.Sprintf("restart of group %s", s.config.Group), s.now)
	var busy *state.BusyError
	if errors.As(err, &busy) {
		s.log.Warn().Str("event", "busy").Str("phase", phase.String()).
			Msgf("RESTART waits: %s; nothing was touched, looking goes on", actingWords(busy.Holder))
		s.tellHeld(state.ActingLock, busy.Holder)
		return codeError{code: exitBusy}
	}
	if err != nil {
		err = fmt.Errorf("%w: nothing is done without it", err)
		tell(watchdog.NoticeTrouble, "acting lock", "a restart is needed and cannot begin: "+err.Error())
		return err
	}
	defer func() { _ = lock.Release() }()
	return do()
}

// actingByHand does the same for a person, who waits for it, and hears for whom.
func (s *session) actingByHand(ctx context.Context, do func() error) error {
	lock, err := state.AcquireActingWithin(ctx, s.config.ActingLock, fmt.Sprintf("restart of group %s", s.config.Group), s.now, personWaits, func(h state.Holder) {
		fmt.Fprintf(s.errs, "waiting up to %s: %s\n", personWaits, actingWords(h))
	})
	var busy *state.BusyError
	switch {
	case errors.As(err, &busy):
		return codeError{exitBusy, "cannot restart now: " + actingWords(busy.Holder) + "; nothing was touched, try again when it has ended"}
	case err != nil:
		return err
	}
	defer func() { _ = lock.Release() }()
	return do()
}

func actingWords(h state.Holder) string {
	return fmt.Sprintf("another group acts on this machine (%s), and two never do at once", h)
}

// heldPeriods is how many periods a lock may be held before people are told.
const heldPeriods = 3

// tellHeld tells people once who holds a lock for long. It may be a restart that takes its time, or
// a run that hangs: what it is at stands beside it.
func (s *session) tellHeld(k state.LockKind, h state.Holder) {
	held := s.now().Since(h.Since).Truncate(time.Second)
	if h.PID == 0 || held <= heldPeriods*s.config.Period || state.ToldHolder(s.config.StateDir, k, h) {
		return
	}
	var text string
	switch k {
	case state.StateLock:
		text = fmt.Sprintf("the lock of this group is held for %s by another run (%s%s): no look until it ends; `cluster-watchdog status` shows where it is",
			briefDuration(held), h, s.atWork())
	case state.ActingLock:
		text = fmt.Sprintf("a restart is needed and waits: the lock for acting is held for %s by another group of this machine (%s)", briefDuration(held), h)
	}
	if !s.notify(watchdog.NoticeTrouble, text) {
		return // the next one says it again
	}
	if err := state.SaveToldHolder(s.config.StateDir, k, h); err != nil {
		s.log.Error().Str("event", "save").Msg(err.Error())
	}
}

// atWork says in which step a run is that holds the lock of this group, as far as it has been saved.
func (s *session) atWork() string {
	st, err := s.store.Load()
	if n := len(st.Attempts); err == nil && n > 0 {
		if a := st.Attempts[n-1]; a.Outcome == watchdog.OutcomeNone && a.Step != "" {
			return fmt.Sprintf(", restart %d in step %q", a.ID, a.Step)
		}
	}
	return ""
}
