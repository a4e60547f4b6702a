package state

import (
	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// SaveTold records what people have been told of, besides what the last look told, so that they
// hear of each cause once. The rest of the state stays as it is.
func (s *Store) SaveTold(told []string) error {
	return s.update(func(tx *bbolt.Tx) error {
		current := bucketCurrent.in(tx)
		var state watchdog.State
		if err := s.decode(keyState, current.Get([]byte(keyState)), &state); err != nil {
			return err
		}
		state.Told = told
		text, err := encode(state)
		if err != nil {
			return err
		}
		return current.Put([]byte(keyState), text)
	})
}
