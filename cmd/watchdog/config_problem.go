package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// problem is one mistake in the config. got is nil where the value is missing or may hold a
// secret, such as a command line or what stands in the place of a file name.
type problem struct {
	field string
	text  string
	got   any
	line  int // 0: not known yet
}

func (p problem) String() string {
	out := p.text
	if p.field != "" {
		out = p.field + ": " + out
	}
	switch got := p.got.(type) {
	case nil:
	case string:
		out += fmt.Sprintf(" (got %q)", got)
	case time.Duration:
		out += " (got " + briefDuration(got) + ")"
	default:
		out += fmt.Sprintf(" (got %v)", got)
	}
	return out
}

// configError is a config that cannot be used: exit code 2. Each line of its text is one problem.
type configError struct {
	path     string
	problems []problem
}

func (e *configError) Error() string {
	slices.SortStableFunc(e.problems, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var lines []string
	for _, p := range e.problems {
		if p.line == 0 {
			lines = append(lines, e.path+": "+p.String())
			continue
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", e.path, p.line, p))
	}
	return strings.Join(lines, "\n")
}

// covers says whether one of the problems is about the field or about what holds it.
func covers(problems []problem, field string) bool {
	return slices.ContainsFunc(problems, func(p problem) bool {
		rest, ok := strings.CutPrefix(field, p.field)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}
