package restart

import (
	"compress/gzip"
	"context"
	"io"
	"sync"
	"time"
)

// copying is what all copies of one call share.
type copying struct {
	folder string
	ids    []string // by rank
	turns  *turns
	zips   sync.Pool // of *gzip.Writer: most of a MiB each, and only so many at work
}

func (c *copying) zipTo(w io.Writer) *gzip.Writer {
	zip, ok := c.zips.Get().(*gzip.Writer)
	if !ok {
		return gzip.NewWriter(w)
	}
	zip.Reset(w)
	return zip
}

// copyPatience is how long a log may pause before another one is copied beside it: longer than this
// machine, where it is busy, may need for a part of one.
const copyPatience = 3 * time.Second

// inTurn works on what comes only when it has its turn, and waits for more without it.
type inTurn struct {
	ctx  context.Context
	turn *turn
	w    io.Writer
}

// Write takes a part of the log. It fails when there is no turn before the time is over.
func (i *inTurn) Write(p []byte) (int, error) {
	if err := i.turn.begin(i.ctx); err != nil {
		return 0, err
	}
	defer i.turn.waits()
	return i.w.Write(p)
}
