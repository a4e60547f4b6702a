// Command cost runs a command and prints, as JSON, what it took: the command with all its children,
// and the whole machine meanwhile. What the command prints goes to stderr.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what one run took. Peak is that of the largest process of all, not their sum.
type cost struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`  // user and kernel, the command and its children
	Node time.Duration `json:"node"` // of all processes of this machine meanwhile; 0: not known
	Peak int64         `json:"peak"` // bytes
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: cost COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	node, began := nodeCPU(), time.Now()
	err := cmd.Run()
	c := cost{Wall: time.Since(began), Node: nodeCPU() - node}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot run %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	c.Peak = int64(usage.Maxrss) << 10
	if err := json.NewEncoder(os.Stdout).Encode(c); err != nil {
		os.Exit(1)
	}
}

// nodeCPU is the time used so far by everything in this container, from its cgroup of either kind.
func nodeCPU() time.Duration {
	if f, err := os.Open("/sys/fs/cgroup/cpu.stat"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if text, found := strings.CutPrefix(lines.Text(), "usage_usec "); found {
				return number(text) * time.Microsecond
			}
		}
	}
	text, err := os.ReadFile("/sys/fs/cgroup/cpuacct/cpuacct.usage")
	if err != nil {
		return 0
	}
	return number(strings.TrimSpace(string(text)))
}

func number(text string) time.Duration {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
