package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/scripts"
)

// diskWorld is a group on nodes in memory, with the state and the evidence on a real disk. It
// compares what is done to it with what is on that disk, and fails on scripts it does not know.
type diskWorld struct {
	mu         sync.Mutex
	dir        string
	containers []string // id per rank, "" for none
	exited     []bool
	launches   []int
	wrong      []string
	heard      bytes.Buffer
}

const diskRanks = 3

func newDiskWorld(dir string) *diskWorld {
	w := &diskWorld{dir: dir, exited: make([]bool, diskRanks), launches: make([]int, diskRanks)}
	for rank := range diskRanks {
		w.containers = append(w.containers, fmt.Sprintf("%064x", 0xa0+rank))
	}
	return w
}

func (w *diskWorld) Handshakes(int) int            { return 1 }
func (w *diskWorld) LeaveAlone(int, time.Duration) {}
func (w *diskWorld) Close()                        {}

func (w *diskWorld) Stream(_ context.Context, rank int, s scripts.Script, _ map[string]string, to io.Writer) (restart.Result, error) {
	_, err := fmt.Fprintf(to, "%s of rank %d\n", s.Name(), rank)
	return restart.Result{}, err
}

func (w *diskWorld) Run(_ context.Context, rank int, s scripts.Script, env map[string]string) (restart.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Class() >= scripts.Destroy {
		w.compare(s, rank, env)
	}
	id := w.containers[rank]
	switch s.Name() {
	case "observe/look":
		return restart.Result{Stdout: w.look(rank)}, nil
	case "check/identity":
		return w.unless(id == env["WATCHDOG_ID"], "the name is held by another container")
	case "destroy/remove":
		w.containers[rank] = ""
		return w.unless(id == env["WATCHDOG_ID"] || id == "", "the name is held by another container")
	case "destroy/gone":
		return w.unless(id == "", "the name is still there")
	case "settle/memory":
		return restart.Result{Stdout: "memfree=1000\n"}, nil
	case "launch/launch":
		w.launches[rank]++
		w.containers[rank], w.exited[rank] = fmt.Sprintf("%064x", 0xb00+rank+16*w.launches[rank]), false
		return restart.Result{Stdout: "id=" + w.containers[rank] + "\nstarted_at=" + startOf(w.containers[rank]) + "\nstatus=running\n"}, nil
	case "launch/verify":
		return w.unless(id != "" && id == env["WATCHDOG_ID"], "does not run")
	case "check/shell", "check/docker", "check/sudo", "check/claim", "claim/claim", "settle/flusher", "settle/endflusher", "settle/ports", "settle/orphans":
		return restart.Result{}, nil
	}
	return restart.Result{}, errors.New("this world does not know " + s.Name())
}

func (w *diskWorld) unless(fine bool, words string) (restart.Result, error) {
	if fine {
		return restart.Result{}, nil
	}
	return restart.Result{}, errors.New(words)
}

// compare is what must be true on the disk before anything is changed on a node.
func (w *diskWorld) compare(s scripts.Script, rank int, env map[string]string) {
	must := func(fine bool, words string) {
		if !fine {
			w.wrong = append(w.wrong, fmt.Sprintf("%s on rank %d: %s", s.Name(), rank, words))
		}
	}
	store, err := openState(filepath.Join(w.dir, "state"))
	if err != nil {
		must(false, err.Error())
		return
	}
	st, err := store.Load()
	if err != nil || len(st.Attempts) == 0 {
		must(false, fmt.Sprintf("no attempt is on the disk: %v", err))
		return
	}
	a := st.Attempts[len(st.Attempts)-1]
	must(!a.Committed.IsZero(), "the commit is not on the disk")
	switch s.Name() {
	case "destroy/remove":
		id := env["WATCHDOG_ID"]
		must(id == "" || slices.Contains(a.Destroy, id), "this container is not on the disk as one to destroy")
	case "launch/launch":
		must(!a.Launching.IsZero(), "the launch is not on the disk")
		must(w.containers[rank] == "", "the name exists")
		must(!slices.ContainsFunc(w.containers, func(id string) bool {
			return strings.HasSuffix(id, "a0") || strings.HasSuffix(id, "a1") || strings.HasSuffix(id, "a2")
		}), "a container of before is still there")
	}
}

// startOf is when a container was started: long ago, and each at another time.
func startOf(id string) string {
	return "2026-01-01T00:00:00." + fmt.Sprint(100+len(strings.TrimLeft(id, "0"))) + "Z"
}

func (w *diskWorld) look(rank int) string {
	id, now := w.containers[rank], time.Now()
	clock := fmt.Sprintf("clock=%d.%09d\nevents=0\n", now.Unix(), now.Nanosecond())
	if id == "" {
		return "absent\ninspect=1\n" + clock
	}
	status, code := "running", 0
	if w.exited[rank] {
		status, code = "exited", 137
		clock = fmt.Sprintf("event={\"type\":\"container\",\"action\":\"die\",\"id\":%q,\"nano\":%d}\n", id, now.UnixNano()) + clock
	}
	return fmt.Sprintf("container={\"id\":%q,\"name\":\"/vllm\",\"image\":\"sha256:1\",\"status\":%q,\"started_at\":%q,\"exit_code\":%d,\"restart_policy\":\"no\"}\ninspect=0\n",
		id, status, startOf(id), code) + clock
}
