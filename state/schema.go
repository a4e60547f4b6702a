package state

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"
)

// schemaVersion rises with each change of the buckets or of a stored type: an older watchdog
// reads strictly and would take a new field for damage.
const schemaVersion = 1

const schemaMarker = "cluster-watchdog state"

// bucket is a named part of the database.
type bucket string

const (
	bucketSchema   bucket = "schema"   // marker and version
	bucketCurrent  bucket = "current"  // one value each: what is so now
	bucketAttempts bucket = "attempts" // by id
	bucketRows     bucket = "rows"     // by number
	bucketFull     bucket = "full"     // the observations of some rows, by the row's number
)

func buckets() []bucket {
	return []bucket{bucketSchema, bucketCurrent, bucketAttempts, bucketRows, bucketFull}
}

// The keys of the buckets schema and current.
const (
	keyMarker   = "marker"
	keyVersion  = "version"
	keyState    = "state"
	keyArm      = "arm"
	keyReset    = "reset"
	keyLastGood = "last_good"
)

func writeSchema(tx *bbolt.Tx, version int) error {
	b := tx.Bucket([]byte(bucketSchema))
	if err := b.Put([]byte(keyMarker), []byte(schemaMarker)); err != nil {
		return err
	}
	return b.Put([]byte(keyVersion), []byte(strconv.Itoa(version)))
}

// checkSchema refuses a database that is not ours, not whole, or from a later watchdog.
func checkSchema(tx *bbolt.Tx, path string) error {
	damage := func(format string, args ...any) error {
		return &DamageError{Path: path, Cause: fmt.Errorf(format, args...)}
	}
	b := tx.Bucket([]byte(bucketSchema))
	if b == nil || string(b.Get([]byte(keyMarker))) != schemaMarker {
		return damage("it has no schema marker")
	}
	text := string(b.Get([]byte(keyVersion)))
	version, err := strconv.Atoi(text)
	if err != nil || version < 1 {
		return damage("its schema version is %.20q", text)
	}
	if version > schemaVersion {
		return &NewerError{Path: path, Version: version}
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return damage("its part %q is missing", name)
		}
	}
	return nil
}

// in returns the bucket, which checkSchema has seen.
func (b bucket) in(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket([]byte(b)) }

// numberKey is a key that sorts by number.
func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// keyNumber is the number behind such a key.
func keyNumber(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("a key has %d bytes instead of 8", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}
