package clustertest

import (
	"fmt"
	"strconv"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// launchArgs are what the user's launch gives the server.
func launchArgs(nodes int, rank string) []string {
	return []string{"serve", Model, "--nnodes", strconv.Itoa(nodes), "--node-rank", rank}
}

// launchEnv is what the user's launch puts into a container, a secret among it.
func launchEnv(rank string) []string {
	return []string{"HF_TOKEN=" + Secret, "WATCHDOG_RANK=" + rank}
}

// on changes the Docker of one node and lets the world follow.
func (c *Cluster) on(rank int, what string, change func(d *fakenode.Daemon, now time.Time) error) error {
	if rank < 0 || rank >= len(c.servers) {
		return fmt.Errorf("cannot %s rank %d: there are %d ranks", what, rank, len(c.servers))
	}
	s := c.servers[rank]
	err := s.node.Change(func(d *fakenode.Daemon) error { return change(d, time.Now()) })
	if err != nil {
		return fmt.Errorf("cannot %s rank %d: %w", what, rank, err)
	}
	c.log(fmt.Sprintf("%s: %s rank %d", s.Name, what, rank))
	return c.refresh()
}

// withContainer is on, for the container of the group.
func (c *Cluster) withContainer(rank int, what string, change func(*fakenode.Daemon, *fakenode.Container, time.Time) error) error {
	return c.on(rank, what, func(d *fakenode.Daemon, now time.Time) error {
		container, err := d.Find(Container)
		if err != nil {
			return err
		}
		return change(d, container, now)
	})
}

// StartGroup starts all ranks as a person would: the old containers away, then the workers, then
// the head.
func (c *Cluster) StartGroup() error {
	for rank := range c.servers {
		if err := c.PersonRemove(rank); err != nil {
			return err
		}
	}
	for rank := len(c.servers) - 1; rank >= 0; rank-- {
		if err := c.PersonStart(rank); err != nil {
			return err
		}
	}
	return nil
}

// PersonStart starts one rank in a new container.
func (c *Cluster) PersonStart(rank int) error {
	return c.on(rank, "start", func(d *fakenode.Daemon, now time.Time) error {
		made, err := d.Create(fakenode.Spec{
			Name: Container, Image: Image, Env: launchEnv(strconv.Itoa(rank)),
			Args: launchArgs(len(c.servers), strconv.Itoa(rank)),
			Host: fakenode.HostConfig{NetworkMode: "host", IpcMode: "host"},
		}, now)
		if err != nil {
			return err
		}
		d.Start(made, now)
		return c.servers[rank].node.Log(made.ID, now, fakenode.BootLog(made)...)
	})
}

// PersonRemove is docker rm -f by a person; a rank without a container stays as it is.
func (c *Cluster) PersonRemove(rank int) error {
	return c.on(rank, "remove", func(d *fakenode.Daemon, now time.Time) error {
		d.Remove(Container, now)
		return nil
	})
}

// PersonStop is docker stop by a person.
func (c *Cluster) PersonStop(rank int) error {
	return c.withContainer(rank, "stop", func(d *fakenode.Daemon, x *fakenode.Container, now time.Time) error {
		d.Stop(x, now)
		return nil
	})
}

// PersonRestart is docker restart by a person: the same container, a new start.
func (c *Cluster) PersonRestart(rank int) error {
	return c.withContainer(rank, "restart", func(d *fakenode.Daemon, x *fakenode.Container, now time.Time) error {
		d.Restart(x, now)
		return c.servers[rank].node.Log(x.ID, now, fakenode.BootLog(x)...)
	})
}

// Crash ends the process of a rank: a die and nothing else.
func (c *Cluster) Crash(rank, exitCode int) error {
	return c.withContainer(rank, "crash", func(d *fakenode.Daemon, x *fakenode.Container, now time.Time) error {
		if !x.State.Running {
			return fmt.Errorf("its container is %s", x.State.Status)
		}
		if err := c.servers[rank].node.Log(x.ID, now, fakenode.CrashLog()...); err != nil {
			return err
		}
		d.Crash(x, exitCode, now)
		return nil
	})
}

// closeHead ends the head as such a server does when its engine is dead: politely, with code 0.
// Only refresh calls it, under its lock.
func (c *Cluster) closeHead(start fakenode.Start) error {
	s := c.servers[0]
	c.log(s.Name + ": the head closes with code 0")
	return s.node.Change(func(d *fakenode.Daemon) error {
		x, err := d.Find(start.ID)
		if err != nil || !x.State.Running {
			return nil // somebody was faster
		}
		now := time.Now()
		d.Die(x, 0, now)
		return s.node.Log(x.ID, now, fakenode.ShutdownLog()...)
	})
}
