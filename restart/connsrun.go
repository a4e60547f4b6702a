package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Result is what a script that ran to its end gave.
type Result struct {
	Stdout string // between the fences; empty for a Stream
	Stderr string
	Exit   int
}

// Warnings returns what a check that passed wants people to know all the same, each one line.
func (r Result) Warnings() []string {
	all := values(r.Stdout, "warning")
	for i, w := range all {
		all[i] = printableLine(w)
	}
	return all
}

const (
	maxSSHStdout = 1 << 20  // of a Run; a Stream is capped by its script
	maxSSHStderr = 64 << 10 // the end of it, where a script says why
)

// shellCommand is the same for every login shell, also fish and csh: two plain words and an
// option. The script comes on stdin.
const shellCommand = "/bin/sh -s"

// Run runs a script on a node and returns what it printed. An error is a *NodeError, except
// for errors of the program itself.
func (c *Conns) Run(ctx context.Context, rank int, s scripts.Script, env map[string]string) (Result, error) {
	var body strings.Builder
	sink := &cappedSink{w: &body, left: maxSSHStdout}
	result, err := c.runScript(ctx, rank, s, env, sink)
	result.Stdout = body.String()
	return result, err
}

// Stream runs a script and passes its output to w as it comes. After Stream returns w is not
// written to any more. An error of w is reported after the script's end and is no *NodeError.
func (c *Conns) Stream(ctx context.Context, rank int, s scripts.Script, env map[string]string, w io.Writer) (Result, error) {
	return c.runScript(ctx, rank, s, env, &cappedSink{w: w, left: -1})
}

func (c *Conns) runScript(ctx context.Context, rank int, s scripts.Script, env map[string]string, sink *cappedSink) (Result, error) {
	n, err := c.node(rank)
	if err != nil {
		return Result{}, err
	}
	fence := scripts.NewFence()
	input, err := scripts.Render(s, fence, env)
	if err != nil {
		return Result{}, err
	}
	return c.runInput(ctx, n, sshJob{name: s.Name(), fence: fence, input: input, sink: sink})
}

// sshJob is a rendered script and where its output goes.
type sshJob struct {
	name, fence string
	input       []byte
	sink        *cappedSink
}

// sshNext is what may be done after a session.
type sshNext int

const (
	sshOver     sshNext = iota // whatever came of it
	sshRedial                  // nothing was run, and the connection is of no more use
	sshRejected                // nothing was run: sshd opens no session on this connection
)

// runInput waits for the node's turn and runs the job. A session that could not be opened on a
// connection from before has run nothing, so the job gets one more chance on a new connection. A
// session that was rejected there is asked for once more before: sshd frees the place of the last
// one a little after that has ended, surely by the time it has rejected this one.
func (c *Conns) runInput(ctx context.Context, n *nodeConn, job sshJob) (Result, error) {
	select {
	case <-n.turn:
		defer func() { n.turn <- struct{}{} }()
	case <-ctx.Done():
		return Result{}, n.fault(job, watchdog.ReachTimeout, fmt.Errorf("an earlier command still runs there: %w", ctx.Err()))
	}
	for reopened := false; ; {
		if ctx.Err() != nil {
			return Result{}, n.fault(job, watchdog.ReachTimeout, fmt.Errorf("no time left: %w", ctx.Err()))
		}
		client, fresh, failure := c.connect(ctx, n)
		if failure != nil {
			return Result{}, failure
		}
		result, failure, next := n.perform(ctx, client, job)
		if next == sshRejected && !fresh && !reopened {
			reopened = true
			continue
		}
		if next == sshRejected {
			n.drop(client)
		}
		if next != sshOver && !fresh {
			continue
		}
		if failure != nil {
			return result, failure
		}
		if job.sink.err != nil {
			return result, fmt.Errorf("cannot keep the output of %s from %s: %w", job.name, n.target.Name, job.sink.err)
		}
		return result, nil
	}
}

// perform runs the job in one session. At the end of ctx the whole connection goes: closing a session alone would look
// like success, and can block.
func (n *nodeConn) perform(ctx context.Context, client *ssh.Client, job sshJob) (result Result, failure *NodeError, next sshNext) {
	out := newSSHOutput(job.fence, job.sink)
	done := make(chan sshEnd, 1)
	go func() { done <- runSSHSession(client, job.input, out) }()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heart := feel(listening, client)
	var end sshEnd
	select {
	case end = <-done:
	case <-heart.lost:
		return n.cutOff(client, job, out.seal(), silence(heart))
	case <-ctx.Done():
		select {
		case end = <-done: // it was over before
		default:
			said := out.seal()
			return n.cutOff(client, job, said, n.endedBy(ctx, heart, said))
		}
	}
	said := out.seal()
	var rejected *ssh.OpenChannelError
	switch {
	case errors.As(end.err, &rejected):
		next = sshRejected
	case end.broken():
		n.drop(client)
		if end.stage != sshRunning {
			next = sshRedial
		}
	}
	failure = n.judge(job, end, said)
	return Result{Stderr: said.stderr, Exit: said.exit}, failure, next
}

// cutOff ends the wait for a script that may run on; its connection goes.
func (n *nodeConn) cutOff(client *ssh.Client, job sshJob, said sshSaid, why error) (Result, *NodeError, sshNext) {
	n.drop(client)
	result := Result{Stderr: said.stderr}
	failure := n.fault(job, watchdog.ReachTimeout, why)
	failure.Unknown, failure.Stderr = true, result.Stderr
	return result, failure, sshOver
}

func (n *nodeConn) fault(job sshJob, reach watchdog.Reach, err error) *NodeError {
	return &NodeError{Node: n.target.Name, Script: job.name, Reach: reach, Err: err}
}

// silence says of a node that it is cut off or stands still, which no command on it can tell.
func silence(p *pulse) error {
	return fmt.Errorf("the SSH connection has been silent for %s: the node is cut off or stands still", p.silent().Round(time.Second))
}

// endedBy says why a run that was cut off has no end: an interrupt of the whole, the node, or its deadline.
func (n *nodeConn) endedBy(ctx context.Context, heart *pulse, said sshSaid) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fmt.Errorf("interrupted: %w", ctx.Err())
	case heart.silent() > 0:
		return fmt.Errorf("%w: %w", silence(heart), ctx.Err())
	case !said.began:
		return fmt.Errorf("no end within its time: %w: its login shell did not even begin: the node may hang, or the home or the profile of user %s on it", ctx.Err(), n.target.User)
	}
	return fmt.Errorf("no end within its time: %w", ctx.Err())
}
