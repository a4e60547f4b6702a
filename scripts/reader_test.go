package scripts

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// reader judges one script.
type reader struct {
	front  bool
	own    []string       // functions
	passes map[string]int // functions that run their own arguments, from this one on
	faults []string
	inside *syntax.FuncDecl // the latest function walked
}

func (r *reader) fault(n syntax.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf("line %d: %s", n.Pos().Line(), fmt.Sprintf(format, args...)))
}

// readOnly returns what a script does beyond looking.
func readOnly(t *testing.T, name, text string, front bool) []string {
	t.Helper()
	f := parse(t, name, text)
	r := &reader{front: front, passes: map[string]int{"ask_docker": 1}}
	for _, file := range []*syntax.File{parse(t, "front.sh", Front()), f} {
		syntax.Walk(file, func(n syntax.Node) bool {
			if d, ok := n.(*syntax.FuncDecl); ok {
				r.own = append(r.own, d.Name.Value)
				if _, known := wrappers[d.Name.Value]; !known && runsArguments(d) {
					r.passes[d.Name.Value] = max(r.passes[d.Name.Value], 0)
				}
			}
			return true
		})
	}
	syntax.Walk(f, r.visit)
	return r.faults
}

// runsArguments says whether "$@" stands among the words of a command in a function.
func runsArguments(d *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(d, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok {
			found = found || slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return source(w) == `"$@"` }) && source(c.Args[0]) != "set"
		}
		return true
	})
	return found
}

func (r *reader) visit(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.FuncDecl:
		r.inside = n
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			r.call(n, n.Args)
		}
	case *syntax.Redirect:
		r.redirect(n)
	}
	return true
}

func (r *reader) call(n syntax.Node, args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	name := source(args[0])
	if after, ok := wrappers[name]; ok {
		r.call(n, args[min(len(args), after+1):])
		return
	}
	switch {
	case name == `"$@"` && r.judgedWhereCalled(n):
	case name == "docker", name == "ask_docker", (name == "ask" || name == "take") && dockerAsk(args):
		r.docker(n, name, args)
	case r.runs(name):
		r.call(n, args[r.passes[name]+1:])
	case slices.Contains(r.own, name), slices.Contains(builtins, name):
	case slices.Contains(programs, name):
		r.program(n, name, args)
	case name == "sudo" && slices.Contains(sudos, sources(args[1:])):
	case r.front && slices.Contains(frontOnly, name):
	default:
		r.fault(n, "calls %s", sources(args))
	}
}

func (r *reader) runs(name string) bool {
	_, ok := r.passes[name]
	return ok && name != "fail"
}

// judgedWhereCalled says whether n stands in a function whose arguments are judged at its calls.
func (r *reader) judgedWhereCalled(n syntax.Node) bool {
	if r.inside == nil || n.Pos().After(r.inside.End()) {
		return false
	}
	_, wraps := wrappers[r.inside.Name.Value]
	return wraps || r.runs(r.inside.Name.Value)
}

// dockerAsk tells a function named ask or take of docker from one of programs, by its first word.
func dockerAsk(args []*syntax.Word) bool {
	return len(args) > 1 && slices.Contains(dockers, source(args[1]))
}

func (r *reader) docker(n syntax.Node, name string, args []*syntax.Word) {
	args = args[1:]
	if name == "ask_docker" {
		args = args[1:]
	}
	if len(args) == 0 || source(args[0]) == `"$@"` {
		return // judged where the function is called
	}
	if !slices.Contains(dockers, source(args[0])) || source(args[0]) == "image" && source(args[1]) != "inspect" {
		r.fault(n, "calls docker %s", sources(args))
	}
}

var writes = regexp.MustCompile(`system\(|print[^;}]*[>|]|getline|-i\b|(^|[;{/ ])[wWe] `)

func (r *reader) program(n syntax.Node, name string, args []*syntax.Word) {
	if name == "nvidia-smi" && len(args) > 1 && !strings.HasPrefix(source(args[1]), "--query-") {
		r.fault(n, "may set a GPU: %s", sources(args))
	}
	if (name == "awk" || name == "sed") && writes.MatchString(sources(args[1:])) {
		r.fault(n, "%s may write or run something: %s", name, sources(args[1:]))
	}
}

func (r *reader) redirect(n *syntax.Redirect) {
	target := source(n.Word)
	switch n.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.DplIn, syntax.DplOut:
		return
	}
	target = strings.Trim(target, `"`)
	if target != "/dev/null" && !(r.front && slices.Contains(frontInto, target)) {
		r.fault(n, "writes to %s", target)
	}
}

func source(w *syntax.Word) string { return sources([]*syntax.Word{w}) }

func sources(words []*syntax.Word) string {
	var parts []string
	for _, w := range words {
		var b bytes.Buffer
		syntax.NewPrinter().Print(&b, w)
		parts = append(parts, b.String())
	}
	return strings.Join(parts, " ")
}
