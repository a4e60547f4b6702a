package restart

import (
	"fmt"
	"strings"
	"time"
)

// Settings is what the config says about restarting.
type Settings struct {
	Owner         Owner
	Group         string
	Container     string   // the name of the container on every node
	Nodes         []string // names in rank order; the first is the head
	HeadAddr      string   // where workers find the head
	Command       string   // the user's own launch command
	LaunchTimeout time.Duration
	HeadFirst     bool   // the head is launched before its workers, as Ray wants it
	Sequential    bool   // workers are launched one after the other, in rank order
	StopSeconds   int    // docker stop's time before SIGKILL
	Image         string // "": not checked
	Dirs          []string
	Mounts        []Mount
	Disks         []Disk
	Ports         []int // must be free on the head
	MemoryWait    time.Duration
	FlusherEvery  time.Duration
	FlusherFor    time.Duration
	Evidence      string // folder on the head for preserved logs
	Parallel      int    // so many logs are copied at once; 0: all
}

// Mount is a file system that must be there: of this type (any if empty), with this readable file.
type Mount struct{ Path, Type, Sentinel string }

// Disk is a place on each node that needs this many free bytes.
type Disk struct {
	Path    string
	MinFree int64
}

func needsImage(s Settings, _ int) bool    { return s.Image != "" }
func needsDirs(s Settings, _ int) bool     { return len(s.Dirs) > 0 }
func needsPorts(s Settings, rank int) bool { return rank == 0 && len(s.Ports) > 0 }

// goneWait is how long destroy/gone waits for a name to vanish.
const goneWait = 50 * time.Second

// variables returns what every script on that rank may read. None of it is secret.
func (s Settings) variables(rank int) map[string]string {
	role := "worker"
	if rank == 0 {
		role = "head"
	}
	ports := make([]string, len(s.Ports))
	for i, p := range s.Ports {
		ports[i] = fmt.Sprint(p)
	}
	return map[string]string{
		"WATCHDOG_GROUP":           s.Group,
		"WATCHDOG_CONTAINER":       s.Container,
		"WATCHDOG_RANK":            fmt.Sprint(rank),
		"WATCHDOG_NODE":            s.Nodes[rank],
		"WATCHDOG_ROLE":            role,
		"WATCHDOG_HEAD_ADDR":       s.HeadAddr,
		"WATCHDOG_COMMAND":         s.Command,
		"WATCHDOG_TIMEOUT":         seconds(s.LaunchTimeout),
		"WATCHDOG_STOP_SECONDS":    fmt.Sprint(s.StopSeconds),
		"WATCHDOG_IMAGE":           s.Image,
		"WATCHDOG_DIRS":            strings.Join(s.Dirs, "\n"),
		"WATCHDOG_PORTS":           strings.Join(ports, " "),
		"WATCHDOG_FLUSHER_EVERY":   seconds(s.FlusherEvery),
		"WATCHDOG_FLUSHER_SECONDS": seconds(s.FlusherFor),
		"WATCHDOG_MAX_BYTES":       fmt.Sprint(PreserveBytes),
	}
}

// seconds prints d for a script: whole seconds, at least one.
func seconds(d time.Duration) string {
	return fmt.Sprint(max(1, int64(d.Round(time.Second)/time.Second)))
}
