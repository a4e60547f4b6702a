package fakenode

import (
	"fmt"
	"strings"
)

func dockerInspect(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--format,-f", "--type"), bools: spell("--size,-s")}, args)
	if !ok || len(p.words) == 0 {
		return w.unknown(strings.Join(w.args, " "))
	}
	if kind := p.last("--type"); kind != "" && kind != "container" {
		return w.unknown(strings.Join(w.args, " "))
	}
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	return w.inspect(p, func(ref string) (any, string) {
		c, err := d.Find(ref)
		switch {
		case err == nil:
			return c, ""
		case p.has("--type"):
			return nil, "Error response from daemon: " + err.Error()
		}
		return nil, "Error: No such object: " + ref
	})
}

// image is what docker image inspect prints of one image.
type image struct {
	ID           string `json:"Id"`
	RepoTags     []string
	RepoDigests  []string
	Architecture string
	Os           string
	Size         int64
}

func dockerImage(w *world, args []string) int {
	if len(args) == 0 || args[0] != "inspect" {
		return w.unknown(strings.Join(w.args, " "))
	}
	p, ok := w.options(flags{values: spell("--format,-f")}, args[1:])
	if !ok || len(p.words) == 0 {
		return w.unknown(strings.Join(w.args, " "))
	}
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	return w.inspect(p, func(ref string) (any, string) {
		for name, id := range d.Images {
			if name == ref || id == ref || strings.TrimPrefix(id, "sha256:") == ref {
				return image{ID: id, RepoTags: []string{name}, RepoDigests: []string{}, Architecture: about.Arch, Os: about.Os, Size: 21 << 30}, ""
			}
		}
		return nil, "Error response from daemon: No such image: " + ref
	})
}

// inspect prints what it found, then what it did not find.
func (w *world) inspect(p parsed, find func(ref string) (any, string)) int {
	found, missing := []any{}, []string{}
	for _, ref := range p.words {
		v, why := find(ref)
		if why != "" {
			missing = append(missing, why)
			continue
		}
		found = append(found, v)
	}
	if !p.has("--format") {
		if err := writeIndented(w.stdout, found); err != nil {
			return w.broken(err)
		}
	}
	if p.has("--format") && len(found) == 0 {
		fmt.Fprintln(w.stdout) // Docker prints one empty line here
	}
	for _, v := range found {
		if !p.has("--format") {
			break
		}
		if err := formatObject(w.stdout, p.last("--format"), v); err != nil {
			return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
		}
	}
	for _, why := range missing {
		fmt.Fprintln(w.stderr, why)
	}
	if len(missing) > 0 {
		return 1
	}
	return 0
}
