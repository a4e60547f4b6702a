//go:build lab

package bench

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const nodes = 4

// limit bounds one command on a node.
const limit = 3 * time.Minute

func container(rank int) string { return fmt.Sprintf("cwlab-node%d", rank+1) }

// in runs a command in a node's container and returns what it prints on stdout and on stderr.
func in(rank int, stdin []byte, user string, command ...string) (out, errs string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := append([]string{"exec", "-i", "-u", user, container(rank)}, command...)
	cmd := exec.CommandContext(ctx, "docker", args...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &o, &e
	err = cmd.Run()
	return strings.TrimSpace(o.String()), strings.TrimSpace(e.String()), err
}

// on runs a shell command on a node as root and ends the benchmark when it fails.
func on(b *testing.B, rank int, command string) string {
	b.Helper()
	out, errs, err := in(rank, nil, "root", "sh", "-c", command)
	if err != nil {
		b.Fatalf("node%d: %s: %v: %s%s", rank+1, command, err, out, errs)
	}
	return out
}

// everywhere runs a shell command on all nodes at once.
func everywhere(b *testing.B, command string) {
	b.Helper()
	failures := make([]string, nodes)
	var all sync.WaitGroup
	for rank := range nodes {
		all.Go(func() {
			if out, errs, err := in(rank, nil, "root", "sh", "-c", command); err != nil {
				failures[rank] = fmt.Sprintf("node%d: %s: %v: %s%s\n", rank+1, command, err, out, errs)
			}
		})
	}
	all.Wait()
	if failed := strings.Join(failures, ""); failed != "" {
		b.Fatal(failed)
	}
}
