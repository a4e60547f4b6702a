package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cluster-watchdog/watchdog/netfs"
)

// maxConfig is far more than a config needs; more is another file given by mistake.
const maxConfig = 1 << 20

// fileFacts is what is known of an open file or of a folder.
type fileFacts struct {
	mode fs.FileMode
	uid  int
	size int64
}

// readConfig reads the config file, after it has made sure that nobody but root and the user
// running us can have changed it: it names commands that are run on every node.
func readConfig(path string) ([]byte, error) {
	f, err := netfs.Open(path) // a FIFO or a mount that hangs must not hold us
	if err != nil {
		return nil, reasonOf(err)
	}
	defer func() { _ = f.Close() }()
	if err := checkOpen(f); err != nil {
		return nil, err
	}
	if err := checkFolders(path); err != nil {
		return nil, err
	}
	text, err := netfs.Read(f, maxConfig+1)
	if err != nil {
		return nil, reasonOf(err)
	}
	if len(text) > maxConfig {
		return nil, errTooLarge
	}
	return text, nil
}

var errTooLarge = errors.New("is larger than 1 MiB: not a config")

func checkOpen(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return reasonOf(err)
	}
	return factsOf(info).file(os.Geteuid())
}

// checkFolders looks at the folder of the path and, behind a symbolic link, at the real one.
func checkFolders(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return reasonOf(err)
	}
	for _, folder := range []string{filepath.Dir(path), filepath.Dir(real)} {
		info, err := os.Stat(folder)
		if err != nil {
			return reasonOf(err)
		}
		if err := factsOf(info).owned(os.Geteuid()); err != nil {
			return fmt.Errorf("its folder %s %w", folder, err)
		}
	}
	return nil
}

func factsOf(info fs.FileInfo) fileFacts {
	facts := fileFacts{mode: info.Mode(), size: info.Size(), uid: -1}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		facts.uid = int(sys.Uid)
	}
	return facts
}

func (f fileFacts) file(self int) error {
	switch {
	case !f.mode.IsRegular():
		return errors.New("is not a regular file")
	case f.size > maxConfig:
		return errTooLarge
	default:
		return f.owned(self)
	}
}

func (f fileFacts) owned(self int) error {
	switch {
	case f.uid != 0 && f.uid != self:
		return fmt.Errorf("belongs to user id %d; chown it to root or to the user running this", f.uid)
	case f.mode.Perm()&0o022 != 0:
		return fmt.Errorf("can be written by others (mode %04o); run chmod go-w", f.mode.Perm())
	default:
		return nil
	}
}

// reasonOf drops the path from an error that will be printed behind it.
func reasonOf(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
