package clustertest

import (
	"errors"
	"os"
	"os/exec"
)

// pipes are the three streams of a command: our ends and its.
type pipes struct {
	in, out, err                *os.File
	theirIn, theirOut, theirErr *os.File
}

// connect gives a command three new streams.
func connect(cmd *exec.Cmd) (*pipes, error) {
	p := &pipes{}
	var errIn, errOut, errErr error
	p.theirIn, p.in, errIn = os.Pipe()
	p.out, p.theirOut, errOut = os.Pipe()
	p.err, p.theirErr, errErr = os.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.theirIn, p.theirOut, p.theirErr
	return p, errors.Join(errIn, errOut, errErr)
}

func (p *pipes) closeTheirs() { closeFiles(p.theirIn, p.theirOut, p.theirErr) }
func (p *pipes) closeOurs()   { closeFiles(p.in, p.out, p.err) }
func (p *pipes) closeAll()    { p.closeTheirs(); p.closeOurs() }

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
