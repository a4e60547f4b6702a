package main

import (
	"strings"

	"cluster-watchdog/restart"
)

// forgetCases deletes the evidence of old incidents, now that this one is over: nothing is being
// done, and nobody waits for it. That it may fail is told, and tried again after the next incident.
func (s *session) forgetCases(over int) {
	cases := restart.Cases{Folder: s.config.CasesDir(), Incidents: s.config.LogKeep.Incidents, Bytes: int64(s.config.LogKeep.Size)}
	gone, err := cases.Forget(over)
	if len(gone) > 0 {
		s.log.Info().Str("event", "cases").Msgf("preserved logs of old incidents deleted: %s", strings.Join(gone, ", "))
	}
	if err != nil {
		s.log.Warn().Str("event", "cases").Msg(plain(err.Error()))
	}
}
