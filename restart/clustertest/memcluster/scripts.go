package memcluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/restart/clustertest"
)

// job is one run of one script on one node.
type job struct {
	*Cluster
	n    *node
	who  string
	name string
	env  map[string]string
	hits []clustertest.FaultKind
}

// again is the exit of a script that has to wait and look again.
const again = -1

// run does what the script does, waiting as long as it waits.
func (j *job) run(ctx context.Context) (restart.Result, error) {
	until := time.Now()
	if seconds, err := strconv.Atoi(j.env["WATCHDOG_WAIT"]); err == nil {
		until = until.Add(time.Duration(seconds) * time.Second)
	}
	for {
		now, unlock := j.lock()
		if j.n.down {
			unlock()
			return restart.Result{}, nil // the connection breaks: see Run
		}
		res := j.try(now)
		unlock()
		if res.Exit != again {
			return res, nil
		}
		if !now.Before(until) {
			res.Exit = 1
			return res, nil
		}
		if err := sleep(ctx, time.Second); err != nil {
			return res, err
		}
	}
}

func (j *job) has(kind clustertest.FaultKind) bool { return slices.Contains(j.hits, kind) }

func fails(format string, args ...any) restart.Result {
	return restart.Result{Exit: 1, Stderr: fmt.Sprintf(format, args...)}
}

// docker says why Docker does not answer.
func (j *job) docker() (res restart.Result, answers bool) {
	switch {
	case j.has(clustertest.DockerHangs):
		return fails("docker does not answer"), false
	case j.has(clustertest.DockerDenied):
		return fails("permission denied"), false
	case j.has(clustertest.DockerDown):
		return fails("docker's daemon is not running"), false
	}
	return restart.Result{}, true
}

// try does the script once, under the lock.
func (j *job) try(now time.Time) restart.Result {
	n := j.n
	switch j.name {
	case "check/shell", "check/dirs", "settle/endflusher":
		if j.name == "settle/endflusher" {
			n.flusher = time.Time{}
		}
		return restart.Result{}
	case "check/mount":
		if j.has(clustertest.MountHangs) || j.has(clustertest.MountAbsent) || j.has(clustertest.MountStale) {
			return fails("mount %s does not answer", j.env["WATCHDOG_MOUNT"])
		}
		if j.has(clustertest.MountSlow) {
			return restart.Result{Stdout: "warning=mount " + j.env["WATCHDOG_MOUNT"] + " is slow: it took 4 s to answer\n"}
		}
		return restart.Result{}
	case "check/disk":
		if j.has(clustertest.DiskFull) {
			return fails("disk is too full")
		}
		return restart.Result{}
	case "check/sudo", "settle/flusher":
		if j.has(clustertest.NoSudo) {
			return fails("a password is required")
		}
		if seconds, err := strconv.Atoi(j.env["WATCHDOG_FLUSHER_SECONDS"]); err == nil && j.name == "settle/flusher" {
			n.flusher = now.Add(time.Duration(seconds) * time.Second)
		}
		return restart.Result{}
	case "check/claim":
		return j.checkClaim()
	case "claim/claim":
		return j.writeClaim()
	case "settle/memory":
		return j.memory(now)
	case "settle/ports":
		for port := range strings.FieldsSeq(j.env["WATCHDOG_PORTS"]) {
			if number, err := strconv.Atoi(port); err == nil && slices.Contains(n.listens, number) {
				return fails("ports are taken: %s", port)
			}
		}
		return restart.Result{}
	}
	if res, answers := j.docker(); !answers {
		return res
	}
	return j.withDocker(now)
}

// memory waits until enough is free.
func (j *job) memory(now time.Time) restart.Result {
	const all, used = 120 << 30, 100 << 30
	free := int64(all)
	if (j.n.box != nil && j.n.box.status == "running") || now.Before(j.n.freed) || j.has(clustertest.MemoryShort) {
		free -= used
	}
	floor, _ := strconv.ParseInt(j.env["WATCHDOG_MEM_FLOOR"], 10, 64) // "": none
	res := restart.Result{Stdout: fmt.Sprintf("memfree=%d\n", free)}
	if free < floor {
		res.Exit, res.Stderr = again, "memory is not back"
	}
	return res
}
