// Package state is the watchdog's memory between two ticks: a bbolt file with what it knew, a lock
// for changing it, the machine's lock for acting, and the disarmed flag, which needs none of them.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

const (
	fileName     = "state.db"
	fileMode     = 0o600
	openTimeout  = 5 * time.Second // for the file to be let go by another process
	boltPageSize = 4096            // the same on every machine, so that we know where the second meta page is
)

// Store is the database in one folder. It is opened for each call and closed at once, so that
// others can read in the middle of a restart. It is safe for use by several goroutines.
type Store struct {
	dir     string
	path    string
	timeout time.Duration
	mu      sync.Mutex // one call at a time, or our own goroutines would wait in bbolt's slow retries

	examiner Examiner
	examined trace // the file as it was examined or saved by this Store
	last     saved // as it was before the present call
}

// Open checks the folder, and creates it if it is absent. The database itself is created by the
// first call that saves something. The examiner sees a database that is not as our last save left it,
// say after a reboot, before this process opens it.
func Open(dir string, examiner Examiner) (*Store, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	return &Store{dir: dir, path: filepath.Join(dir, fileName), timeout: openTimeout, examiner: examiner}, nil
}

// Path returns the path of the database.
func (s *Store) Path() string { return s.path }

// Size returns the bytes of the database on its disk; 0 where there is none yet.
func (s *Store) Size() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// view runs read in a read-only transaction. On a first start there is nothing to read yet, and
// read is not called.
func (s *Store) view(read func(*bbolt.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := s.examine()
	if err != nil || fresh {
		return s.fault("read", err)
	}
	return s.fault("read", s.with(true, func(db *bbolt.DB) error {
		return db.View(func(tx *bbolt.Tx) error {
			if _, err := s.checkSchema(tx); err != nil {
				return err
			}
			return read(tx)
		})
	}))
}

// update runs write in one transaction. On a first start it creates the database; one of an earlier
// schema it brings to ours.
func (s *Store) update(write func(*bbolt.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh, err := s.examine()
	if err == nil && fresh {
		err = s.create()
	}
	if err != nil {
		return s.fault("save", err)
	}
	return s.fault("save", s.with(false, func(db *bbolt.DB) error {
		number := 0
		err := db.Update(func(tx *bbolt.Tx) error {
			number = tx.ID()
			return s.change(tx, write)
		})
		if err == nil {
			s.stamp(number)
		}
		return err
	}))
}

// change is all of a transaction that saves. A database that is not ours to change is left as it is,
// and its folder too.
func (s *Store) change(tx *bbolt.Tx, write func(*bbolt.Tx) error) error {
	version, err := s.checkSchema(tx)
	for _, step := range []func() error{
		s.mark,
		func() error { return s.migrate(tx, version) },
		func() error { return write(tx) },
		func() error { return sealNow(tx) },
	} {
		if err == nil {
			err = step()
		}
	}
	return err
}

// with opens the database, runs use, and closes it. bbolt panics on many kinds of damage, and a
// file shorter than its map ends in a fault: both become a DamageError. After a panic bbolt's own
// Close could wait for a mutex for ever, so its map is left behind.
func (s *Store) with(readOnly bool, use func(*bbolt.DB) error) (err error) {
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			letGo(file)
			err = s.damaged("bbolt cannot follow its pages: %v", p)
		}
	}()
	db, err := bbolt.Open(s.path, fileMode, &bbolt.Options{
		Timeout:  s.timeout,
		ReadOnly: readOnly,
		PageSize: boltPageSize,
		OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			var err error
			file, err = os.OpenFile(name, flag&^os.O_CREATE, mode) // only create makes one
			return file, err
		},
	})
	if err != nil {
		return s.opened(err)
	}
	err = use(db)
	if closing := db.Close(); err == nil && closing != nil {
		err = fmt.Errorf("closing it: %w", closing)
	}
	return err
}

// letGo frees bbolt's lock on the file. Closing alone would not: the map keeps the open file alive.
func letGo(file *os.File) {
	if file == nil {
		return
	}
	_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
	_ = file.Close()
}

// opened tells the damage among the errors of bbolt.Open.
func (s *Store) opened(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.damaged("the file vanished")
	case isInvalid(err):
		return s.damaged("%v", err)
	}
	return err
}
