package restart

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// sshStage is how far a session came.
type sshStage int

const (
	sshOpening sshStage = iota + 1 // the session was not opened
	sshAsking                      // the shell was not started: no script was sent
	sshRunning                     // the script was on its way
)

// sshEnd is how a session ended.
type sshEnd struct {
	stage sshStage
	err   error
}

// runSSHSession blocks until the server closes the session; only closing the connection ends
// that early.
func runSSHSession(client *ssh.Client, input []byte, out *sshOutput) sshEnd {
	session, err := client.NewSession()
	if err != nil {
		return sshEnd{sshOpening, err}
	}
	defer session.Close()
	session.Stdin = bytes.NewReader(input)
	session.Stdout = out.stdout()
	session.Stderr = out.stderr()
	if err := session.Start(shellCommand); err != nil {
		return sshEnd{sshAsking, err}
	}
	return sshEnd{sshRunning, session.Wait()}
}

// status is the exit status the server told, if it told one.
func (e sshEnd) status() (code int, signal string, told bool) {
	var exit *ssh.ExitError
	switch {
	case e.stage != sshRunning:
		return 0, "", false
	case e.err == nil:
		return 0, "", true
	case errors.As(e.err, &exit):
		return exit.ExitStatus(), exit.Signal(), true
	}
	return 0, "", false
}

// broken says whether the connection is of no more use.
func (e sshEnd) broken() bool {
	_, _, told := e.status()
	return !told && (e.stage != sshAsking || isSSHClosed(e.err))
}

// judge turns an end into a failure, or nil. Only the end fence proves that a script ran to its
// end, and only it says with which code.
func (n *nodeConn) judge(job sshJob, end sshEnd, said sshSaid) *NodeError {
	code, signal, told := end.status()
	var rejected *ssh.OpenChannelError
	switch {
	case end.stage == sshOpening && errors.As(end.err, &rejected):
		return n.fault(job, watchdog.ReachError, fmt.Errorf("sshd opens no session (%s): raise MaxSessions in its sshd_config, or allow this user to run commands", printableLine(rejected.Message)))
	case end.stage == sshOpening, end.stage == sshAsking && isSSHClosed(end.err):
		return n.fault(job, watchdog.ReachDropped, errors.New("the SSH connection dropped before the script was sent: see sshd's journal on the node"))
	case end.stage == sshAsking:
		return n.fault(job, watchdog.ReachError, errors.New("sshd refuses to run a command: allow this user to run /bin/sh"))
	case !told && (end.lost() || !said.ended):
		return n.unknown(job, watchdog.ReachDropped, said, errors.New("the SSH connection dropped while it ran"))
	case !said.ended && !said.began:
		f := n.fault(job, watchdog.ReachError, fmt.Errorf("the login shell ended with %d and did not start /bin/sh (%s): give the user a shell that runs commands",
			code, cmp.Or(lastPrintableLine(said.stderr), lastPrintableLine(said.noise), "it printed no reason")))
		f.Stderr = said.stderr
		return f
	case !said.ended && signal != "":
		return n.unknown(job, watchdog.ReachError, said, fmt.Errorf("killed there by signal %s", printableLine(signal)))
	case !said.ended:
		return n.unknown(job, watchdog.ReachError, said, fmt.Errorf("its shell ended with %d in the middle of it", code))
	case said.exit != 0:
		return &NodeError{Node: n.target.Name, Script: job.name, Reach: watchdog.ReachOK, Exit: said.exit, Stderr: said.stderr}
	case job.sink.overflow:
		return n.fault(job, watchdog.ReachError, fmt.Errorf("it printed more than %d KiB", maxSSHStdout>>10))
	}
	return nil
}

// lost is an end without any word from the server: the connection broke.
func (e sshEnd) lost() bool {
	var missing *ssh.ExitMissingError
	return errors.As(e.err, &missing) || errors.Is(e.err, io.ErrUnexpectedEOF)
}

func (n *nodeConn) unknown(job sshJob, reach watchdog.Reach, said sshSaid, err error) *NodeError {
	f := n.fault(job, reach, err)
	f.Unknown, f.Stderr = true, said.stderr
	return f
}
