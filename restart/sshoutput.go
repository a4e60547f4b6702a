package restart

import (
	"bytes"
	"io"
	"sync"

	"cluster-watchdog/scripts"
)

// sshOutput takes what a session prints until it is sealed. A session that was given up may
// still be writing.
type sshOutput struct {
	mu     sync.Mutex
	sealed bool
	cutter *scripts.Cutter
	fence  []byte
	recent []byte // the end of stdout, where a fence may have begun
	began  bool
	noise  []byte // the beginning of what came before the script
	errors []byte
}

// maxSSHNoise is how much of the noise is kept, for a login shell that says why it runs nothing.
const maxSSHNoise = 1 << 10

// sshSaid is what a session had printed when it was sealed.
type sshSaid struct {
	began, ended bool // the fences were seen
	exit         int
	noise        string // before the script, to stdout
	stderr       string
}

func newSSHOutput(fence string, sink io.Writer) *sshOutput {
	return &sshOutput{cutter: scripts.NewCutter(fence, sink), fence: []byte(fence)}
}

func (o *sshOutput) stdout() io.Writer { return sshWriter(o.takeStdout) }
func (o *sshOutput) stderr() io.Writer { return sshWriter(o.takeStderr) }

type sshWriter func(p []byte)

// Write never fails: a session whose output is not taken would hang on the node.
func (w sshWriter) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

func (o *sshOutput) takeStdout(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed {
		return
	}
	if !o.began {
		o.noise = append(o.noise, p[:min(len(p), maxSSHNoise-len(o.noise))]...)
		o.recent = append(o.recent, p...)
		o.began = bytes.Contains(o.recent, o.fence)
		o.recent = o.recent[max(0, len(o.recent)-len(o.fence)+1):]
	}
	o.cutter.Write(p)
}

func (o *sshOutput) takeStderr(p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed {
		return
	}
	o.errors = append(o.errors, p...)
	if len(o.errors) > 2*maxSSHStderr { // not at every byte
		o.errors = bytes.Clone(o.errors[len(o.errors)-maxSSHStderr:])
	}
}

// seal ends the taking and tells what there was.
func (o *sshOutput) seal() sshSaid {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sealed = true
	exit, ended, _ := o.cutter.Close() // the sink keeps its own error
	errors := o.errors[max(0, len(o.errors)-maxSSHStderr):]
	return sshSaid{began: o.began, ended: ended, exit: exit, noise: string(o.noise), stderr: string(errors)}
}

// cappedSink passes on up to left bytes; a negative left is no cap. It takes everything: the
// end fence is still to come.
type cappedSink struct {
	w        io.Writer
	left     int
	overflow bool
	err      error
}

func (s *cappedSink) Write(p []byte) (int, error) {
	part := p
	if s.left >= 0 && len(part) > s.left {
		part, s.overflow = part[:s.left], true
	}
	if s.left >= 0 {
		s.left -= len(part)
	}
	if s.err == nil && len(part) > 0 {
		_, s.err = s.w.Write(part)
	}
	return len(p), nil
}
