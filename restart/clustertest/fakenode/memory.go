package fakenode

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// The memory of a node, in bytes: what a server leaves, what its page cache holds back until it
// is dropped, and what a short node has.
const (
	memTotal     = 120 << 30
	memEmpty     = 115 << 30
	memCached    = 57 << 30
	memServing   = 3 << 30
	memShort     = 20 << 30
	bytesInAKilo = 1024
)

// Meminfo renders the node's /proc/meminfo as of now.
func (n Node) Meminfo(d *Daemon, short bool) string {
	free, cached := int64(memEmpty), int64(1<<30)
	var ended time.Time
	serving := false
	for _, s := range d.Starts {
		serving = serving || s.Finished.IsZero()
		if s.Finished.After(ended) {
			ended = s.Finished
		}
	}
	drops := n.Drops()
	dropped := len(drops) > 0 && drops[len(drops)-1].At.After(ended)
	switch {
	case serving:
		free = memServing
	case !dropped && !ended.IsZero():
		free, cached = memEmpty-memCached, memCached
	}
	if pinned, err := os.ReadFile(n.Run(filePinnedFree)); err == nil {
		free, _ = strconv.ParseInt(strings.TrimSpace(string(pinned)), 10, 64) // written by PinFree
	}
	if short {
		free = min(free, memShort)
	}
	var b strings.Builder
	for _, l := range []struct {
		name  string
		bytes int64
	}{
		{"MemTotal", memTotal}, {"MemFree", free}, {"MemAvailable", free + cached*9/10}, {"Buffers", 64 << 20}, {"Cached", cached},
		{"SwapCached", 0}, {"SwapTotal", 16 << 30}, {"SwapFree", 16 << 30},
	} {
		fmt.Fprintf(&b, "%-16s%8d kB\n", l.name+":", l.bytes/bytesInAKilo)
	}
	return b.String()
}

// PinFree fixes the node's free memory; a negative value lets it follow the containers again.
func (n Node) PinFree(bytes int64) error {
	if bytes < 0 {
		err := os.Remove(n.Run(filePinnedFree))
		if os.IsNotExist(err) {
			err = nil
		}
		return err
	}
	return replace(n.Run(filePinnedFree), fmt.Appendf(nil, "%d\n", bytes))
}

// refreshMeminfo writes the node's meminfo as of now.
func (w *world) refreshMeminfo() error {
	d, err := w.node.Look()
	if err != nil {
		return err
	}
	return replace(w.node.Run("meminfo"), []byte(w.node.Meminfo(d, w.has(MemoryShort))))
}
