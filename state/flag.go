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

// ReadFlag reads the flag. Whatever stands under its name counts as present; only its absence,
// said by the file system, does not.
func ReadFlag(dir string) watchdog.Flag {
	text, err := readFlagText(FlagPath(dir))
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
