package fakenode

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func dockerEvents(w *world, args []string) int {
	p, ok := w.options(flags{values: spell("--since", "--until", "--filter,-f", "--format")}, args)
	switch {
	case !ok:
		return exitUnknown
	case len(p.words) > 0 || !p.has("--until"):
		return w.unknown(strings.Join(w.args, " ") + " (without --until it would never end)")
	}
	now := time.Now()
	until, err := instant(p.last("--until"), now)
	since := until // without --since only what comes from now on
	if err == nil && p.has("--since") {
		since, err = instant(p.last("--since"), now)
	}
	if err != nil {
		w.daemonError(err)
		return 1
	}
	if since.After(until) {
		w.daemonError(fmt.Errorf("`since` time (%s) cannot be after `until` time (%s)", p.last("--since"), p.last("--until")))
		return 1
	}
	time.Sleep(time.Until(until)) // the events up to then are still to come
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	for _, e := range d.Events {
		at := time.Unix(0, e.TimeNano)
		if at.Before(since) || at.After(until) {
			continue
		}
		show, err := wanted(e, p.values["--filter"])
		if err == nil && show {
			err = w.event(e, p.last("--format"))
		}
		if err != nil {
			return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
		}
	}
	return 0
}

func (w *world) event(e Event, format string) error {
	if format != "" {
		return formatLine(w.stdout, format, e)
	}
	var about []string
	for name, value := range e.Actor.Attributes {
		about = append(about, name+"="+value)
	}
	slices.Sort(about)
	_, err := fmt.Fprintf(w.stdout, "%s %s %s %s (%s)\n", stamp(time.Unix(0, e.TimeNano)), e.Type, e.Action, e.Actor.ID, strings.Join(about, ", "))
	return err
}

func wanted(e Event, filters []string) (bool, error) {
	hits := map[string]bool{}
	for _, filter := range filters {
		key, want, _ := strings.Cut(filter, "=")
		var ok bool
		switch key {
		case "type":
			ok = e.Type == want
		case "event":
			ok = e.Action == want
		case "container":
			ok = e.Type == "container" && (e.Actor.ID == want || e.Actor.Attributes["name"] == want)
		default:
			return false, fmt.Errorf("filter %s is not played", key)
		}
		hits[key] = hits[key] || ok
	}
	for _, ok := range hits {
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
