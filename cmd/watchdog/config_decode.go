package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// decoder fills a Config from parsed YAML. The library's own decoder stops at the first
// mistake; this one goes on, so that a person mends them all at once.
type decoder struct {
	lines    map[string]int // of each field that the file holds
	problems []problem
}

// decode parses the text over the defaults in c.
func decode(text []byte, c *Config) *decoder {
	d := &decoder{lines: map[string]int{}}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	switch {
	case err != nil:
		d.syntax(err)
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		d.bad("", 1, nil, "the file is empty; start from the example config")
	case len(file.Docs) > 1:
		d.bad("", lineOf(file.Docs[1].Body), nil, "a second document; one file holds one config")
	default:
		d.fill(file.Docs[0].Body, reflect.ValueOf(c).Elem(), "")
	}
	return d
}

func (d *decoder) bad(field string, line int, got any, format string, args ...any) {
	d.problems = append(d.problems, problem{field: field, line: line, got: got, text: fmt.Sprintf(format, args...)})
}

var quoted = regexp.MustCompile(`"[^"]{2,}"`)

// syntax keeps the parser's message and its line, but no text of the file: it may be a secret.
func (d *decoder) syntax(err error) {
	line, text := 0, "not YAML"
	var at yaml.Error
	if errors.As(err, &at) {
		text = "not YAML: " + quoted.ReplaceAllString(at.GetMessage(), "…")
		if token := at.GetToken(); token != nil && token.Position != nil {
			line = token.Position.Line
		}
	}
	d.bad("", line, nil, "%s", text)
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// fill puts the node into the value. Nothing after the colon leaves the default.
func (d *decoder) fill(n ast.Node, v reflect.Value, path string) {
	if _, null := n.(*ast.NullNode); null {
		return
	}
	switch {
	case v.Kind() == reflect.Struct:
		d.mapping(n, v, path)
	case v.Kind() == reflect.Slice:
		d.sequence(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *decoder) mapping(n ast.Node, v reflect.Value, path string) {
	values, ok := pairs(n)
	if !ok {
		d.bad(path, lineOf(n), nil, "must hold keys and values")
		return
	}
	fields, names := fieldsOf(v)
	seen := map[string]int{}
	for _, pair := range values {
		key, ok := text(pair.Key)
		if !ok {
			key = pair.Key.GetToken().Value // such as << of a merge
		}
		field, line := join(path, key), lineOf(pair.Key)
		switch target, known := fields[key]; {
		case !known:
			d.bad(join(path, plain(key)), line, nil, "unknown key; there are %s", strings.Join(names, ", "))
		case seen[key] != 0:
			d.bad(field, line, nil, "set twice, first in line %d", seen[key])
		default:
			seen[key], d.lines[field] = line, line
			d.fill(pair.Value, target, field)
		}
	}
}

func (d *decoder) sequence(n ast.Node, v reflect.Value, path string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.bad(path, lineOf(n), nil, "must be a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
	for i, item := range list.Values {
		field := fmt.Sprintf("%s[%d]", path, i)
		d.lines[field] = lineOf(item)
		d.fill(item, v.Index(i), field)
	}
}

func (d *decoder) scalar(n ast.Node, v reflect.Value, path string) {
	s, ok := text(n)
	if !ok {
		d.bad(path, lineOf(n), nil, "must be a single value, without anchor, alias or tag")
		return
	}
	value, want := valueOf(s, v.Interface())
	if value == nil {
		d.bad(path, lineOf(n), s, "must be %s", want)
		return
	}
	v.Set(reflect.ValueOf(value))
}

// valueOf reads the text as the type of like. It returns nil and what was wanted where the
// text is none.
func valueOf(s string, like any) (value any, want string) {
	switch like.(type) {
	case string:
		return s, ""
	case int:
		if i, err := strconv.Atoi(s); err == nil {
			return i, ""
		}
		return nil, "a whole number"
	case bool:
		switch s {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
		return nil, "true or false"
	case LaunchOrder:
		if o, ok := parseLaunchOrder(s); ok {
			return o, ""
		}
		return nil, fmt.Sprintf("%s or %s", WorkersFirst, HeadFirst)
	case time.Duration:
		if d, err := time.ParseDuration(s); err == nil {
			return d, ""
		}
		return nil, "a time such as 90s, 75m or 6h"
	case Size:
		if size, ok := parseSize(s); ok {
			return size, ""
		}
		return nil, "a size such as 512MiB, 100GiB or 2TiB"
	default:
		panic(fmt.Sprintf("internal error: the config has a field of type %T", like))
	}
}

// text returns a scalar as it is written, so that a name such as 007 stays one.
func text(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	default:
		return nil, false
	}
}

// fieldsOf returns the fields of a section by key, and the keys in the order of the type.
func fieldsOf(v reflect.Value) (map[string]reflect.Value, []string) {
	fields, names := map[string]reflect.Value{}, []string{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "" {
			fields[key] = v.Field(i)
			names = append(names, key)
		}
	}
	return fields, names
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
