package state

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// LockKind is one of the locks that a run may have to wait for.
type LockKind string

// The locks.
const (
	StateLock  LockKind = "lock"   // of a state folder
	ActingLock LockKind = "acting" // of the machine
)

func (k LockKind) told(dir string) string { return filepath.Join(dir, string(k)+".told") }

// ToldHolder says whether people were told that this one holds the lock for long. Who waits for the
// lock of a database cannot write there, so it stands in a file of its own.
func ToldHolder(dir string, k LockKind, h Holder) bool {
	text, err := os.ReadFile(k.told(dir))
	return err == nil && string(text) == formatHolder(h)
}

// SaveToldHolder records that people were told of this holder.
func SaveToldHolder(dir string, k LockKind, h Holder) error {
	path := k.told(dir)
	if err := renameio.WriteFile(path, []byte(formatHolder(h)), fileMode, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("cannot write %s: %w; %s", path, err, hint(err))
	}
	return nil
}
