package scripts

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
)

// Inside returns what stood between the fences and the script's exit code. Noise before and
// after is ignored. Without the end fence ok is false: the script did not run to its end, and
// body is what there was of it.
func Inside(fence string, out []byte) (body string, exit int, ok bool) {
	var b bytes.Buffer
	c := NewCutter(fence, &b)
	c.Write(out) // a bytes.Buffer takes all
	exit, ok, _ = c.Close()
	return b.String(), exit, ok
}

// Cutter passes on only what stands between the fences, as it comes.
type Cutter struct {
	w     io.Writer
	begin []byte
	end   *regexp.Regexp
	held  []byte // not yet passed on: it may be the start of a fence
	open  bool   // the first fence was seen
	exit  int
	ok    bool // the end fence was seen
	err   error
}

// NewCutter returns a Cutter that writes to w.
func NewCutter(fence string, w io.Writer) *Cutter {
	return &Cutter{
		w:     w,
		begin: []byte("\n" + fence + " begin\n"),
		end:   regexp.MustCompile(`\n` + regexp.QuoteMeta(fence) + ` end ([0-9]{1,3})\n`),
	}
}

// Write takes more of the output. After an error of the writer below it takes and drops all, so
// that the script on the node is not held up; Close tells that error.
func (c *Cutter) Write(p []byte) (int, error) {
	if c.ok {
		return len(p), nil
	}
	c.held = append(c.held, p...)
	if !c.open {
		c.seekBegin()
	}
	if c.open {
		c.passOn()
	}
	return len(p), nil
}

// Close passes on what was held back and tells how it ended.
func (c *Cutter) Close() (exit int, ok bool, err error) {
	if c.open && !c.ok {
		c.emit(len(c.held))
	}
	return c.exit, c.ok, c.err
}

func (c *Cutter) seekBegin() {
	at := bytes.Index(c.held, c.begin)
	if at >= 0 {
		c.open = true
		c.held = c.held[at+len(c.begin):]
		return
	}
	if keep := len(c.begin) - 1; len(c.held) > keep { // noise without an end must not pile up
		c.held = bytes.Clone(c.held[len(c.held)-keep:])
	}
}

func (c *Cutter) passOn() {
	if m := c.end.FindSubmatchIndex(c.held); m != nil {
		c.ok = true
		c.exit, _ = strconv.Atoi(string(c.held[m[2]:m[3]])) // up to three digits
		c.emit(m[0])
		return
	}
	longest := len(c.begin) + len("end 255\n")
	if safe := len(c.held) - longest; safe > 0 {
		c.emit(safe)
	}
}

// emit passes on the first n held bytes.
func (c *Cutter) emit(n int) {
	if n > 0 && c.err == nil {
		_, c.err = c.w.Write(c.held[:n])
	}
	c.held = bytes.Clone(c.held[n:])
}
