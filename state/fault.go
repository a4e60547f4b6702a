package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"
)

// DamageError says that the database cannot be believed. SetAside is the way on.
type DamageError struct {
	Path  string
	Cause error
}

// Error says what is wrong and what to do.
func (e *DamageError) Error() string {
	return fmt.Sprintf("cannot use the state %s: it is damaged: %v; the next tick sets it aside and disarms", e.Path, e.Cause)
}

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Cause }

// NewerError says that a later watchdog wrote the database. It is left as it is.
type NewerError struct {
	Path    string
	Version int
}

// Error says which versions do not fit and what to do.
func (e *NewerError) Error() string {
	return fmt.Sprintf("cannot use the state %s: it has schema %d and this watchdog knows only %d; install the later watchdog again", e.Path, e.Version, schemaVersion)
}

// wordedError says all that there is to say.
type wordedError struct{ error }

func (s *Store) damaged(format string, args ...any) error {
	return &DamageError{Path: s.path, Cause: fmt.Errorf(format, args...)}
}

// fault words an error for people, unless it speaks for itself.
func (s *Store) fault(verb string, err error) error {
	var damage *DamageError
	var newer *NewerError
	var worded wordedError
	if err == nil || errors.As(err, &damage) || errors.As(err, &newer) || errors.As(err, &worded) {
		return err
	}
	return fmt.Errorf("cannot %s the state %s: %w; %s", verb, s.path, err, hint(err))
}

// isInvalid says whether bbolt took the file for something that it did not write.
func isInvalid(err error) bool {
	return errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrVersionMismatch) ||
		errors.Is(err, bolterrors.ErrChecksum)
}

// hint says what a person can do about an error.
func hint(err error) string {
	var value *json.UnsupportedValueError
	var marshaler *json.MarshalerError
	switch {
	case errors.As(err, &value), errors.As(err, &marshaler):
		return "this is a fault of the watchdog: report it with this line"
	case errors.Is(err, bolterrors.ErrTimeout):
		return "another process has it open: find it with fuser and try again"
	case says(err, syscall.ENOSPC), says(err, syscall.EDQUOT), says(err, syscall.EFBIG):
		return "free some disk space"
	case says(err, syscall.EROFS):
		return "its disk is mounted read-only: see dmesg for why"
	case errors.Is(err, fs.ErrPermission):
		return "run it as root or as the owner of the folder"
	}
	return "look at the disk, for example with df and dmesg"
}

// says finds a cause that bbolt has only put into the words of its error.
func says(err error, cause syscall.Errno) bool {
	return errors.Is(err, cause) || strings.HasSuffix(err.Error(), ": "+cause.Error())
}
