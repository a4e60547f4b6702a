package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cluster-watchdog/watchdog"

	"github.com/google/renameio/v2"
	"go.etcd.io/bbolt"
)

// sidecarName is a file that says: state.db was created once. Without it a database that got
// lost would look like a first start, with an empty budget.
const sidecarName = "initialized"

const sidecarText = "state.db exists since this file does; if it is missing it was lost, not never there\n"

// create makes the database, unless another process was faster. It appears under its name only
// when complete, so that nobody ever sees it empty.
func (s *Store) create() error {
	built, err := s.build()
	if err != nil {
		return err
	}
	defer os.Remove(built)
	if err := s.unstamp(); err != nil {
		return err
	}
	if err := os.Link(built, s.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(s.dir)
}

// build writes a complete new database under a temporary name.
func (s *Store) build() (path string, err error) {
	f, err := os.CreateTemp(s.dir, "."+fileName+"-")
	if err != nil {
		return "", err
	}
	made := f.Name() // path is empty again in a return with an error
	defer func() {
		if err != nil {
			os.Remove(made)
		}
	}()
	if err := f.Close(); err != nil {
		return "", err
	}
	db, err := bbolt.Open(made, fileMode, &bbolt.Options{Timeout: s.timeout, PageSize: boltPageSize})
	if err != nil {
		return "", err
	}
	if err := db.Update(layOut); err != nil {
		db.Close()
		return "", err
	}
	return made, db.Close()
}

// layOut writes the marker, the buckets and the zero state.
func layOut(tx *bbolt.Tx) error {
	for _, b := range buckets() {
		if _, err := tx.CreateBucket([]byte(b)); err != nil {
			return err
		}
	}
	if err := writeSchema(tx, schemaVersion); err != nil {
		return err
	}
	text, err := encode(watchdog.State{})
	if err != nil {
		return err
	}
	if err := bucketCurrent.in(tx).Put([]byte(keyState), text); err != nil {
		return err
	}
	return sealNow(tx)
}

// mark writes the sidecar where it is missing: after create, or when a crash came between.
func (s *Store) mark() error {
	path := filepath.Join(s.dir, sidecarName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := renameio.WriteFile(path, []byte(sidecarText), fileMode, renameio.WithTempDir(s.dir)); err != nil {
		return fmt.Errorf("marking it as created: %w", err)
	}
	return syncFolder(s.dir)
}
