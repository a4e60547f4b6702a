// Package fakenode holds the programs of a simulated node – docker, sudo, findmnt, df and the
// rest – and the state they share. One executable plays them all: its first argument says
// which. What a program does not know it refuses loudly and notes, so that a test can fail.
package fakenode

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// The variables that tell a program where it is and what is wrong there.
const (
	EnvNode   = "CLUSTERTEST_NODE"   // the folder of the node
	EnvFaults = "CLUSTERTEST_FAULTS" // the faults of this call, separated by commas
)

// The faults that programs play.
const (
	DockerHangs    = "docker-hangs"
	DockerDenied   = "docker-denied"
	DockerDown     = "docker-down"
	ContainerHangs = "container-hangs"
	ContainerStays = "container-lingers"
	ContainerExits = "container-exits"
	LaunchFails    = "launch-fails"
	MountHangs     = "mount-hangs"
	MountAbsent    = "mount-absent"
	MountStale     = "mount-stale"
	MountSlow      = "mount-slow"
	NoSudo         = "no-sudo"
	DiskFull       = "disk-full"
	MemoryShort    = "memory-short"
	exitUnknown    = 125 // of whatever a program does not know
	fileCalls      = "calls"
	fileUnknown    = "unknown"
	fileDrops      = "drops"
	fileMounts     = "mounts"
	filePinnedFree = "memfree"
)

// world is what one program sees: its node, its faults and its streams.
type world struct {
	node   Node
	faults []string
	name   string
	args   []string
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// programs are the names this executable answers to.
var programs = map[string]func(*world) int{
	"docker":  docker,
	"sudo":    sudo,
	"findmnt": findmnt,
	"df":      df,
	"awk":     awk,
	"pgrep":   elsewhere,
	"pkill":   elsewhere,
	"cat":     onMount,
	"stat":    onMount,
	"head":    onMount,
}

// Programs lists the names this executable answers to, sorted.
func Programs() []string { return slices.Sorted(maps.Keys(programs)) }

// Main plays the program of that name and returns its exit code. It takes very long
// when a fault makes the program hang.
func Main(name string, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	play, ok := programs[name]
	if !ok {
		fmt.Fprintf(stderr, "fakenode: unknown program %s\n", name)
		return exitUnknown
	}
	dir := env(EnvNode)
	if dir == "" {
		fmt.Fprintf(stderr, "fakenode: cannot play %s outside a simulated node: %s is empty\n", name, EnvNode)
		return exitUnknown
	}
	w := &world{node: Node{Dir: dir}, name: name, args: args, stdin: stdin, stdout: stdout, stderr: stderr}
	if f := env(EnvFaults); f != "" {
		w.faults = strings.Split(f, ",")
	}
	if err := w.node.Note(fileCalls, label(name, args)); err != nil {
		fmt.Fprintf(stderr, "fakenode: cannot note the call: %v\n", err)
		return exitUnknown
	}
	return play(w)
}

func label(name string, args []string) string {
	return strings.Join(append([]string{name}, args...), " ")
}

func (w *world) has(fault string) bool { return slices.Contains(w.faults, fault) }

// unknown refuses what a program does not play, and notes it.
func (w *world) unknown(what string) int {
	line := fmt.Sprintf("fakenode: unknown %s %s", w.name, what)
	w.node.Note(fileUnknown, line) // the exit code tells it as well
	fmt.Fprintln(w.stderr, line)
	return exitUnknown
}

// broken is for what went wrong in the fake itself.
func (w *world) broken(err error) int {
	return w.unknown(fmt.Sprintf("%s: %v", strings.Join(w.args, " "), err))
}

// hanging is longer than anybody waits; after it a program ends that was left behind by a test
// that was killed.
const hanging = 10 * time.Minute

// hang gives no answer: whoever called has a timeout, or the session ends.
func hang() int {
	time.Sleep(hanging)
	return exitUnknown
}

// readAll reads what a program gets on stdin.
func (w *world) readAll() string {
	var b bytes.Buffer
	io.Copy(&b, w.stdin) // a broken pipe is an empty stdin
	return b.String()
}
