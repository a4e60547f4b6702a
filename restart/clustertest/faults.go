package clustertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/restart/clustertest/fakenode"
	"cluster-watchdog/scripts"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	ContainerExits   FaultKind = fakenode.ContainerExits
	ContainerHangs   FaultKind = fakenode.ContainerHangs
	ContainerLingers FaultKind = fakenode.ContainerStays
	LaunchFails      FaultKind = fakenode.LaunchFails
	DockerHangs      FaultKind = fakenode.DockerHangs
	DockerDenied     FaultKind = fakenode.DockerDenied
	DockerDown       FaultKind = fakenode.DockerDown
	MountHangs       FaultKind = fakenode.MountHangs
	MountAbsent      FaultKind = fakenode.MountAbsent
	MountStale       FaultKind = fakenode.MountStale
	MountSlow        FaultKind = fakenode.MountSlow
	NoSudo           FaultKind = fakenode.NoSudo
	DiskFull         FaultKind = fakenode.DiskFull
	MemoryShort      FaultKind = fakenode.MemoryShort
	SSHDRefuses      FaultKind = "sshd-refuses"
	SSHDSilent       FaultKind = "sshd-silent"
	SSHDDrops        FaultKind = "sshd-drops"
	SSHDDropsEarly   FaultKind = "sshd-drops-early"
)

var kinds = []struct {
	kind FaultKind
	help string
}{
	{ContainerExits, "a container dies as soon as it is launched"},
	{ContainerHangs, "a container cannot be killed, stopped or removed"},
	{ContainerLingers, "a container's removal goes on after docker rm has returned"},
	{LaunchFails, "docker run leaves a container that never starts"},
	{DockerHangs, "docker never answers"},
	{DockerDenied, "docker refuses this user"},
	{DockerDown, "docker's daemon does not run"},
	{MountHangs, "the shared mount does not answer"},
	{MountAbsent, "the shared mount is not there"},
	{MountStale, "the shared mount is stale"},
	{MountSlow, "the shared mount answers late, which is told and is no refusal"},
	{NoSudo, "sudo asks for a password"},
	{DiskFull, "df shows nothing available"},
	{MemoryShort, "memory does not come back"},
	{SSHDRefuses, "nothing listens for SSH"},
	{SSHDSilent, "SSH connects, and no banner comes"},
	{SSHDDrops, "the connection breaks before the answer of a command that was run"},
	{SSHDDropsEarly, "the connection breaks before a command is run"},
}

// AnyNode as the Node of a Fault means all of them.
const AnyNode = -1

// Fault is one thing that goes wrong, where and when. It hits when all of it fits.
type Fault struct {
	Kind FaultKind
	Node int    // rank, or AnyNode
	Step string // a script such as "destroy/remove"; "" = whatever is asked

	After, Until time.Duration // since the start of the cluster; Until 0 = for ever
	From, To     int           // which runs of a script on a node, the first is 1; 0 = no bound
	P            float64       // how likely each run is hit; 0 = always
}

// Kinds lists the kinds of faults, for a help text.
func Kinds() []FaultKind {
	all := make([]FaultKind, len(kinds))
	for i, k := range kinds {
		all[i] = k.kind
	}
	return all
}

// Help says what a kind of fault does.
func (k FaultKind) Help() string {
	for _, known := range kinds {
		if known.kind == k {
			return known.help
		}
	}
	return ""
}

// beforeCommands are the kinds that hit a connection, when no script is known yet.
var beforeCommands = []FaultKind{SSHDRefuses, SSHDSilent}

// ParseFault reads KIND[:NODE[:SCRIPT]], such as docker-hangs:n2:check/docker.
func ParseFault(text string) (Fault, error) {
	parts := strings.SplitN(text, ":", 3)
	f := Fault{Kind: FaultKind(parts[0]), Node: AnyNode}
	if len(parts) > 1 && parts[1] != "" && parts[1] != "any" {
		n, err := strconv.Atoi(strings.TrimPrefix(parts[1], "n"))
		if err != nil || n < 1 || !strings.HasPrefix(parts[1], "n") {
			return f, fmt.Errorf("cannot read fault %q: no node %q; nodes are n1, n2, ... or any", text, parts[1])
		}
		f.Node = n - 1
	}
	if len(parts) > 2 {
		f.Step = parts[2]
	}
	if err := f.problem(); err != nil {
		return f, fmt.Errorf("cannot read fault %q: %w", text, err)
	}
	return f, nil
}

// problem says what is wrong with a fault, whatever the cluster.
func (f Fault) problem() error {
	switch {
	case f.Kind.Help() == "":
		all := make([]string, len(kinds))
		for i, k := range Kinds() {
			all[i] = string(k)
		}
		return fmt.Errorf("no kind %q; kinds are %s", f.Kind, strings.Join(all, ", "))
	case f.Step != "" && !slices.ContainsFunc(known(), func(s scripts.Script) bool { return s.Name() == f.Step }):
		return fmt.Errorf("no script %q; see `cluster-watchdog plan --show`", f.Step)
	case f.Step != "" && slices.Contains(beforeCommands, f.Kind):
		return fmt.Errorf("%s hits connections, before any script; leave the script out", f.Kind)
	case f.Kind == SSHDRefuses && (f.P != 0 || f.From != 0 || f.To != 0):
		return fmt.Errorf("%s follows time only: a refused connection cannot be counted", f.Kind)
	case f.P < 0 || f.P > 1:
		return fmt.Errorf("its likelihood is %v; give one from 0 to 1", f.P)
	}
	return nil
}
