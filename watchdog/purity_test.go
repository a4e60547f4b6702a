package watchdog

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The judgement reads no clock and does no I/O: its files import only these packages, and of
// package time nothing that depends on when it is called.
func TestPurity(t *testing.T) {
	allowed := []string{"fmt", "slices", "strings", "strconv", "time"}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); !slices.Contains(allowed, path) || i.Name != nil {
				t.Errorf("%s: imports %s: the judgement imports only %v, under their own names", fset.Position(i.Pos()), path, allowed)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if use := impure(n); use != "" {
				t.Errorf("%s: %s: what Decide concludes depends on its arguments alone", fset.Position(n.Pos()), use)
			}
			return true
		})
		checkNoMutableState(t, fset, f)
	}
	if files < 10 {
		t.Errorf("only %d files were read", files)
	}
}

// impure returns the words of an expression that reads a clock, waits, or prints.
func impure(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok || pkg.Obj != nil {
		return ""
	}
	name := pkg.Name + "." + sel.Sel.Name
	switch pkg.Name {
	case "time":
		if slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}, sel.Sel.Name) {
			return name
		}
	case "fmt":
		if !slices.Contains([]string{"Sprintf", "Sprint", "Errorf"}, sel.Sel.Name) {
			return name
		}
	}
	return ""
}

// checkNoMutableState allows one kind of package variable: a table that nothing assigns to.
func checkNoMutableState(t *testing.T, fset *token.FileSet, f *ast.File) {
	tables := map[string]bool{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				tables[n.Name] = true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return true
		}
		for _, left := range a.Lhs {
			if i, ok := left.(*ast.IndexExpr); ok {
				left = i.X
			}
			if id, ok := left.(*ast.Ident); ok && tables[id.Name] {
				t.Errorf("%s: assigns to the package variable %s", fset.Position(n.Pos()), id.Name)
			}
		}
		return true
	})
}
