package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"go.etcd.io/bbolt"
)

// keySeal is the key of the seal in the bucket current. bbolt has no checksums of its own: a page of
// an earlier transaction, or a digit that has become another one, would be believed. Sealed is what
// decides: all of current, and the attempts. Rows and observations only tell people what was.
const keySeal = "seal"

type seal struct {
	Transaction int    `json:"transaction"` // which wrote it, as the file's own page says it too
	Sum         string `json:"sum"`
}

// sealNow seals what a transaction leaves.
func sealNow(tx *bbolt.Tx) error {
	text, err := encode(seal{Transaction: tx.ID(), Sum: sumOf(tx)})
	if err != nil {
		return err
	}
	return bucketCurrent.in(tx).Put([]byte(keySeal), text)
}

// savedBy is the transaction that saved what this one sees. One that writes has the next number already.
func savedBy(tx *bbolt.Tx) int {
	if tx.Writable() {
		return tx.ID() - 1
	}
	return tx.ID()
}

// checkSeal sees whether all is as the last transaction left it.
func (s *Store) checkSeal(tx *bbolt.Tx) error {
	var found seal
	if err := s.decode(keySeal, bucketCurrent.in(tx).Get([]byte(keySeal)), &found); err != nil {
		return err
	}
	last := savedBy(tx)
	switch {
	case found.Transaction != last:
		return s.damaged("its values are those of save %d, and the last one was %d", found.Transaction, last)
	case found.Sum != sumOf(tx):
		return s.damaged("its values are not those that were saved")
	}
	return nil
}

// sumOf is a sum of all keys and values that are sealed, each behind its length.
func sumOf(tx *bbolt.Tx) string {
	sum := sha256.New()
	add := func(b []byte) {
		_, _ = sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		_, _ = sum.Write(b)
	}
	for _, name := range []bucket{bucketCurrent, bucketAttempts} {
		add([]byte(name))
		c := name.in(tx).Cursor()
		for key, value := c.First(); key != nil; key, value = c.Next() {
			if name == bucketCurrent && string(key) == keySeal {
				continue
			}
			add(key)
			add(value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
