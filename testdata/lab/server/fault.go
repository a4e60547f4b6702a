package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What goes wrong, one word in the file fault. The head obeys all but shell; a worker obeys those
// marked "any", and shell.
const (
	none         = ""
	wedge        = "wedge"         // requests run for ever, no counter moves, /health is content
	wedgeWaiting = "wedge-waiting" // requests wait, none runs
	busy         = "busy"          // counters move, an answer takes longer than anyone waits
	slow         = "slow"          // slow:DURATION, an answer takes that long and counters move
	crashWarmup  = "crash-warmup"  // any: exit 1 while loading
	noMemory     = "no-memory"     // any: exit 1 at start
	unauthorized = "401"           // the API wants a key
	notFound     = "404"           // a completion's model is not here
	serverError  = "500"           // a completion finds the engine dead
	unhealthy    = "health-503"    // /health says the engine is dead
	die          = "die"           // any: exit 1 at once
	poison       = "poison"        // a prompt that holds POISON kills the engine
	shell        = "shell"         // a worker outlives its head
)

var words = []string{none, wedge, wedgeWaiting, busy, crashWarmup, noMemory,
	unauthorized, notFound, serverError, unhealthy, die, poison, shell}

type fault struct {
	word  string
	delay time.Duration // of slow
}

// readFault looks anew each time, so that a word holds from the moment it is written. An unknown
// word is an error: a typing mistake must not pass for health.
func readFault(dir string) (fault, error) {
	text, err := os.ReadFile(filepath.Join(dir, "fault"))
	if errors.Is(err, fs.ErrNotExist) {
		return fault{}, nil
	}
	if err != nil {
		return fault{}, fmt.Errorf("cannot read the fault: %w", err)
	}
	return parseFault(strings.TrimSpace(string(text)))
}

func parseFault(word string) (fault, error) {
	if slices.Contains(words, word) {
		return fault{word: word}, nil
	}
	if text, ok := strings.CutPrefix(word, slow+":"); ok {
		if d, err := time.ParseDuration(text); err == nil && d > 0 {
			return fault{word: slow, delay: d}, nil
		}
	}
	return fault{}, fmt.Errorf("unknown fault %q", word)
}
