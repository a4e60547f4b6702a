package state

import (
	"fmt"
	"io"
	"os"

	"github.com/google/renameio/v2"
	"go.etcd.io/bbolt"
)

// migrations bring a database to the next schema, the first one from 1 to 2. Whoever only reads takes
// an earlier one as it is.
func migrations() []func(*bbolt.Tx) error {
	return []func(*bbolt.Tx) error{
		addParts, // and from 2 on each save is sealed
	}
}

// sealedSince is the first schema with a seal.
const sealedSince = 2

// migrate brings the database to our schema as a part of the transaction that saves. The file as it
// was is kept beside it first.
func (s *Store) migrate(tx *bbolt.Tx, from int) error {
	if from == schemaVersion {
		return nil
	}
	if err := s.keepCopy(from); err != nil {
		return fmt.Errorf("keeping a copy of its schema %d: %w", from, err)
	}
	for i, next := range migrations()[from-1:] {
		if err := next(tx); err != nil {
			return fmt.Errorf("migrating it from schema %d: %w", from+i, err)
		}
	}
	return writeSchema(tx, schemaVersion)
}

// CopyPath is where the file as it was is kept when the database is brought to a later schema.
func (s *Store) CopyPath(schema int) string { return fmt.Sprintf("%s.schema-%d", s.path, schema) }

// keepCopy copies the file, which nobody else can write to now. A copy from before is replaced, or a
// disk that is nearly full would be filled by a try each minute.
func (s *Store) keepCopy(schema int) error {
	from, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := renameio.NewPendingFile(s.CopyPath(schema), renameio.WithTempDir(s.dir), renameio.WithPermissions(fileMode))
	if err != nil {
		return err
	}
	defer func() { _ = to.Cleanup() }()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	if err := to.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return syncFolder(s.dir)
}

// addParts adds the buckets that came after the first databases were made. Observations without their
// rows go.
func addParts(tx *bbolt.Tx) error {
	if bucketChanges.in(tx) == nil {
		if err := tx.DeleteBucket([]byte(bucketFull)); err != nil {
			return err
		}
	}
	for _, b := range buckets() {
		if _, err := tx.CreateBucketIfNotExists([]byte(b)); err != nil {
			return err
		}
	}
	return nil
}
