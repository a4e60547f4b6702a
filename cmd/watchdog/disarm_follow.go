package main

import (
	"context"
	"fmt"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// followPoll is how often a disarm looks whether the other has ended.
const followPoll = 200 * time.Millisecond

// follow waits a while for a restart that a disarm has hit, and says what stands: which ranks run,
// and that their memory is held. The disarm stands whatever becomes of this.
func (a *app) follow(ctx context.Context, dir string, h state.Holder) {
	store, err := openState(dir)
	if err != nil {
		return
	}
	at, found := underWay(store)
	if !found {
		return
	}
	fmt.Fprintf(a.out, "attempt %d is in step %q; waiting up to %s for it to end (Ctrl-C does not undo the disarm)\n", at.ID, at.Step, briefDuration(personWaits))
	over := time.NewTimer(personWaits)
	defer over.Stop()
	again := time.NewTicker(followPoll)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			fmt.Fprintln(a.out, "it has not ended yet; `cluster-watchdog status` shows where it is")
			return
		case <-again.C:
		}
		if now, busy := state.HeldBy(dir); busy && now.PID == h.PID {
			continue
		}
		if last, err := newest(store); err == nil && last.ID == at.ID {
			fmt.Fprintln(a.out, endWords(last))
		}
		return
	}
}

// underWay returns the attempt that has begun and has not ended.
func underWay(store *state.Store) (watchdog.Attempt, bool) {
	a, err := newest(store)
	return a, err == nil && a.ID != 0 && a.Ended.IsZero()
}

func newest(store *state.Store) (watchdog.Attempt, error) {
	st, err := store.Load()
	if err != nil || len(st.Attempts) == 0 {
		return watchdog.Attempt{}, err
	}
	return st.Attempts[len(st.Attempts)-1], nil
}

// endWords says how the attempt ended that a disarm has hit.
func endWords(a watchdog.Attempt) string {
	switch a.Outcome {
	case watchdog.OutcomeNone:
		return fmt.Sprintf("attempt %d was killed in step %q", a.ID, a.Step)
	case watchdog.OutcomeLaunched:
		return fmt.Sprintf("attempt %d had launched all ranks before: they run", a.ID)
	default:
		return fmt.Sprintf("attempt %d has ended: %s", a.ID, plain(a.Error))
	}
}
