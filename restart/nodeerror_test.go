package restart

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cluster-watchdog/watchdog"
)

func TestNodeErrorWords(t *testing.T) {
	rows := []struct {
		name string
		err  NodeError
		want string
	}{
		{"script failed", NodeError{Node: "n2", Script: "check/docker", Reach: watchdog.ReachOK, Exit: 1, Stderr: "motd\npermission denied\n\n"},
			"cannot run check/docker on n2: exit 1: permission denied"},
		{"docker's advice is not the reason", NodeError{Node: "n2", Script: "launch/launch", Reach: watchdog.ReachOK, Exit: 1,
			Stderr: "docker: Error response from daemon: no such device\n\nRun 'docker run --help' for more information\n"},
			"cannot run launch/launch on n2: exit 1: docker: Error response from daemon: no such device"},
		{"script said nothing", NodeError{Node: "n2", Script: "check/docker", Reach: watchdog.ReachOK, Exit: 2},
			"cannot run check/docker on n2: exit 2: it printed no reason"},
		{"not reached", NodeError{Node: "n2", Reach: watchdog.ReachRefused, Err: errors.New("connection refused (10.0.0.2:22): is sshd running?")},
			"cannot reach n2 by SSH: connection refused (10.0.0.2:22): is sshd running?"},
		{"unknown", NodeError{Node: "n2", Script: "launch/launch", Reach: watchdog.ReachDropped, Unknown: true, Err: errors.New("the SSH connection dropped while it ran")},
			"cannot run launch/launch on n2: the SSH connection dropped while it ran: its outcome is unknown: look at the node before repeating it"},
		{"control characters", NodeError{Node: "n2", Script: "check/docker", Reach: watchdog.ReachOK, Exit: 1, Stderr: "a\x1b]0;x\x07b\u202ec\u0085d\tf"},
			"cannot run check/docker on n2: exit 1: a]0;xbc d f"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := row.err.Error(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestNodeErrorIsShort(t *testing.T) {
	long := NodeError{Node: "n2", Script: "check/docker", Reach: watchdog.ReachOK, Exit: 1, Stderr: strings.Repeat("ä", 10000)}
	if got := len([]rune(long.Error())); got > 300 {
		t.Errorf("%d runes", got)
	}
}

func TestNodeErrorCarriesItsValues(t *testing.T) {
	var err error = &NodeError{Node: "n2", Reach: watchdog.ReachTimeout, Err: context.DeadlineExceeded}
	var reached interface{ ReachOf() watchdog.Reach }
	if !errors.As(err, &reached) || reached.ReachOf() != watchdog.ReachTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
