package state

import (
	"bytes"
	"fmt"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// stored is the text of what Load returns. It is copied out of the transaction, so that the file
// is not held while it is decoded.
type stored struct {
	state, arm, reset, lastGood []byte
	attempts                    []numbered
}

type numbered struct {
	number uint64
	text   []byte
}

// Load returns what is known, with the attempts of the last 30 days and at least the last 50.
// On a first start that is the zero State.
func (s *Store) Load() (watchdog.State, error) {
	var raw stored
	fresh := true
	err := s.view(func(tx *bbolt.Tx) error {
		fresh = false
		return raw.read(tx, s)
	})
	if err != nil || fresh {
		return watchdog.State{}, err
	}
	return raw.decode(s)
}

func (r *stored) read(tx *bbolt.Tx, s *Store) (err error) {
	current := bucketCurrent.in(tx)
	get := func(key string) []byte { return bytes.Clone(current.Get([]byte(key))) }
	r.state, r.arm, r.reset, r.lastGood = get(keyState), get(keyArm), get(keyReset), get(keyLastGood)
	r.attempts, err = readLast(s, bucketAttempts, tx, -1)
	return err
}

// readLast copies the last n values of a bucket, oldest first; all of them when n is negative.
func readLast(s *Store, from bucket, tx *bbolt.Tx, n int) ([]numbered, error) {
	var last []numbered
	c := from.in(tx).Cursor()
	for key, text := c.Last(); key != nil && len(last) != n; key, text = c.Prev() {
		number, err := keyNumber(key)
		if err != nil {
			return nil, s.damaged("%s: %v", from, err)
		}
		last = append(last, numbered{number, bytes.Clone(text)})
	}
	for i, j := 0, len(last)-1; i < j; i, j = i+1, j-1 {
		last[i], last[j] = last[j], last[i]
	}
	return last, nil
}

func (r *stored) decode(s *Store) (watchdog.State, error) {
	var out watchdog.State
	if err := s.decode(keyState, r.state, &out); err != nil {
		return watchdog.State{}, err
	}
	if r.arm != nil {
		out.Arm = new(watchdog.Arm)
		if err := s.decode(keyArm, r.arm, out.Arm); err != nil {
			return watchdog.State{}, err
		}
	}
	if r.reset != nil {
		if err := s.decode(keyReset, r.reset, &out.Reset); err != nil {
			return watchdog.State{}, err
		}
	}
	if r.lastGood != nil {
		out.LastGood = new(watchdog.LastGood)
		if err := s.decode(keyLastGood, r.lastGood, out.LastGood); err != nil {
			return watchdog.State{}, err
		}
	}
	attempts, err := s.decodeAttempts(r.attempts)
	if err != nil {
		return watchdog.State{}, err
	}
	out.Attempts = attempts
	return out, nil
}

func (s *Store) decodeAttempts(raw []numbered) ([]watchdog.Attempt, error) {
	var out []watchdog.Attempt
	for _, r := range raw {
		var a watchdog.Attempt
		if err := s.decode(fmt.Sprintf("attempt %d", r.number), r.text, &a); err != nil {
			return nil, err
		}
		if uint64(a.ID) != r.number {
			return nil, s.damaged("attempt %d says that it is %d", r.number, a.ID)
		}
		out = append(out, a)
	}
	return out, nil
}

// decode reads one value; one that does not decode is damage.
func (s *Store) decode(what string, text []byte, into any) error {
	if err := decode(text, into); err != nil {
		return s.damaged("its %s does not decode: %v", what, err)
	}
	return nil
}
