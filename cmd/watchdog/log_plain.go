package main

import (
	"strings"
	"unicode"
)

// plain makes text safe for a terminal, a journal and a chat: what came from a node may hold
// escape sequences, or characters that turn the reading direction. Line breaks become spaces.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		default:
			return r
		}
	}, strings.TrimSpace(s))
}
