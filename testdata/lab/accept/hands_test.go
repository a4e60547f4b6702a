//go:build lab

package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	nodes = 4
	head  = 0
)

// container of a node; LAB=2 is the second lab, as for lab.sh.
func container(node int) string {
	lab := os.Getenv("LAB")
	if lab == "1" {
		lab = ""
	}
	return fmt.Sprintf("cwlab%s-node%d", lab, node+1)
}

// onLimit bounds one command on a node; a node that hangs must not hang the tests.
const onLimit = time.Minute

// on runs a shell command on a node as root, and fails the test when it fails.
func on(t *testing.T, node int, command string) string {
	t.Helper()
	out, err := try(node, command)
	if err != nil {
		t.Fatalf("node%d: %s: %v: %s", node+1, command, err, out)
	}
	return out
}

// try runs a shell command on a node as root, whatever comes of it.
func try(node int, command string) (string, error) {
	if pid := pidOf(node); pid != "" {
		return bounded("nsenter", "-t", pid, "-m", "-u", "-i", "-n", "-p", "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"HOME=/root", "sh", "-c", command)
	}
	return outer("exec", container(node), "sh", "-c", command)
}

// pids are the first processes of the nodes, by container. To enter a node by one costs a fraction of what
// `docker exec` does, and the tests ask a lot.
var pids sync.Map

// pidOf is the first process of a node; "" where it cannot be entered so.
func pidOf(node int) string {
	if os.Geteuid() != 0 {
		return ""
	}
	name := container(node)
	if pid, ok := pids.Load(name); ok {
		if comm, err := os.ReadFile("/proc/" + pid.(string) + "/comm"); err == nil && string(comm) == "systemd\n" {
			return pid.(string)
		}
	}
	pid, err := outer("inspect", "-f", "{{.State.Pid}}", name)
	if comm, readErr := os.ReadFile("/proc/" + pid + "/comm"); err != nil || readErr != nil || string(comm) != "systemd\n" {
		return "" // it is off, or only just started
	}
	pids.Store(name, pid)
	return pid
}

// outer runs a command of the Docker Engine that the nodes run in.
func outer(args ...string) (string, error) { return bounded("docker", args...) }

func bounded(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), onLimit)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.WaitDelay = time.Second // what it left behind may hold its output
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func mustOuter(t *testing.T, args ...string) string {
	t.Helper()
	out, err := outer(args...)
	if err != nil {
		t.Fatalf("docker %v: %v: %s", args, err, out)
	}
	return out
}

// everywhere runs a command on all nodes at once.
func everywhere(t *testing.T, command string) {
	t.Helper()
	failed := make(chan error, nodes)
	for node := range nodes {
		go func() {
			out, err := try(node, command)
			if err != nil {
				err = fmt.Errorf("node%d: %s: %w: %s", node+1, command, err, out)
			}
			failed <- err
		}()
	}
	var errs []error
	for range nodes {
		errs = append(errs, <-failed)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// fault sets the server's knob on a node; "" takes it away.
func fault(t *testing.T, node int, word string) {
	t.Helper()
	on(t, node, fmt.Sprintf("printf %%s '%s' >/var/lib/lab/fault", word))
}

// die ends the server of a node by an exception of its own, once.
func die(t *testing.T, node int) {
	t.Helper()
	fault(t, node, "die")
	eventually(t, 10*time.Second, "the server dies", func() bool {
		out, _ := try(node, "docker inspect -f '{{.State.Running}}' vllm")
		return out == "false"
	})
	fault(t, node, "")
}

// containers lists id and state of every container named vllm on a node, running or not.
func containers(t *testing.T, node int) []string {
	t.Helper()
	out := on(t, node, `docker ps -a --no-trunc --filter name=^/vllm$ --format '{{.ID}} {{.State}}'`)
	return strings.Fields(strings.ReplaceAll(out, " ", "="))
}

// ids returns the id of the one container of each rank, "" where there is none.
func ids(t *testing.T) []string {
	t.Helper()
	all := make([]string, nodes)
	for node := range nodes {
		if c := containers(t, node); len(c) > 0 {
			all[node], _, _ = strings.Cut(c[0], "=")
		}
	}
	return all
}

// eventually polls until want holds, and fails with what describe says when it never does.
func eventually(t *testing.T, within time.Duration, what string, want func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !want() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, what)
		}
		time.Sleep(400 * time.Millisecond)
	}
}

// story is the journal of the watchdog and its status, for a test that failed.
func story() string {
	journal, _ := try(head, "journalctl -u cluster-watchdog --no-pager -o short-precise -n 60 | grep -v 'systemd\\['")
	status, _ := try(head, "cluster-watchdog status")
	var b bytes.Buffer
	fmt.Fprintf(&b, "--- journal\n%s\n--- status\n%s\n", journal, status)
	return b.String()
}
