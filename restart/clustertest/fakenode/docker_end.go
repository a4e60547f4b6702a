package fakenode

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const noExitEvent = "tried to kill container, but did not receive an exit event"

// lingering is how long a removal takes that takes its time.
const lingering = 700 * time.Millisecond

func dockerStop(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--timeout,--time,-t", "--signal,-s")}, args)
	if !ok {
		return exitUnknown
	}
	return w.each(p.words, func(d *Daemon, c *Container, now time.Time) error {
		switch {
		case !c.running():
			return nil // stopping a stopped one is fine
		case w.has(ContainerHangs):
			d.tell(now, c, "kill", map[string]string{"signal": "15"})
			d.tell(now, c, "kill", map[string]string{"signal": "9"})
			return fmt.Errorf("cannot stop container: %s: %s", c.shortName(), noExitEvent)
		}
		d.Stop(c, now)
		return nil
	})
}

func dockerKill(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--signal,-s")}, args)
	if !ok {
		return exitUnknown
	}
	signal, err := signalNumber(p.last("--signal"))
	if err != nil {
		return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
	}
	return w.each(p.words, func(d *Daemon, c *Container, now time.Time) error {
		switch {
		case !c.running():
			return fmt.Errorf("cannot kill container: %s: container %s is not running", c.shortName(), c.ID)
		case w.has(ContainerHangs):
			d.tell(now, c, "kill", map[string]string{"signal": strconv.Itoa(signal)})
			return fmt.Errorf("cannot kill container: %s: %s", c.shortName(), noExitEvent)
		}
		d.Kill(c, signal, now)
		return nil
	})
}

var signals = map[string]int{"": 9, "HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "TERM": 15}

func signalNumber(s string) (int, error) {
	if n, ok := signals[strings.TrimPrefix(strings.ToUpper(s), "SIG")]; ok {
		return n, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("invalid signal: %s", s)
	}
	return n, nil
}

func dockerRm(w *world, args []string) int {
	p, ok := w.options(flags{bools: spell("--force,-f", "--volumes,-v")}, args)
	if !ok {
		return exitUnknown
	}
	code := w.each(p.words, func(d *Daemon, c *Container, now time.Time) error { return w.remove(d, c, p.has("--force"), now) })
	if p.has("--force") && code == 1 && w.noneExist(p.words) {
		return 0 // rm -f of what does not exist says so and is content
	}
	return code
}

func (w *world) remove(d *Daemon, c *Container, force bool, now time.Time) error {
	switch {
	case c.State.Status == "removing":
		return fmt.Errorf("removal of container %s is already in progress", c.shortName())
	case c.running() && !force:
		return fmt.Errorf("cannot remove container %q: container is running: stop the container before removing or force remove", c.Name)
	case w.has(ContainerHangs):
		if c.running() {
			d.tell(now, c, "kill", map[string]string{"signal": "9"})
		}
		return fmt.Errorf("cannot remove container %q: could not kill container: %s", c.Name, noExitEvent)
	}
	auto := c.HostConfig.AutoRemove
	if c.running() {
		d.Kill(c, 9, now)
		if auto {
			return nil // gone with its process
		}
	}
	if w.has(ContainerStays) {
		d.Leave(c, now.Add(lingering))
		return fmt.Errorf("removal of container %s is already in progress", c.shortName())
	}
	d.Drop(c, now)
	return nil
}

func (w *world) noneExist(refs []string) bool {
	d, err := w.node.Look()
	if err != nil {
		return false
	}
	for _, ref := range refs {
		if _, err := d.Find(ref); err == nil {
			return false
		}
	}
	return true
}

func dockerStart(w *world, args []string) int {
	code := w.each(args, func(d *Daemon, c *Container, now time.Time) error {
		if !c.running() {
			d.Start(c, now)
		}
		return nil
	})
	if code == 1 {
		fmt.Fprintf(w.stderr, "Error: failed to start containers: %s\n", strings.Join(args, ", "))
	}
	return code
}

func dockerRestart(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--timeout,--time,-t", "--signal,-s")}, args)
	if !ok {
		return exitUnknown
	}
	return w.each(p.words, func(d *Daemon, c *Container, now time.Time) error {
		if c.running() && w.has(ContainerHangs) {
			return fmt.Errorf("cannot restart container %s: %s", c.shortName(), noExitEvent)
		}
		d.Restart(c, now)
		return nil
	})
}

func dockerUpdate(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--restart")}, args)
	if !ok || !p.has("--restart") {
		return w.unknown(strings.Join(w.args, " "))
	}
	return w.each(p.words, func(_ *Daemon, c *Container, _ time.Time) error {
		c.HostConfig.RestartPolicy = RestartPolicy{Name: p.last("--restart")}
		return nil
	})
}
