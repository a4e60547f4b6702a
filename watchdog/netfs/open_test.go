package netfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"cluster-watchdog/watchdog/netfs/badmount"
)

func TestOpenLocal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := Read(f, 4); err != nil || string(text) != "hell" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Open(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	pipe := path + "-pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(pipe); err != nil {
		t.Errorf("pipe: %v", err)
	} else {
		f.Close()
	}
}

// What is known to be a network file system is refused by its name, and asked nothing.
func TestOpenAsksNoNetworkN01(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	for _, r := range []struct{ fstype, source, name string }{
		{"fuse.sshfs", "ops@nas:/srv", "sshfs"},
		{"fuse.s3fs", "s3fs", "s3fs"},
		{"fuse.unheard", "nas:/models", "FUSE with nas:/models"},
	} {
		b := badmount.New(t, r.fstype, r.source)
		b.Hang()
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(b.Path, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{b.Path + "/key", link + "/key"} {
			_, err := Open(path)
			var network *OnNetwork
			if !errors.As(err, &network) || network.Name != r.name {
				t.Errorf("%s: %v", path, err)
			}
		}
		if b.Waiting() != 0 {
			t.Errorf("%s was asked", r.fstype)
		}
	}
}

// Any other that hangs ends in an error too, in time.
func TestOpenOnAHungMountN01(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.local", "/srv/keys")
	b.Hang()
	if _, err := Open(b.Path + "/key"); !errors.Is(err, ErrHangs) {
		t.Errorf("got %v", err)
	}
}

// N02: stale is the kernel's own word, and is passed on.
func TestOpenOnAStaleMountN02(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	b := badmount.New(t, "fuse.local", "/srv/keys")
	b.Say(syscall.ESTALE)
	if _, err := Open(b.Path + "/key"); !errors.Is(err, syscall.ESTALE) {
		t.Errorf("got %v", err)
	}
}
