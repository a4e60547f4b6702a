package main

import (
	"log"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const words = "ok, empty, hang, softhang, stale, eio, enospc, rofs, slow:DURATION"

// poll is how soon a call that hangs sees that it may go on.
const poll = 20 * time.Millisecond

// word is the mode at this instant. A file that is being written is empty for a moment: ok.
func (g *gated) word() string {
	b, err := os.ReadFile(g.mode)
	word := strings.TrimSpace(string(b))
	if err != nil || word == "" {
		return "ok"
	}
	return word
}

// gate answers a call in the file system's place, or lets it pass, late if need be.
func (g *gated) gate(cancel <-chan struct{}, writes bool) fuse.Status {
	for {
		word := g.word()
		switch {
		case word == "hang": // a hard mount: no answer, not even to a signal
			time.Sleep(poll)
			continue
		case word == "softhang": // a soft one: a signal ends it
			select {
			case <-cancel:
				return fuse.EINTR
			case <-time.After(poll):
			}
			continue
		case word == "stale":
			return fuse.Status(syscall.ESTALE)
		case word == "eio":
			return fuse.EIO
		case word == "enospc" && writes:
			return fuse.Status(syscall.ENOSPC)
		case (word == "rofs" || word == "empty") && writes:
			return fuse.EROFS
		case strings.HasPrefix(word, "slow:"):
			late, err := time.ParseDuration(word[len("slow:"):])
			if err != nil {
				return unknown(word)
			}
			time.Sleep(late)
		case word != "ok" && word != "empty" && word != "enospc" && word != "rofs":
			return unknown(word)
		}
		return fuse.OK
	}
}

func unknown(word string) fuse.Status {
	log.Printf("cannot act on mode %q: it is none of %s", word, words)
	return fuse.EINVAL
}
