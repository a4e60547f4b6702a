package probe

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cluster-watchdog/watchdog"
)

type happened struct {
	Type   string `json:"type"`
	Action string `json:"action"`
	ID     string `json:"id"`
	Nano   int64  `json:"nano"`
	Signal string `json:"signal"`
}

// readEvents fills in the events since the last look. All of them are counted, since Docker
// remembers a number of them, not a time; those of the ids asked about are kept.
func (s said) readEvents(r *watchdog.Rank, ids []string) {
	exit, asked := s.exit("events")
	switch {
	case !asked:
		r.EventsErr = "the script on the node did not say how docker events ended"
	case exit == exitTimeout || exit == exitKilled:
		r.EventsErr = "docker events gave no answer in time"
	case exit != 0:
		r.EventsErr = clean("docker events: " + s.words("events"))
	}
	for _, line := range s.lines["event"] {
		r.EventsSeen++
		var h happened
		if err := json.Unmarshal([]byte(line), &h); err != nil {
			if r.EventsErr == "" {
				r.EventsErr = clean("cannot read an event: " + err.Error())
			}
			continue
		}
		action, noise := lifecycle(h.Action)
		if h.Type == "container" && !noise && slices.Contains(ids, h.ID) {
			r.Events = append(r.Events, watchdog.Event{
				At: time.Unix(0, h.Nano).UTC(), ID: h.ID, Action: action, Signal: signalName(h.Signal),
			})
		}
	}
}

// lifecycle returns an action without what may follow it, and whether it tells nothing of the
// container's life: health checks and commands run in it.
func lifecycle(action string) (name string, noise bool) {
	name, _, _ = strings.Cut(clean(action), ":")
	return name, strings.HasPrefix(name, "exec_") || name == "health_status"
}

// signalName returns the name of a signal without its SIG. Docker gives numbers, others names.
func signalName(s string) string {
	if n, err := strconv.Atoi(s); err == nil {
		if name := unix.SignalName(syscall.Signal(n)); name != "" {
			s = name
		}
	}
	return strings.TrimPrefix(strings.ToUpper(clean(s)), "SIG")
}

// idsOf returns the ids of the containers that a rank is known by.
func idsOf(k watchdog.Known) []string {
	var ids []string
	if k.Container != nil {
		ids = append(ids, k.Container.ID)
	}
	if id, _, _ := strings.Cut(k.Ran, "@"); watchdog.IsContainerID(id) {
		ids = append(ids, id)
	}
	return ids
}
