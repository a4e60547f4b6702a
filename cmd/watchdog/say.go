package main

import (
	"slices"

	"github.com/rs/zerolog"

	"cluster-watchdog/watchdog"
)

// say writes the one sentence of this look to the journal.
func (s *session) say(before watchdog.State, d watchdog.Decision) {
	phase := d.Next.Phase.String()
	event := func(e *zerolog.Event, name string) *zerolog.Event { return e.Str("event", name).Str("phase", phase) }
	if justServed(d.Next, d.Next.Last) {
		event(s.log.Info(), "serving").Msg("health OK → SERVING")
		return
	}
	e, name := s.log.Info(), "tick"
	switch {
	case d.Next.Phase == watchdog.GivenUp && before.Phase != watchdog.GivenUp:
		e, name = s.log.Error(), "gave-up"
	case d.Action == watchdog.ActRestart, d.Action == watchdog.ActLaunch, d.Action == watchdog.ActResume:
		e, name = s.log.Warn(), "restart"
	case d.Wanted != watchdog.ActNone, len(d.Next.Strikes) > 0:
		e = s.log.Warn()
	}
	event(e, name).Str("reason", d.Reason.String()).Msg(plain(d.Sentence()))
}

// justServed says whether the look at that time made the phase SERVING by a completion. A reset makes
// it SERVING without one.
func justServed(next watchdog.State, at watchdog.Clock) bool {
	return next.Phase == watchdog.Serving && next.Since.Equal(at) && next.Served.Equal(at)
}

// tell lets people hear of the notices of a look. What did not get through is not told yet: the
// next look says it again. It returns whether all did.
func (s *session) tell(d *watchdog.Decision) (all bool) {
	all = true
	for _, n := range d.Notices {
		if !s.notify(n.Kind, n.Text) && n.Key != "" {
			all = false
			d.Next.Told = slices.DeleteFunc(d.Next.Told, func(key string) bool { return key == n.Key })
		}
	}
	return all
}
