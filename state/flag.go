package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cluster-watchdog/watchdog"

	"github.com/google/renameio/v2"
)

const (
	flagName  = "disarmed"
	flagMode  = 0o644    // anyone who may enter the folder may read why
	flagBytes = 64 << 10 // no more is read
)

// FlagPath returns where the flag of a state folder is: a file that a person may touch and remove.
func FlagPath(dir string) string { return filepath.Join(dir, flagName) }

// WriteFlag disarms. The file appears whole or, on a disk that takes no text any more, empty, which
// disarms too and is told by the error. It needs neither database nor lock.
func WriteFlag(dir string, f watchdog.Flag) error {
	path := FlagPath(dir)
	err := os.MkdirAll(dir, folderMode)
	if err == nil {
		err = renameio.WriteFile(path, []byte(formatFlag(f)), flagMode, renameio.WithTempDir(dir))
	}
	if err == nil {
		err = syncFolder(dir)
	}
	switch {
	case err == nil:
		return nil
	case touch(path):
		return fmt.Errorf("cannot write who and why into the flag %s: %w; a flag is there and disarms nevertheless; %s", path, err, hint(err))
	default:
		return fmt.Errorf("cannot write the flag %s: %w; %s; to disarm nevertheless: touch %s, or systemctl stop cluster-watchdog.timer", path, err, hint(err), path)
	}
}

// touch says whether there is a flag now, whatever it says.
func touch(path string) bool {
	if _, err := os.Lstat(path); err == nil {
		return true
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, flagMode)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// RemoveFlag takes the flag away; that there was none is fine.
func RemoveFlag(dir string) error {
	path := FlagPath(dir)
	err := os.Remove(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the flag %s: %w; %s, then remove it by hand", path, err, hint(err))
	}
	return nil
}

// EndFlag takes away the flag that was seen, and says whether there is none now. Any other one stays:
// somebody wrote it since. No file system compares and removes in one, so the flag is first taken
// aside, where ReadFlag still finds it, and put back where it is another's. One that cannot be read
// cannot be compared either, and just goes.
func EndFlag(dir string, seen watchdog.Flag) (gone bool, err error) {
	path, aside := FlagPath(dir), flagAside(dir)
	now := ReadFlag(dir)
	switch {
	case !now.Equal(seen):
		return false, nil
	case !now.Present:
		return true, nil
	case now.Err != "":
		return true, RemoveFlag(dir)
	}
	if err := os.Rename(path, aside); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be aside already
		return false, fmt.Errorf("cannot take the flag %s away: %w; %s, then remove it by hand", path, err, hint(err))
	}
	text, err := readFlagText(aside)
	if err != nil || !parseFlag(text).Equal(seen) {
		if err := os.Link(aside, path); err != nil && !errors.Is(err, fs.ErrExist) { // a newer one may be there by now
			return false, fmt.Errorf("cannot put the flag %s back: %w; it counts as it is in %s", path, err, aside)
		}
	}
	if err := os.Remove(aside); err != nil {
		return false, fmt.Errorf("cannot remove %s, which disarms: %w; %s, then remove it by hand", aside, err, hint(err))
	}
	return !ReadFlag(dir).Present, nil
}

// flagAside is where EndFlag holds a flag for a moment; one that was killed there has left it.
func flagAside(dir string) string { return FlagPath(dir) + ".ending" }

// ReadFlag reads the flag. Whatever stands under its name counts as present, and what EndFlag holds
// aside; only their absence, said by the file system, does not.
func ReadFlag(dir string) watchdog.Flag {
	text, err := readFlagText(FlagPath(dir))
	for _, path := range []string{flagAside(dir), FlagPath(dir)} { // the second time it may be back
		if errors.Is(err, fs.ErrNotExist) {
			text, err = readFlagText(path)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return watchdog.Flag{}
	}
	if err != nil {
		return watchdog.Flag{Present: true, Err: err.Error()}
	}
	return parseFlag(text)
}

// readFlagText follows no link and waits for nothing: a link may lead to a hanging mount, a FIFO
// has perhaps no writer.
func readFlagText(path string) (string, error) {
	if _, err := os.Lstat(path); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", fmt.Errorf("%s is a symbolic link, not a file", path)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, flagBytes+1))
	if err != nil {
		return "", err
	}
	if len(text) > flagBytes {
		return "", fmt.Errorf("%s is larger than %d KiB", path, flagBytes>>10)
	}
	return string(text), nil
}
