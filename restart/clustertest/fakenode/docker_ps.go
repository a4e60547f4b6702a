package fakenode

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// psLine is one container as docker ps shows it.
type psLine struct {
	Command   string
	CreatedAt string
	ID        string
	Image     string
	Labels    string
	Names     string
	Ports     string
	State     string
	Status    string
}

const shortID = 12

func dockerPs(w *world, args []string) int {
	p, ok := w.options(flags{
		values: spell("--filter,-f", "--format"),
		bools:  spell("--all,-a", "--quiet,-q", "--no-trunc"),
	}, args)
	if !ok || len(p.words) > 0 {
		return w.unknown(strings.Join(w.args, " "))
	}
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	var lines []psLine
	now := time.Now()
	for _, c := range slices.Backward(d.Containers) { // the youngest first
		match, err := matches(c, p.values["--filter"])
		if err != nil {
			return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
		}
		all := p.has("--all") || strings.Contains(strings.Join(p.values["--filter"], " "), "status=")
		if match && (all || c.running()) {
			lines = append(lines, show(c, now, p.has("--no-trunc")))
		}
	}
	return w.list(p, lines)
}

func (w *world) list(p parsed, lines []psLine) int {
	format := p.last("--format")
	if p.has("--quiet") {
		format = "{{.ID}}"
	}
	if format == "" {
		t := tabwriter.NewWriter(w.stdout, 20, 1, 3, ' ', 0)
		fmt.Fprintln(t, "CONTAINER ID\tIMAGE\tCOMMAND\tCREATED\tSTATUS\tPORTS\tNAMES")
		for _, l := range lines {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t\t%s\n", l.ID, l.Image, l.Command, l.CreatedAt, l.Status, l.Names)
		}
		t.Flush()
		return 0
	}
	if strings.HasPrefix(format, "table") {
		return w.unknown(strings.Join(w.args, " "))
	}
	for _, l := range lines {
		if err := formatLine(w.stdout, format, l); err != nil {
			return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
		}
	}
	return 0
}

func matches(c *Container, filters []string) (bool, error) {
	any := map[string]bool{} // of filters of one key one must match, of different keys all
	for _, filter := range filters {
		key, want, _ := strings.Cut(filter, "=")
		var ok bool
		switch key {
		case "name": // an unanchored expression, with and without the slash
			re, err := regexp.Compile(want)
			if err != nil {
				return false, err
			}
			ok = re.MatchString(c.Name) || re.MatchString(c.shortName())
		case "id":
			ok = strings.HasPrefix(c.ID, want)
		case "status":
			ok = c.State.Status == want
		case "label":
			name, value, valued := strings.Cut(want, "=")
			has, labelled := c.Config.Labels[name]
			ok = labelled && (!valued || has == value)
		default:
			return false, fmt.Errorf("filter %s is not played", key)
		}
		any[key] = any[key] || ok
	}
	for _, ok := range any {
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

func show(c *Container, now time.Time, whole bool) psLine {
	l := psLine{
		Command: fmt.Sprintf("%q", strings.Join(c.Config.Cmd, " ")), CreatedAt: c.Created, ID: c.ID, Image: c.Config.Image,
		Names: c.shortName(), State: c.State.Status, Status: statusText(c, now),
	}
	if !whole {
		l.ID = l.ID[:shortID]
	}
	return l
}

func statusText(c *Container, now time.Time) string {
	since := func(s string) string {
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		return humanDuration(now.Sub(t))
	}
	switch c.State.Status {
	case "running":
		return "Up " + since(c.State.StartedAt)
	case "exited":
		return fmt.Sprintf("Exited (%d) %s ago", c.State.ExitCode, since(c.State.FinishedAt))
	case "created":
		return "Created"
	case "removing":
		return "Removal In Progress"
	}
	return c.State.Status
}

func humanDuration(d time.Duration) string {
	switch s, m, h := int(d.Seconds()), int(d.Minutes()), int(d.Hours()+0.5); {
	case s < 1:
		return "Less than a second"
	case s == 1:
		return "1 second"
	case s < 60:
		return fmt.Sprintf("%d seconds", s)
	case m == 1:
		return "About a minute"
	case m < 60:
		return fmt.Sprintf("%d minutes", m)
	case h == 1:
		return "About an hour"
	case h < 48:
		return fmt.Sprintf("%d hours", h)
	default:
		return fmt.Sprintf("%d days", h/24)
	}
}
