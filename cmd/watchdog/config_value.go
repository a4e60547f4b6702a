package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written such as 100GiB in the file.
type Size int64

// The units of sizes. Decimal ones are left out: nobody knows which of the two GB meant.
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
)

type sizeUnit struct {
	name string
	size Size
}

func sizeUnits() []sizeUnit {
	return []sizeUnit{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", 1}}
}

// String writes the size with the largest unit that leaves no rest.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.size == 0 {
			return fmt.Sprintf("%d%s", s/u.size, u.name)
		}
	}
	return "0B"
}

// parseSize reads a whole number with a unit. Empty text is zero: not set.
func parseSize(text string) (Size, bool) {
	if text == "" {
		return 0, true
	}
	for _, u := range sizeUnits() {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > int64(1<<62)/int64(u.size) {
			return 0, false
		}
		return Size(n) * u.size, true
	}
	return 0, false
}

// briefDuration writes a duration without the zero units that time.Duration adds: 75m, not 1h15m0s.
func briefDuration(d time.Duration) string {
	switch {
	case d != 0 && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d != 0 && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return d.String()
	}
}
