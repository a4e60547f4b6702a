package disktest

import (
	"os"
	"testing"
)

// memory is where Linux keeps files in memory: what is tried there hundreds of times waits for no
// disk.
const memory = "/dev/shm"

// Folder returns a folder for the test, in memory where there is such a place.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory, "watchdog-disktest-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
