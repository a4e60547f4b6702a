package fakenode

import (
	"fmt"
	"strings"
)

// flags are the options of one sub-command: which take a value, which do not. Each name stands
// with its dashes; every spelling of one option maps to the first.
type flags struct {
	values map[string]string
	bools  map[string]string
	early  bool // options end at the first word that is none, as in docker run
}

// spell makes the table of a flags field: one string per option, its spellings separated by
// commas.
func spell(options ...string) map[string]string {
	table := map[string]string{}
	for _, option := range options {
		names := strings.Split(option, ",")
		for _, name := range names {
			table[name] = names[0]
		}
	}
	return table
}

// parsed is what was found: per option its values in order, and the words that are no options.
type parsed struct {
	values map[string][]string
	words  []string
}

func (p parsed) has(name string) bool { return len(p.values[name]) > 0 }

func (p parsed) last(name string) string {
	all := p.values[name]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func (f flags) parse(args []string) (parsed, error) {
	p := parsed{values: map[string][]string{}}
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			p.words = append(p.words, args[1:]...)
			return p, nil
		case len(arg) < 2 || arg[0] != '-':
			if f.early {
				p.words = args
				return p, nil
			}
			p.words = append(p.words, arg)
			args = args[1:]
		case strings.HasPrefix(arg, "--"):
			rest, err := f.long(p, args)
			if err != nil {
				return p, err
			}
			args = rest
		default:
			rest, err := f.short(p, args)
			if err != nil {
				return p, err
			}
			args = rest
		}
	}
	return p, nil
}

func (f flags) long(p parsed, args []string) ([]string, error) {
	name, value, given := strings.Cut(args[0], "=")
	if main, ok := f.bools[name]; ok {
		if !given || value == "true" {
			p.values[main] = append(p.values[main], "true")
		}
		return args[1:], nil
	}
	main, ok := f.values[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown flag: %s", name)
	case given:
		p.values[main] = append(p.values[main], value)
		return args[1:], nil
	case len(args) < 2:
		return nil, fmt.Errorf("flag needs an argument: %s", name)
	}
	p.values[main] = append(p.values[main], args[1])
	return args[2:], nil
}

// short reads one word of one-letter options: -aq, -t 5, -t5, -t=5.
func (f flags) short(p parsed, args []string) ([]string, error) {
	letters := args[0][1:]
	for i := range len(letters) {
		name := "-" + letters[i:i+1]
		if main, ok := f.bools[name]; ok {
			p.values[main] = append(p.values[main], "true")
			continue
		}
		main, ok := f.values[name]
		if !ok {
			return nil, fmt.Errorf("unknown shorthand flag: %q in %s", letters[i:i+1], args[0])
		}
		if value := strings.TrimPrefix(letters[i+1:], "="); value != "" {
			p.values[main] = append(p.values[main], value)
			return args[1:], nil
		}
		if len(args) < 2 {
			return nil, fmt.Errorf("flag needs an argument: %s", name)
		}
		p.values[main] = append(p.values[main], args[1])
		return args[2:], nil
	}
	return args[1:], nil
}
