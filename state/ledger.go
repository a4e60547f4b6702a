package state

import (
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// ledger is what the store knows of its own content, so that no look has to count it.
type ledger struct {
	At        watchdog.Clock `json:"at"`                  // of the last look
	Date      string         `json:"date,omitempty"`      // to which that was counted
	Phase     watchdog.Phase `json:"phase,omitempty"`     // after it
	Age       time.Duration  `json:"age,omitempty"`       // of the state, by its own clock
	Incidents int            `json:"incidents,omitempty"` // opened until then
	Changes   int            `json:"changes,omitempty"`   // observations kept
	Bytes     int64          `json:"bytes,omitempty"`     // of them
}

// acrossBoot is the most that a reboot adds to the state's age. The wall clock alone tells how long
// a machine was off, and a machine without a battery may come up in 1970 or in 2098: that must
// neither delete everything nor keep it for ever.
const acrossBoot = 24 * time.Hour

// advance moves the age on to a look and returns by how much. Within a boot a jump of the wall clock
// does not matter.
func (l *ledger) advance(now watchdog.Clock) (passed time.Duration) {
	if !l.At.IsZero() {
		passed = now.Since(l.At)
	}
	if l.At.BootID != now.BootID {
		passed = min(passed, acrossBoot)
	}
	l.At = now
	l.Age += passed
	return passed
}

func (s *Store) ledger(tx *bbolt.Tx) (ledger, error) {
	var l ledger
	text := bucketCurrent.in(tx).Get([]byte(keyLedger))
	if text == nil { // none yet
		return l, nil
	}
	return l, s.decode(keyLedger, text, &l)
}

func (l *ledger) save(tx *bbolt.Tx) error {
	text, err := encode(l)
	if err != nil {
		return err
	}
	return bucketCurrent.in(tx).Put([]byte(keyLedger), text)
}
