package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// transcript is what a simulation has to say. Its end is kept for people, all of it goes into a
// sum. What happens at one instant is put in order first: nodes work side by side.
type transcript struct {
	mu    sync.Mutex
	at    time.Time
	now   []string
	lines []string
	sum   uint64
	count int
	hear  func(string) // hears each line; may be nil
}

// transcriptTail is how many lines are kept.
const transcriptTail = 400

func (r *transcript) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); !now.Equal(r.at) {
		r.flush()
		r.at = now
	}
	r.now = append(r.now, r.at.UTC().Format("01-02 15:04:05.000")+" "+fmt.Sprintf(format, args...))
}

func (r *transcript) flush() {
	slices.Sort(r.now)
	for _, line := range r.now {
		h := fnv.New64a()
		_, _ = fmt.Fprintf(h, "%d\n", r.sum)
		_, _ = io.WriteString(h, line)
		r.sum = h.Sum64()
		if r.hear != nil {
			r.hear(line)
		}
	}
	r.count += len(r.now)
	r.lines = append(r.lines, r.now...)
	if len(r.lines) > 2*transcriptTail {
		r.lines = slices.Clone(r.lines[len(r.lines)-transcriptTail:])
	}
	r.now = r.now[:0]
}

// end returns the last lines, the sum and the number of all.
func (r *transcript) end() (tail string, sum uint64, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush()
	from := max(0, len(r.lines)-transcriptTail)
	return strings.Join(r.lines[from:], "\n"), r.sum, r.count
}

// lots draws numbers that are the same for the same seed, time, step and node. Nothing is ever drawn
// from a shared stream: steps run on all nodes at once.
type lots uint64

func (l lots) draw(step string, node int) uint64 {
	x := uint64(l)*0x9e3779b97f4a7c15 ^ uint64(time.Now().UnixNano())
	for i := range len(step) {
		x = (x ^ uint64(step[i])) * 0x100000001b3
	}
	x ^= uint64(node+1) * 0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return x ^ x>>32
}

// one says whether a thing happens that happens once in n times.
func (l lots) one(n uint64, step string, node int) bool { return l.draw(step, node)%n == 0 }

// between draws a time.
func (l lots) between(least, most time.Duration, step string, node int) time.Duration {
	return least + time.Duration(l.draw(step, node)%uint64(most-least))
}
