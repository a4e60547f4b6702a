package probe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	maxMetrics = 32 << 20 // of one reading, passed through
	maxSifted  = 1 << 20  // of it, kept
	maxLine    = 64 << 10
)

// siftMetrics reads a whole exposition and keeps only the lines of wanted metrics, so that a
// large one costs no memory. Comments go: without their TYPE a histogram's _count is a number like
// any other.
func siftMetrics(r io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: r, N: maxMetrics + 1}
	lines := bufio.NewReaderSize(limited, maxLine)
	var kept bytes.Buffer
	for {
		line, err := lines.ReadSlice('\n')
		if isWanted(line) {
			if errors.Is(err, bufio.ErrBufferFull) || kept.Len()+len(line) > maxSifted {
				return nil, errTooLong
			}
			kept.Write(line)
		}
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = lines.ReadSlice('\n')
		}
		switch {
		case limited.N <= 0:
			return nil, errTooLong
		case errors.Is(err, io.EOF):
			kept.WriteByte('\n') // the last line may lack its end
			return kept.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}

// isWanted says whether a line is a sample of a wanted metric. Names must be equal: that of one
// metric is the start of another's (E12).
func isWanted(line []byte) bool {
	line = bytes.TrimLeft(line, " \t")
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return false
	}
	_, found := wanted[string(line[:end])]
	return found || string(line[:end]) == sleepState
}
