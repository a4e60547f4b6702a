package state

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"go.etcd.io/bbolt"
)

// schemaVersion rises with each change of the buckets or of a stored type: an older watchdog
// reads strictly and would take a new field for damage.
const schemaVersion = 2

const schemaMarker = "cluster-watchdog state"

// bucket is a named part of the database.
type bucket string

const (
	bucketSchema   bucket = "schema"   // marker and version
	bucketCurrent  bucket = "current"  // one value each: what is so now
	bucketAttempts bucket = "attempts" // by id
	bucketRows     bucket = "rows"     // by number
	bucketFull     bucket = "full"     // the observations of some rows, by the row's number
	bucketChanges  bucket = "changes"  // those rows once more: they outlive the others
	bucketDays     bucket = "days"     // totals, by date
	bucketBefore   bucket = "before"   // what was known before an observation in full, by the row's number
	bucketDeeds    bucket = "deeds"    // by number
)

func buckets() []bucket {
	return append([]bucket{bucketSchema, bucketCurrent, bucketAttempts, bucketRows, bucketFull}, addedBuckets()...)
}

// addedBuckets came after the first databases were made: schema 1 may lack them.
func addedBuckets() []bucket { return []bucket{bucketChanges, bucketDays, bucketBefore, bucketDeeds} }

// The keys of the buckets schema and current.
const (
	keyMarker   = "marker"
	keyVersion  = "version"
	keyState    = "state"
	keyArm      = "arm"
	keyReset    = "reset"
	keyLastGood = "last_good"
	keyLedger   = "ledger"
)

func writeSchema(tx *bbolt.Tx, version int) error {
	b := tx.Bucket([]byte(bucketSchema))
	if err := b.Put([]byte(keyMarker), []byte(schemaMarker)); err != nil {
		return err
	}
	return b.Put([]byte(keyVersion), []byte(strconv.Itoa(version)))
}

// checkSchema returns the schema of a database. It refuses one that is not ours, not whole, or from a
// later watchdog.
func (s *Store) checkSchema(tx *bbolt.Tx) (version int, err error) {
	b := tx.Bucket([]byte(bucketSchema))
	if b == nil || string(b.Get([]byte(keyMarker))) != schemaMarker {
		return 0, s.damaged("it has no schema marker")
	}
	text := string(b.Get([]byte(keyVersion)))
	version, err = strconv.Atoi(text)
	if err != nil || version < 1 {
		return 0, s.damaged("its schema version is %.20q", text)
	}
	if version > schemaVersion {
		return 0, &NewerError{Path: s.path, Version: version}
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil && (version > 1 || !slices.Contains(addedBuckets(), name)) {
			return 0, s.damaged("its part %q is missing", name)
		}
	}
	if number := savedBy(tx); number < s.last.Transaction {
		return 0, s.damaged("it is older than what was saved last: save %d, and that was %d", number, s.last.Transaction)
	}
	if version >= sealedSince {
		err = s.checkSeal(tx)
	}
	return version, err
}

// in returns the bucket, which checkSchema has seen.
func (b bucket) in(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket([]byte(b)) }

// growing returns a bucket whose keys only ever grow: its pages can be full, since nothing comes in
// between.
func (b bucket) growing(tx *bbolt.Tx) *bbolt.Bucket {
	found := b.in(tx)
	found.FillPercent = 1
	return found
}

// numberKey is a key that sorts by number.
func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// keyNumber is the number behind such a key.
func keyNumber(key []byte) (uint64, error) {
	if len(key) != 8 {
		return 0, fmt.Errorf("a key has %d bytes instead of 8", len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}
