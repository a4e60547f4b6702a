package fakenode

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Event is one line of docker events, with Docker's own field names.
type Event struct {
	Status   string `json:"status,omitempty"`
	ID       string `json:"id,omitempty"`
	From     string `json:"from,omitempty"`
	Type     string
	Action   string
	Actor    Actor
	Scope    string `json:"scope,omitempty"`
	Time     int64  `json:"time,omitempty"`
	TimeNano int64  `json:"timeNano,omitempty"`
}

// Actor is what an event is about.
type Actor struct {
	ID         string
	Attributes map[string]string
}

// eventsKept is how many events Docker remembers, of all kinds together.
const eventsKept = 256

func (d *Daemon) tell(now time.Time, c *Container, action string, more map[string]string) {
	about := map[string]string{"image": c.Config.Image, "name": c.shortName()}
	for k, v := range c.Config.Labels {
		about[k] = v
	}
	for k, v := range more {
		about[k] = v
	}
	d.add(now, Event{
		Status: action, ID: c.ID, From: c.Config.Image,
		Type: "container", Action: action, Actor: Actor{ID: c.ID, Attributes: about},
	})
}

// tellNetwork adds what Docker says beside a start and an end: it fills the buffer too.
func (d *Daemon) tellNetwork(now time.Time, c *Container, action string) {
	mode := c.HostConfig.NetworkMode
	d.add(now, Event{
		Type: "network", Action: action,
		Actor: Actor{ID: hash("network", mode), Attributes: map[string]string{"container": c.ID, "name": mode, "type": mode}},
	})
}

func (d *Daemon) add(now time.Time, e Event) {
	e.Scope = "local"
	e.TimeNano = now.UnixNano()
	if n := len(d.Events); n > 0 && d.Events[n-1].TimeNano >= e.TimeNano {
		e.TimeNano = d.Events[n-1].TimeNano + 1 // Docker's own order is that of its clock
	}
	e.Time = e.TimeNano / int64(time.Second)
	d.Events = append(d.Events, e)
	if over := len(d.Events) - eventsKept; over > 0 {
		d.Events = d.Events[over:]
	}
}

// instant reads a point in time as docker events and logs take it: seconds since 1970 with a
// fraction, RFC 3339, or how long ago.
func instant(s string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(s); err == nil && s != "0" {
		return now.Add(-ago), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	whole, fraction, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(fraction) > 9 {
		return time.Time{}, fmt.Errorf("failed to parse value as time or duration: %q", s)
	}
	var nsec int64
	if fraction != "" {
		nsec, err = strconv.ParseInt(fraction+strings.Repeat("0", 9-len(fraction)), 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("failed to parse value as time or duration: %q", s)
		}
	}
	return time.Unix(sec, nsec), nil
}
