package clustertest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// command runs what a client sent and answers as sshd does: the exit code when the shell ends,
// the end of the channel when nobody holds its output any more.
func (s *server) command(conn *ssh.ServerConn, channel ssh.Channel, line string, gone <-chan struct{}) {
	defer channel.Close()
	input, script := s.input(channel, line)
	label := "ssh " + line
	if script != "" {
		label = "script " + script
	}
	s.node.NoteCall(label)
	hits := s.cluster.faults.Call(script, s.rank)
	if slices.Contains(hits, SSHDDropsEarly) {
		conn.Close()
		return
	}
	r := &run{server: s, channel: channel, line: line, input: input, faults: hits, gone: gone}
	if slices.Contains(hits, SSHDDrops) {
		r.dropHalfway(conn)
		return
	}
	if state := r.start(channel, channel.Stderr()); state != nil {
		sendExit(channel, state)
		r.output.Wait()
	}
}

// maxScript is more than any script has.
const maxScript = 4 << 20

// input returns the stdin of a command, and the name of the script it is. A shell that reads its
// script from stdin is given all of it at once: only then can one tell which it is.
func (s *server) input(channel ssh.Channel, line string) (io.Reader, string) {
	if !strings.Contains(line, "sh -s") {
		return channel, recognise(line)
	}
	all, err := io.ReadAll(io.LimitReader(channel, maxScript))
	if err != nil {
		all = nil // the client is gone
	}
	return bytes.NewReader(all), recognise(string(all))
}

// run is one command of one session.
type run struct {
	server  *server
	channel ssh.Channel
	line    string
	input   io.Reader
	faults  []FaultKind
	gone    <-chan struct{}
	output  sync.WaitGroup // who still copies its output
}

// start runs the command to its end. It returns nil when it could not be started.
func (r *run) start(stdout, stderr io.Writer) *os.ProcessState {
	cmd := exec.Command("/bin/sh", "-c", r.line)
	cmd.Dir = r.server.node.Home()
	cmd.Env = r.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipes, err := connect(cmd)
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		pipes.closeAll()
		r.server.cluster.log(r.server.Name + ": " + err.Error())
		return nil
	}
	pipes.closeTheirs()
	r.output.Go(func() { io.Copy(stdout, pipes.out) })
	r.output.Go(func() { io.Copy(stderr, pipes.err) })
	r.server.cluster.wg.Go(func() {
		io.Copy(pipes.in, r.input)
		pipes.in.Close()
	})
	done := make(chan struct{})
	r.server.cluster.wg.Go(func() { r.endWithClient(cmd.Process.Pid, pipes, done) })
	cmd.Wait() // its error is in the state
	close(done)
	return cmd.ProcessState
}

// endWithClient kills the command when the client goes away, and lets go of its output, which
// detached helpers may still hold.
func (r *run) endWithClient(session int, pipes *pipes, done <-chan struct{}) {
	select {
	case <-r.gone:
		endSession(r.server.node, session)
	case <-done:
		<-r.gone
	}
	pipes.closeOurs()
}

func (r *run) environment() []string {
	env := []string{
		"PATH=" + r.server.node.Bin() + ":/usr/bin:/bin",
		"HOME=" + r.server.node.Home(),
		"USER=" + User,
		"LOGNAME=" + User,
		"SHELL=/bin/sh",
		fakenode.EnvNode + "=" + r.server.node.Dir,
	}
	if len(r.faults) > 0 {
		words := make([]string, len(r.faults))
		for i, kind := range r.faults {
			words[i] = string(kind)
		}
		env = append(env, fakenode.EnvFaults+"="+strings.Join(words, ","))
	}
	return env
}

// dropHalfway runs the command to its end, but the connection breaks before the client has heard
// more than a half: what was done stays done, and nobody knows.
func (r *run) dropHalfway(conn *ssh.ServerConn) {
	var out bytes.Buffer
	r.start(&out, io.Discard)
	r.output.Wait()
	r.channel.Write(out.Bytes()[:out.Len()/2])
	conn.Close()
}
