package main

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// longest is an upper limit for every time: more is a slip, and the sums stay far from overflow.
const longest = 30 * 24 * time.Hour

// validator gathers what is wrong.
type validator struct {
	problems []problem
}

// bad notes a problem; got nil keeps the value out of the message.
func (v *validator) bad(field string, got any, format string, args ...any) {
	v.problems = append(v.problems, problem{field: field, got: got, text: fmt.Sprintf(format, args...)})
}

// Validate returns everything that is wrong with the values, reading no file.
func (c Config) Validate() []problem {
	v := &validator{}
	v.times(reflect.ValueOf(c), "")
	v.names(c)
	v.process("process", c.Process)
	v.nodes(c.Nodes)
	v.ssh(c.SSH)
	v.server(c)
	v.launch(c)
	v.checks(c.Checks)
	v.settle(c.Settle)
	v.judge(c)
	v.notify(c)
	v.folders(c)
	if len(v.problems) == 0 {
		v.longestTick(c) // a sum of wrong numbers would be noise
	}
	return v.problems
}

// times wants every time in the config to be positive; a rule's "over" may be left out.
func (v *validator) times(value reflect.Value, at string) {
	switch x := value.Interface().(type) {
	case time.Duration:
		over := strings.HasSuffix(at, ".over")
		switch {
		case over && x < 0:
			v.bad(at, x, "must be 0s or more")
		case !over && x <= 0:
			v.bad(at, x, "must be more than 0s")
		case x > longest:
			v.bad(at, x, "must be at most %s", briefDuration(longest))
		}
	default:
		if value.Kind() != reflect.Struct {
			return
		}
		fields, names := fieldsOf(value)
		for _, name := range names {
			v.times(fields[name], join(at, name))
		}
	}
}

// shape is what a name looks like. Its length is not in the pattern: a bounded repetition is
// expanded when it is compiled, at each start of the program.
type shape struct {
	pattern *regexp.Regexp
	longest int
}

func newShape(pattern string, longest int) shape { return shape{regexp.MustCompile(pattern), longest} }

// MatchString says whether s has the shape.
func (h shape) MatchString(s string) bool { return len(s) <= h.longest && h.pattern.MatchString(s) }

var (
	groupShape     = newShape(`^[a-z0-9][a-z0-9-]*$`, 32)
	containerShape = newShape(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`, 128)
	nodeShape      = newShape(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`, 63)
	hostShape      = newShape(`^([a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?|[0-9a-fA-F:]+)$`, 253)
	userShape      = newShape(`^[a-zA-Z_][a-zA-Z0-9_.@-]*$`, 64)
	typeShape      = newShape(`^[a-z0-9._-]+$`, 32)
	imageShape     = newShape(`^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$`, 256)
)

func (v *validator) names(c Config) {
	if !groupShape.MatchString(c.Group) {
		v.bad("group", c.Group, "must be 1 to 32 of a-z, 0-9 and -")
	}
	switch {
	case c.Container == "":
		v.bad("container", nil, "is missing; it is the name given to docker run --name")
	case !containerShape.MatchString(c.Container):
		v.bad("container", c.Container, "is not a name that Docker takes")
	}
}

func (v *validator) ssh(s SSHConfig) {
	switch {
	case s.User == "" && s.SSHConfig == "":
		v.bad("ssh.user", nil, "is missing; root's own identity is never used")
	case s.User == "":
	case !userShape.MatchString(s.User):
		v.bad("ssh.user", s.User, "is not a user name")
	}
	if len(s.Keys) == 0 && s.SSHConfig == "" {
		v.bad("ssh.keys", nil, "is missing; no agent and no default key is ever used")
	}
	for i, key := range s.Keys {
		v.identityFile(fmt.Sprintf("ssh.keys[%d]", i), key)
	}
	if s.KnownHosts == "" {
		v.bad("ssh.known_hosts", nil, "is missing; unknown hosts are never accepted")
	} else {
		v.identityFile("ssh.known_hosts", s.KnownHosts)
	}
	if s.SSHConfig != "" {
		v.identityFile("ssh.ssh_config", s.SSHConfig)
	}
	v.between("ssh.parallel", s.Parallel, 1, mostParallel)
}

// mostParallel keeps the threads that wait for a slow disk below TasksMax of the unit.
const mostParallel = 64

// identityFile refuses what belongs to root's own SSH: the unit hides that folder.
func (v *validator) identityFile(field, file string) {
	if v.absolute(field, file) && strings.HasPrefix(file, "/root/.ssh/") {
		v.bad(field, file, "is root's own identity; give the watchdog files of its own")
	}
}

// absolute wants a clean path from the root: "~" and "." would mean root's to the service. The
// value is shown only once it looks like a path, since it may be a key put in the wrong place.
func (v *validator) absolute(field, file string) bool {
	switch {
	case !path.IsAbs(file):
		v.bad(field, nil, "must be a path that begins with /")
	case path.Clean(file) != file || file == "/" || plain(file) != file:
		v.bad(field, plain(file), "must be a path without //, /./, /../, a / at the end or control characters")
	default:
		return true
	}
	return false
}

func (v *validator) notify(c Config) {
	v.command("notify.command", c.Notify.Command)
	if c.Notify.Command != "" && c.HookUser() == "" {
		v.bad("notify.user", nil, "is missing; without ssh.user nobody is named as whom notify.command runs")
	}
	if c.Notify.Command != "" && c.HookUser() == "root" {
		v.bad("notify.command", nil, "would run as root; name another user in notify.user")
	}
	if c.Notify.User != "" && !userShape.MatchString(c.Notify.User) {
		v.bad("notify.user", plain(c.Notify.User), "is not the name of a user")
	}
}

// command never shows the value: command lines hold tokens.
func (v *validator) command(field, command string) {
	if strings.ContainsRune(command, 0) {
		v.bad(field, nil, "must not contain NUL")
	}
	if len(command) > 64<<10 {
		v.bad(field, nil, "must be at most 64 KiB; put it in a script on the nodes")
	}
}

func (v *validator) folders(c Config) {
	if v.absolute("state_dir", c.StateDir) {
		for _, gone := range []string{"/run/", "/var/run/", "/dev/"} {
			if strings.HasPrefix(c.StateDir+"/", gone) {
				v.bad("state_dir", c.StateDir, "is lost at the next boot, and with it the switch and the budget")
			}
		}
	}
	v.absolute("acting_lock", c.ActingLock)
	if c.LogDir != "" {
		v.absolute("log_dir", c.LogDir)
	}
	if c.LogKeep.Incidents < 1 {
		v.bad("log_keep.incidents", c.LogKeep.Incidents, "must be at least 1: the last evidence is kept")
	}
	if c.LogKeep.Size < MiB {
		v.bad("log_keep.size", c.LogKeep.Size, "must be at least 1MiB")
	}
}

func (v *validator) longestTick(c Config) {
	sum, most := c.stepBudget()
	if sum <= unitTimeout {
		return
	}
	v.bad(most, c.value(most), "the longest tick takes %s, more than TimeoutStartSec=%s of the unit; shorten this",
		briefDuration(sum), briefDuration(unitTimeout))
}

// value returns the value of a key.
func (c Config) value(key string) any {
	at := reflect.ValueOf(c)
	for _, name := range strings.Split(key, ".") {
		fields, _ := fieldsOf(at)
		at = fields[name]
	}
	return at.Interface()
}
