package memcluster

import (
	"fmt"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/restart/clustertest"
)

// withDocker does the scripts that ask Docker, once it answers.
func (j *job) withDocker(now time.Time) restart.Result {
	n := j.n
	id := j.env["WATCHDOG_ID"]
	switch j.name {
	case "check/docker", "check/image", "settle/orphans":
		return restart.Result{}
	case "preserve/logs", "preserve/inspect":
		return restart.Result{Stdout: "engine started on " + n.name + "\n"}
	case "check/identity":
		return j.identity(id)
	case "destroy/remove":
		return j.remove(id, now)
	case "destroy/gone":
		if n.box != nil {
			return restart.Result{Exit: again, Stderr: "container is still " + n.box.status}
		}
		return restart.Result{}
	case "launch/launch":
		return j.launch(now)
	case "launch/verify":
		if n.box == nil || n.box.id != id || n.box.status != "running" {
			return fails("container does not run")
		}
		return restart.Result{}
	}
	j.unknown = append(j.unknown, j.name)
	return fails("nobody here knows %s", j.name)
}

// identity compares what holds the name with what was seen.
func (j *job) identity(id string) restart.Result {
	box := j.n.box
	switch {
	case box == nil && id == "":
		return restart.Result{}
	case box == nil:
		return fails("container has gone since this tick looked: a person is at work")
	case box.id != id:
		return fails("name is held by container %s: a person is at work", box.id)
	}
	if seen := j.env["WATCHDOG_STARTED"]; seen != "" && seen != box.startedAt() && box.count == 0 {
		return fails("container was started again since this tick looked: a person is at work")
	}
	return restart.Result{}
}

// lingering is how long a removal takes that goes on after docker rm has returned.
const lingering = 700 * time.Millisecond

func (j *job) remove(id string, now time.Time) restart.Result {
	n := j.n
	if res, refused := j.refuseClaimed(); refused {
		return res
	}
	switch {
	case n.box == nil:
		return restart.Result{}
	case n.box.id != id:
		return fails("name is held by container %s: a person is at work", n.box.id)
	case n.box.status == "removing":
		return restart.Result{}
	case j.has(clustertest.ContainerHangs):
		n.tell(now, "kill", "TERM")
		n.tell(now, "kill", "KILL")
		return fails("container cannot be killed")
	}
	j.stop(n, now)
	if !j.has(clustertest.ContainerLingers) {
		j.Cluster.remove(n, now)
		return restart.Result{}
	}
	box := n.box
	box.status = "removing"
	j.later(now.Add(lingering), func() {
		if n.box == box {
			j.Cluster.remove(n, now.Add(lingering))
		}
	})
	return restart.Result{}
}

func (j *job) launch(now time.Time) restart.Result {
	n := j.n
	if res, refused := j.refuseClaimed(); refused {
		return res
	}
	if n.box != nil {
		return fails("name is held by container %s: a person is at work, or it was not removed", n.box.id)
	}
	j.create(n, j.who, now)
	if j.has(clustertest.LaunchFails) {
		n.box.exit, n.box.error = 128, "could not select device driver"
		return fails("could not select device driver")
	}
	j.start(n, now)
	if j.has(clustertest.ContainerExits) {
		j.die(n, 1, now)
		return fails("container is exited instead of running, exit code 1")
	}
	return restart.Result{Stdout: fmt.Sprintf("id=%s\nstarted_at=%s\nstatus=running\n", n.box.id, n.box.startedAt())}
}
