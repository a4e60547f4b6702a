package probe

import (
	"encoding/json"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

type inspected struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Image         string `json:"image"`
	Created       string `json:"created"`
	Status        string `json:"status"`
	StartedAt     string `json:"started_at"`
	ExitCode      int    `json:"exit_code"`
	Error         string `json:"error"`
	OOMKilled     bool   `json:"oom_killed"`
	RestartCount  int    `json:"restart_count"`
	RestartPolicy string `json:"restart_policy"`
	AutoRemove    bool   `json:"auto_remove"`
}

// parseContainer reads the line about the container; nil without a problem means that there is
// none of that name. Docker also finds containers by the first letters of an id: such a one is
// not the one we asked for.
func parseContainer(lines []string, name string, clock time.Time) (c *watchdog.Container, problem string) {
	if len(lines) != 1 {
		return nil, "docker inspect said nothing that can be read"
	}
	var i inspected
	if err := json.Unmarshal([]byte(lines[0]), &i); err != nil {
		return nil, clean("cannot read what docker inspect said: " + err.Error())
	}
	if i.Name != "/"+name {
		if i.Name == "" {
			return nil, "docker inspect gave no name"
		}
		return nil, ""
	}
	if !watchdog.IsContainerID(i.ID) || i.Status == "" {
		return nil, "docker inspect gave no id or no status"
	}
	return &watchdog.Container{
		ID:            i.ID,
		Made:          age(i.Created, clock),
		Status:        clean(i.Status),
		StartedAt:     clean(i.StartedAt),
		Age:           age(i.StartedAt, clock),
		ExitCode:      i.ExitCode,
		Error:         clean(i.Error),
		OOMKilled:     i.OOMKilled,
		RestartCount:  i.RestartCount,
		RestartPolicy: clean(i.RestartPolicy),
		AutoRemove:    i.AutoRemove,
		ImageID:       clean(i.Image),
	}, ""
}

// age returns how long ago a container was started, by the clock of its own node; 0 where it never
// was, or where that clock has been set back.
func age(startedAt string, clock time.Time) time.Duration {
	start, err := time.Parse(time.RFC3339Nano, startedAt)
	if err != nil || start.Year() <= 1 {
		return 0
	}
	return max(0, clock.Sub(start))
}

// The exits of timeout(1) and of a shell that finds no program.
const (
	exitTimeout   = 124
	exitKilled    = 137 // by timeout's second signal
	exitNotRun    = 126
	exitNoProgram = 127
)

// dockerReach says why Docker gave no answer. A hang or an error never means that there is no
// container (D09, D13).
func dockerReach(exit int, words string) (watchdog.Reach, string) {
	lower := strings.ToLower(words)
	switch {
	case exit == exitTimeout || exit == exitKilled:
		return watchdog.ReachTimeout, "docker does not answer; look at dockerd on the node"
	case exit == exitNotRun || exit == exitNoProgram:
		return watchdog.ReachDenied, clean("no docker command for this user: " + words)
	case strings.Contains(lower, "permission denied"):
		return watchdog.ReachDenied, clean("docker refuses this user: " + words)
	case strings.Contains(lower, "cannot connect to the docker daemon"), strings.Contains(lower, "failed to connect to the docker api"):
		return watchdog.ReachRefused, clean("docker: " + words)
	default:
		return watchdog.ReachError, clean("docker: " + words)
	}
}
