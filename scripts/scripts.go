// Package scripts holds what runs on nodes: POSIX shell scripts, embedded, and the one way of
// sending them. A script's folder is its class.
package scripts

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed */*.sh
var files embed.FS

//go:embed front.sh
var front string

// Class says what a script may do to a node. The classes of a sequence come in this order;
// Observe may stand anywhere.
type Class int

// The classes, each named by its folder.
const (
	Observe  Class = iota + 1 // looks, changes nothing
	Preserve                  // reads evidence
	Check                     // looks whether a restart would work, changes nothing
	Claim                     // writes down whose the group is, touches no container
	Destroy                   // removes containers
	Settle                    // waits for memory and ports, drops caches
	Launch                    // starts ranks
)

var folders = map[Class]string{
	Observe:  "observe",
	Preserve: "preserve",
	Check:    "check",
	Claim:    "claim",
	Destroy:  "destroy",
	Settle:   "settle",
	Launch:   "launch",
}

// String returns the name of the class's folder.
func (c Class) String() string {
	if name, ok := folders[c]; ok {
		return name
	}
	return fmt.Sprintf("Class(%d)", int(c))
}

// Script is one embedded script. Only this package makes one.
type Script struct {
	name  string
	class Class
	body  string
}

// Name returns the folder and file without its ending: "check/docker".
func (s Script) Name() string { return s.name }

// Class returns the class the script's folder stands for.
func (s Script) Class() Class { return s.class }

// Body returns the text of the script.
func (s Script) Body() string { return s.body }

// Front returns the shell functions that are sent in front of every script.
func Front() string { return front }

// Get returns the script of that name. Names are constants of the binary: an unknown one is an
// error of the program and panics.
func Get(name string) Script {
	for class, folder := range folders {
		if !strings.HasPrefix(name, folder+"/") {
			continue
		}
		body, err := files.ReadFile(name + ".sh")
		if err != nil {
			break
		}
		return Script{name: name, class: class, body: string(body)}
	}
	panic(fmt.Sprintf("internal error: no script %q", name))
}

// All returns every script, sorted by name.
func All() []Script {
	var all []Script
	for _, folder := range folders {
		names, err := fs.Glob(files, folder+"/*.sh")
		if err != nil {
			panic(fmt.Sprintf("internal error: cannot list scripts in %s: %v", folder, err))
		}
		for _, name := range names {
			all = append(all, Get(strings.TrimSuffix(name, ".sh")))
		}
	}
	slices.SortFunc(all, func(a, b Script) int { return strings.Compare(a.name, b.name) })
	return all
}
