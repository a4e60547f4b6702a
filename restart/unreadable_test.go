package restart

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A key or known_hosts that cannot be read is told as such, with its path, and never as a failure of
// SSH: nothing was dialled.
func TestUnreadableIdentityY05(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(path string) error
		want  string
	}{
		{"mode 000", func(path string) error { return os.Chmod(path, 0) }, "permission denied: let uid "},
		{"gone", os.Remove, "does not exist: create it, or correct its path"},
	} {
		for _, what := range []string{"key", "known_hosts"} {
			t.Run(row.name+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				for _, folder := range []string{dir, filepath.Dir(dir)} { // the files' own modes count
					if err := os.Chmod(folder, 0o755); err != nil {
						t.Fatal(err)
					}
				}
				id := Identity{User: "ops", Keys: []string{filepath.Join(dir, "key")}, KnownHosts: filepath.Join(dir, "known_hosts")}
				for _, path := range []string{id.Keys[0], id.KnownHosts} {
					if err := os.WriteFile(path, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				path := filepath.Join(dir, what)
				if err := row.spoil(path); err != nil {
					t.Fatal(err)
				}
				err := asNobody(t, func() error {
					_, err := Resolve(id, []Place{{Name: "n1", Host: "127.0.0.1", Port: 1}})
					return err
				})
				if err == nil || !strings.Contains(err.Error(), "cannot use "+what+" "+path+": "+row.want) {
					t.Errorf("err = %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "SSH") {
					t.Errorf("told as a failure of SSH: %v", err)
				}
			})
		}
	}
}

// asNobody does it with the file rights of an ordinary user, as root has none to lack.
func asNobody(t *testing.T, do func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		return do()
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
		if _, err = unix.SetfsuidRetUid(65534); err != nil {
			return
		}
		err = do()
	}()
	<-done
	return err
}
