package scripts

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var variable = regexp.MustCompile(`^WATCHDOG_[A-Z][A-Z0-9_]*$`)

// NewFence returns a random word that output of a node will not hold by chance.
func NewFence() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Render returns what is sent on stdin to `/bin/sh -s`: one brace group, so that a shell that
// gets only a part of it runs nothing. It exports env, prints the fence, runs the script in a
// subshell that cannot read the rest of stdin, prints the fence again with the script's exit
// code, and exits with that code.
func Render(s Script, fence string, env map[string]string) ([]byte, error) {
	if s.body == "" {
		return nil, fmt.Errorf("cannot render script %q: it has no body", s.name)
	}
	exports, err := prelude(env)
	if err != nil {
		return nil, fmt.Errorf("cannot render script %s: %w", s.name, err)
	}
	// The fence and its word are two arguments: a shell that echoes what it reads does not
	// print a fence.
	return fmt.Appendf(nil, `{
%s
printf '\n%%s %%s\n' %s begin
(
set -eu
%s
%s
) </dev/null
code=$?
printf '\n%%s %%s %%d\n' %s end "$code"
exit "$code"
}
`, exports, quote(fence), front, s.body, quote(fence)), nil
}

func prelude(env map[string]string) (string, error) {
	words := []string{"export LC_ALL=C"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !variable.MatchString(name) {
			return "", fmt.Errorf("cannot set variable %q: its name must be WATCHDOG_ and capitals", name)
		}
		if strings.ContainsRune(env[name], 0) {
			return "", fmt.Errorf("cannot set variable %s: its value holds a NUL", name)
		}
		words = append(words, name+"="+quote(env[name]))
	}
	return strings.Join(words, " "), nil
}

// quote returns s as one word of a POSIX shell, for any s without a NUL.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
