package restart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cluster-watchdog/watchdog/netfs"
)

// maxIdentityFile bounds what is read: known_hosts of ten thousand nodes are smaller.
const maxIdentityFile = 4 << 20

// identityFile is what is known of an opened file before a byte of it is read.
type identityFile struct {
	mode fs.FileMode
	uid  uint32
}

// openIdentityFile opens a file that decides where or as whom we connect, and refuses one that
// somebody else could have written or that could make us hang. Its errors begin with what and
// path, for a caller to put "cannot use" in front.
func openIdentityFile(what, path string, owners identityOwners, private bool) (*os.File, error) {
	if !filepath.IsAbs(path) {
		// "~" would be the home of whoever runs the watchdog, and that is root.
		return nil, fmt.Errorf("%s %s: not an absolute path: write it in full", what, path)
	}
	f, err := netfs.Open(path) // a pipe without a writer or a mount that hangs must not hold us
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", what, path, explainOpen(err))
	}
	facts, err := identityFacts(f)
	if err == nil {
		err = facts.refuse(path, owners, private)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s %s: %w", what, path, err)
	}
	return f, nil
}

// missingFile is fs.ErrNotExist in words for a person.
type missingFile struct{}

func (missingFile) Error() string {
	return "does not exist: create it, or correct its path in the configuration"
}
func (missingFile) Unwrap() error { return fs.ErrNotExist }

func explainOpen(err error) error {
	var network *netfs.OnNetwork
	switch {
	case errors.As(err, &network), errors.Is(err, netfs.ErrHangs):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return missingFile{}
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("permission denied: let uid %d, who runs the watchdog, read it and search its folders", os.Geteuid())
	case errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.ENOTCONN):
		return fmt.Errorf("%w: its mount is stale or dead: keep it on a local disk", errors.Unwrap(err))
	case errors.Is(err, syscall.ENXIO):
		return errors.New("is a socket or a device, not a regular file: name a file")
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err // the path is in the message already
	}
	return fmt.Errorf("%w: correct its path in the configuration", err)
}

func identityFacts(f *os.File) (identityFile, error) {
	info, err := f.Stat()
	if err != nil {
		return identityFile{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identityFile{}, errors.New("its owner is unknown")
	}
	return identityFile{mode: info.Mode(), uid: stat.Uid}, nil
}

// refuse says why a file must not be trusted, and what to do about it.
func (i identityFile) refuse(path string, owners identityOwners, private bool) error {
	perm := i.mode.Perm()
	switch {
	case i.mode.IsDir():
		return errors.New("is a directory, not a regular file: name a file in it")
	case !i.mode.IsRegular():
		return errors.New("is a pipe or a device, not a regular file: name a file")
	case !owners[i.uid]:
		return fmt.Errorf("belongs to uid %d: chown it to root or to the SSH user", i.uid)
	case perm&0o022 != 0:
		return fmt.Errorf("others can write it (mode %#o): chmod go-w %s", perm, path)
	case private && perm&0o077 != 0:
		return fmt.Errorf("others can read it (mode %#o): chmod 600 %s", perm, path)
	}
	return nil
}

func readIdentityFile(f *os.File) ([]byte, error) {
	content, err := netfs.Read(f, maxIdentityFile+1)
	if err != nil {
		return nil, err
	}
	if len(content) > maxIdentityFile {
		return nil, fmt.Errorf("is larger than %d MiB: name the right file", maxIdentityFile>>20)
	}
	return content, nil
}
