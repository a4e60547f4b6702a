package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// status is what is known, for people and for programs. It is read without the lock, also in the
// middle of a restart.
type status struct {
	Group    string             `json:"group"`
	Phase    string             `json:"phase"`
	Since    watchdog.Clock     `json:"since,omitzero"`
	Armed    bool               `json:"armed"`
	Switch   string             `json:"switch"` // by whom armed or disarmed, and why
	Last     *state.Row         `json:"last,omitempty"`
	LastAge  string             `json:"last_age,omitempty"`
	Stale    bool               `json:"stale"` // no look for three periods
	Budget   string             `json:"budget"`
	Served   watchdog.Clock     `json:"served,omitzero"`
	Incident *watchdog.Incident `json:"incident,omitempty"`
	Attempt  *watchdog.Attempt  `json:"attempt,omitempty"` // the last one
	Working  string             `json:"working,omitempty"` // who holds the lock
	Ranks    []watchdog.Known   `json:"ranks,omitempty"`
	LastGood *watchdog.LastGood `json:"last_good,omitempty"`
	Damage   string             `json:"damage,omitempty"`
}

// stalePeriods without a look mean that the timer does not fire.
const stalePeriods = 3

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [--json]",
		Short: "What is known: phase, switch, last look, budget, last attempt",
		RunE: func(*cobra.Command, []string) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			st, err := s.status()
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(a.out)
				e.SetIndent("", "  ")
				return e.Encode(st)
			}
			s.printStatus(st)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func (s *session) status() (status, error) {
	now := probe.Now()
	st, damage, err := s.load()
	if err != nil {
		return status{}, err
	}
	out := status{Group: s.config.Group, Phase: st.Phase.String(), Since: st.Since, Served: st.Served, Incident: st.Incident,
		Ranks: st.Ranks, LastGood: st.LastGood, Budget: s.policy.BudgetWords(st, now)}
	if damage != nil {
		out.Damage = damage.Error() + ": the next tick sets it aside and disarms"
	}
	out.Armed, out.Switch = s.policy.Switch(st, state.ReadFlag(s.config.StateDir), now)
	if h, busy := state.HeldBy(s.config.StateDir); busy {
		out.Working = h.String()
	}
	if n := len(st.Attempts); n > 0 {
		out.Attempt = &st.Attempts[n-1]
	}
	if damage == nil {
		rows, err := s.store.Rows(1)
		if err != nil {
			return status{}, err
		}
		if len(rows) > 0 {
			age := now.Since(rows[0].At)
			out.Last, out.LastAge = &rows[0], age.Round(time.Second).String()
			out.Stale = age > stalePeriods*s.config.Period && out.Working == ""
		} else {
			out.Stale = true
		}
	}
	return out, nil
}

func (s *session) printStatus(st status) {
	p := func(name, format string, args ...any) {
		fmt.Fprintf(s.out, "%-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	p(st.Group, "%s%s", st.Phase, since(st.Since))
	p("switch", "%s", plain(st.Switch))
	if st.Damage != "" {
		p("state", "%s", plain(st.Damage))
	}
	if st.Last != nil {
		p("last look", "%s ago: %s", st.LastAge, plain(st.Last.Sentence))
	}
	if st.Stale {
		p("timer", "no look for more than %s: `systemctl list-timers cluster-watchdog.timer`", stalePeriods*s.config.Period)
	}
	if !st.Served.IsZero() {
		p("served", "last completion %s", st.Served.Wall.Local().Format("2006-01-02 15:04:05"))
	}
	if st.Incident != nil {
		p("incident", "%d open since %s: %s", st.Incident.ID, st.Incident.Opened.Wall.Local().Format("15:04:05"), plain(st.Incident.What))
	}
	p("budget", "%s", st.Budget)
	if a := st.Attempt; a != nil {
		p("attempt", "%s", attemptWords(*a))
	}
	if st.Working != "" {
		p("at work", "another watchdog is running (%s)", st.Working)
	}
	for i, k := range st.Ranks {
		p(fmt.Sprintf("rank %d", i), "%s", knownWords(s.config.Nodes, i, k))
	}
}

func since(c watchdog.Clock) string {
	if c.IsZero() {
		return ""
	}
	return " since " + c.Wall.Local().Format("2006-01-02 15:04:05")
}

func attemptWords(a watchdog.Attempt) string {
	by := ""
	if a.By != "" {
		by = " asked for by " + plain(a.By)
	}
	text := fmt.Sprintf("%d%s, %s: %s, step %q, try %d", a.ID, by, a.Started.Wall.Local().Format("2006-01-02 15:04:05"), a.Outcome, a.Step, a.Tries)
	if a.Error != "" {
		text += ": " + plain(a.Error)
	}
	return text
}

func knownWords(nodes []NodeConfig, rank int, k watchdog.Known) string {
	name := "?"
	if rank < len(nodes) {
		name = nodes[rank].Name
	}
	switch c := k.Container; {
	case !k.Answered:
		return name + " never answered"
	case c == nil:
		return name + " has no container"
	default:
		text := fmt.Sprintf("%s %s, container %.12s", name, plain(c.Status), c.ID)
		if p := c.RestartPolicy; p != "" && p != "no" {
			text += fmt.Sprintf(", restart policy %q: Docker acts beside us, set it to no", p)
		}
		return text
	}
}

// printRanks prints what a look said of each rank and of the engine.
func (s *session) printRanks(r watchdog.Readings, o watchdog.Observation) {
	for i, v := range r.Ranks {
		text := v.What
		if text == "" {
			text = fmt.Sprintf("rank %d (%s) runs", i, o.Ranks[i].Node)
		}
		fmt.Fprintf(s.out, "  %-8s %s\n", v.Reading, plain(text))
	}
	for _, v := range []watchdog.Verdict{r.Engine, r.Progress} {
		if v.What != "" {
			fmt.Fprintf(s.out, "  %-8s %s\n", v.Reading, plain(v.What))
		}
	}
}
