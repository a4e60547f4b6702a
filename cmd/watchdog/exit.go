package main

import (
	"errors"
	"strings"

	"cluster-watchdog/state"
)

// The exit codes, as README shows them. The unit counts refused, given up and busy as success.
const (
	exitFine    = 0
	exitFault   = 1  // a fault of ours, or I/O
	exitUsage   = 2  // usage or configuration
	exitRefused = 3  // disarmed, or a check failed
	exitBroken  = 4  // a destructive step or a launch failed: the group is down
	exitGivenUp = 5  // restarts did not help
	exitBusy    = 75 // another run holds the lock, or another group of this machine acts
)

// usageError is a wrong command line.
type usageError struct{ error }

// codeError ends the program with a code of its own. Without a text it ends quietly: all has been
// said already.
type codeError struct {
	code int
	text string
}

func (e codeError) Error() string { return e.text }

// exitCode is the one table from an error to an exit code.
func exitCode(err error) int {
	var usage usageError
	var config *configError
	var busy *state.BusyError
	var code codeError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &usage), errors.As(err, &config):
		return exitUsage
	case errors.As(err, &busy):
		return exitBusy
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return exitUsage
	default:
		return exitFault
	}
}
