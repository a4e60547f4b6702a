package fakenode

import (
	"fmt"
	"slices"
	"time"
)

// Start runs a container that does not run.
func (d *Daemon) Start(c *Container, now time.Time) {
	c.State = State{Status: "running", Running: true, Pid: 4000 + 10*d.Made + len(d.Starts), StartedAt: stamp(now), FinishedAt: c.State.FinishedAt}
	d.Starts = append(d.Starts, Start{ID: c.ID, Name: c.shortName(), Started: now.Round(0)})
	if over := len(d.Starts) - startsKept; over > 0 {
		d.Starts = slices.Clone(d.Starts[over:])
	}
	d.tellNetwork(now, c, "connect")
	d.tell(now, c, "start", nil)
}

// FailStart leaves a container created, with the reason why it does not run.
func (d *Daemon) FailStart(c *Container, code int, why string) {
	c.State.ExitCode, c.State.Error = code, why
}

// Die ends a running container's process. A container with --rm goes with it.
func (d *Daemon) Die(c *Container, code int, now time.Time) {
	c.State.Status, c.State.Running, c.State.Pid = "exited", false, 0
	c.State.ExitCode, c.State.FinishedAt = code, stamp(now)
	var ran time.Duration
	for i := range d.Starts {
		if s := &d.Starts[i]; s.ID == c.ID && s.Finished.IsZero() {
			s.Finished = now.Round(0)
			ran = now.Sub(s.Started)
		}
	}
	d.tell(now, c, "die", map[string]string{"exitCode": fmt.Sprint(code), "execDuration": fmt.Sprint(int(ran.Seconds()))})
	d.tellNetwork(now, c, "disconnect")
	if c.HostConfig.AutoRemove {
		d.Drop(c, now)
	}
}

// Kill sends a signal; the process ends by it if the signal ends it.
func (d *Daemon) Kill(c *Container, signal int, now time.Time) {
	d.tell(now, c, "kill", map[string]string{"signal": fmt.Sprint(signal)})
	if code, ends := endedBy[signal]; ends {
		d.Die(c, code, now)
	}
}

// endedBy says with which code the server ends for a signal: it closes politely when asked to,
// and the rest end it the way the kernel does.
var endedBy = map[int]int{1: 129, 2: 0, 3: 131, 6: 134, 9: 137, 11: 139, 15: 0}

// Stop is docker stop: ask, wait, tell.
func (d *Daemon) Stop(c *Container, now time.Time) {
	d.Kill(c, 15, now)
	d.tell(now, c, "stop", nil)
}

// Restart is docker restart: the same container, started anew.
func (d *Daemon) Restart(c *Container, now time.Time) {
	if c.running() {
		d.Stop(c, now)
	}
	d.Start(c, now)
	d.tell(now, c, "restart", nil)
}

// Crash ends a running container's process by itself: Docker starts it again if it was told to.
func (d *Daemon) Crash(c *Container, code int, now time.Time) {
	policy := c.HostConfig.RestartPolicy.Name
	d.Die(c, code, now)
	again := policy == "always" || policy == "unless-stopped" || (policy == "on-failure" && code != 0)
	if again && !c.HostConfig.AutoRemove {
		c.RestartCount++
		d.Start(c, now)
	}
}

// Remove is docker rm -f, for whatever bears that name.
func (d *Daemon) Remove(name string, now time.Time) {
	c, err := d.Find(name)
	if err != nil {
		return // there is none
	}
	if c.running() {
		d.Kill(c, 9, now)
	}
	if slices.Contains(d.Containers, c) {
		d.Drop(c, now)
	}
}

// Drop forgets a container that does not run.
func (d *Daemon) Drop(c *Container, now time.Time) {
	d.Containers = slices.DeleteFunc(d.Containers, func(x *Container) bool { return x == c })
	delete(d.Leaving, c.ID)
	d.tell(now, c, "destroy", nil)
}

// Leave begins a removal that takes its time.
func (d *Daemon) Leave(c *Container, until time.Time) {
	c.State.Status = "removing"
	if d.Leaving == nil {
		d.Leaving = map[string]time.Time{}
	}
	d.Leaving[c.ID] = until.Round(0)
}

// sweep ends the removals whose time has come.
func (d *Daemon) sweep(now time.Time) {
	for _, c := range slices.Clone(d.Containers) {
		if end, ok := d.Leaving[c.ID]; ok && !now.Before(end) {
			d.Drop(c, end)
		}
	}
}
