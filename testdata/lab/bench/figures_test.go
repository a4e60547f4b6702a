//go:build lab

package bench

import (
	"flag"
	"fmt"
	"slices"
	"time"
)

var rounds = flag.Int("rounds", 9, "how often each side is measured, in turn")

// figures are what was measured in all rounds.
type figures []float64

func (f *figures) add(d time.Duration) { *f = append(*f, float64(d)/float64(time.Millisecond)) }

// median is that of an odd count in its middle, of an even one above it.
func (f figures) median() float64 { return slices.Sorted(slices.Values(f))[len(f)/2] }

// String is the median with the spread.
func (f figures) String() string {
	return fmt.Sprintf("%6.0f (%.0f, %.0f)", f.median(), slices.Min(f), slices.Max(f))
}
