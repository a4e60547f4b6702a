package main

import (
	"fmt"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// remember loads the state. A damaged database is set aside, with the disarmed flag written first;
// one that cannot be read at all leaves us looking without a memory. Both are told.
func (s *session) remember() (st watchdog.State, fault string) {
	st, damage, err := s.load()
	switch {
	case damage != nil:
		return watchdog.State{}, s.setAside(damage)
	case err != nil:
		s.tellUnsaved(err.Error() + ": nothing is done until it can be read")
		return watchdog.State{}, err.Error()
	}
	return st, ""
}

// setAside replaces a damaged database, disarms, and tells; it returns why that failed.
func (s *session) setAside(damage *state.DamageError) (fault string) {
	aside, err := s.store.SetAside(s.now().Wall, damage.Cause.Error())
	text := fmt.Sprintf("the state %s was damaged (%v): kept as %s, and disarmed; start with `cluster-watchdog check`, then `cluster-watchdog arm`",
		damage.Path, damage.Cause, orUnknown(aside))
	if err != nil {
		fault = fmt.Sprintf("the state %s is damaged (%v): %v", damage.Path, damage.Cause, err)
		text = fault
	}
	s.notify(watchdog.NoticeSetAside, text)
	if err == nil {
		err = s.store.Record(state.Deed{At: s.now(), Kind: deedSetAside, Text: text})
		if err != nil {
			s.log.Error().Str("event", "save").Msg(err.Error())
		}
	}
	return fault
}

// carry gives a next state the records that Decide reads and others write.
func carry(next, from watchdog.State) watchdog.State {
	next.Attempts, next.Arm, next.Reset, next.LastGood = from.Attempts, from.Arm, from.Reset, from.LastGood
	return next
}
