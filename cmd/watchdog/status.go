package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

// status is what is known, for people and for programs. It is read without the lock, also in the
// middle of a restart.
type status struct {
	Group    string             `json:"group"`
	Phase    string             `json:"phase"`
	Since    watchdog.Clock     `json:"since,omitzero"`
	Armed    bool               `json:"armed"`
	Switch   string             `json:"switch"`          // by whom armed or disarmed, and why
	Clock    string             `json:"clock,omitempty"` // what is wrong with the head's clock
	Last     *state.Row         `json:"last,omitempty"`
	LastAge  string             `json:"last_age,omitempty"`
	Stale    bool               `json:"stale"`               // no look for three periods
	StaleWhy string             `json:"stale_why,omitempty"` // as far as systemd and the clocks can tell
	Ended    string             `json:"ended,omitempty"`     // how a run ended that came to no look, since the last one
	Budget   string             `json:"budget"`
	Served   watchdog.Clock     `json:"served,omitzero"`
	ServedIn time.Duration      `json:"served_in,omitempty"` // how long that completion took
	Incident *watchdog.Incident `json:"incident,omitempty"`
	Attempt  *watchdog.Attempt  `json:"attempt,omitempty"` // the last one
	Down     bool               `json:"down,omitempty"`    // removed by an attempt that has not launched it yet
	Working  string             `json:"working,omitempty"` // who holds the lock
	Acting   string             `json:"acting,omitempty"`  // which other group acts on this machine now
	Ranks    []watchdog.Known   `json:"ranks,omitempty"`
	LastGood *watchdog.LastGood `json:"last_good,omitempty"`
	Today    *state.Day         `json:"today,omitempty"` // totals of the day of the last look
	Size     int64              `json:"size,omitempty"`  // of the database, in bytes
	// How long each kind of death may go unnoticed at worst, as it follows from the config.
	Detections []watchdog.Detection `json:"detections"`
	Damage     string               `json:"damage,omitempty"` // why the state cannot be read: then all that it holds is unknown
}

// unknown is the phase and the budget where the state cannot be read.
const unknown = "unknown"

// stalePeriods without a look mean that the timer does not fire.
const stalePeriods = 3

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [--json]",
		Short: "What is known: phase, switch, last look, budget, last attempt",
		RunE: func(*cobra.Command, []string) error {
			s, err := a.openMemory()
			if err != nil {
				return err
			}
			st, err := s.status()
			if err != nil {
				return err
			}
			if asJSON {
				if err := s.printJSON(st); err != nil {
					return err
				}
			} else {
				s.printStatus(st)
			}
			if st.Damage != "" {
				return codeError{code: exitFault}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return c
}

func (s *session) status() (status, error) {
	st, damage, err := s.load()
	fault := errors.Join(err, asError(damage))
	now := s.now()
	out := status{Group: s.config.Group, Phase: st.Phase.String(), Since: st.Since, Served: st.Served, ServedIn: st.ServedIn, Incident: st.Incident,
		Ranks: st.Ranks, LastGood: st.LastGood, Budget: s.policy.BudgetWords(st, now),
		Detections: s.policy.Detections(s.config.Period)}
	flag := state.ReadFlag(s.config.StateDir)
	out.Armed, out.Switch = s.policy.Switch(st, flag, now)
	if fault != nil {
		out.Damage, out.Phase, out.Budget = fault.Error(), unknown, unknown
		if !flag.Present {
			out.Switch = unknown + ": the state tells who armed it; nothing is done without it"
		}
	}
	out.Clock = s.policy.ClockWords(st, now)
	working := 0
	if h, busy := state.HeldBy(s.config.StateDir); busy {
		working = h.PID
		out.Working = h.String()
	}
	if h, busy := state.ActingBy(s.config.ActingLock); busy && h.PID != working {
		out.Acting = h.String()
	}
	if n := len(st.Attempts); n > 0 {
		out.Attempt = &st.Attempts[n-1]
		switch a := out.Attempt; { // not looked at since
		case !a.Launching.IsZero() && now.Later(a.Launching, st.Seen):
			out.Phase, out.Since, out.Ranks = watchdog.Booting.String(), a.Launching, nil
		case a.Stop && !a.Committed.IsZero() && now.Later(a.Committed, st.Seen):
			out.Phase, out.Since, out.Ranks = watchdog.None.String(), a.Committed, nil
		}
	}
	out.Down = isDown(st, now)
	hung := state.ReadHung(s.config.StateDir)
	if !hung.Zero() {
		out.Ended = hung.String()
	}
	if fault == nil {
		rows, err := s.store.Rows(1)
		if err != nil {
			return status{}, err
		}
		if out.Today, err = s.today(); err != nil {
			return status{}, err
		}
		out.Size = s.past.Size()
		if hung.Zero() {
			if out.Ended, err = s.endedEarly(rows); err != nil {
				return status{}, err
			}
		}
		if len(rows) > 0 {
			age := now.Since(rows[0].At)
			out.Last, out.LastAge = &rows[0], ageWords(age)
			out.Stale = age > stalePeriods*s.config.Period && out.Working == ""
		} else {
			out.Stale = true
		}
	}
	if out.Stale {
		out.StaleWhy = s.whyStale(out.Last, now)
	}
	return out, nil
}

// ageWords says how long ago a look was. A time that cannot be is of a clock that was wrong then or is now.
func ageWords(age time.Duration) string {
	const tooLong = 10 * 365 * 24 * time.Hour
	if age >= tooLong {
		return "an unknown time"
	}
	return age.Round(time.Second).String()
}

// isDown says whether the last attempt has begun to remove the group, has not launched it, and
// nobody has closed it since.
func isDown(st watchdog.State, now watchdog.Clock) bool {
	n := len(st.Attempts)
	if n == 0 || st.Attempts[n-1].Stop || st.Attempts[n-1].Committed.IsZero() || !st.Attempts[n-1].Launching.IsZero() {
		return false
	}
	committed := st.Attempts[n-1].Committed
	armed := st.Arm != nil && now.Later(st.Arm.At, committed)
	return !armed && !now.Later(st.Served, committed) && !now.Later(st.PersonStart, committed) && !now.Later(st.Reset, committed)
}

func (s *session) printStatus(st status) {
	p := func(name, format string, args ...any) {
		fmt.Fprintf(s.out, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	p("group", "%s: %s", st.Group, phaseWords(st))
	p("switch", "%s", plain(st.Switch))
	if st.Clock != "" {
		p("clock", "%s", plain(st.Clock))
	}
	if st.Damage != "" {
		p("state", "%s", plain(st.Damage))
	}
	if st.Working != "" {
		p("at work", "another watchdog is running (%s)", st.Working)
	}
	if st.Acting != "" {
		p("acting", "another group acts on this machine (%s): a restart here would wait", st.Acting)
	}
	if st.Last != nil {
		p("last look", "%s ago: %s", st.LastAge, plain(st.Last.Sentence))
	}
	if st.Ended != "" {
		p("ended", "%s", plain(st.Ended))
	}
	switch {
	case st.Stale && st.StaleWhy != "" && st.Last == nil:
		p("timer", "no look yet: %s", plain(st.StaleWhy))
	case st.Stale && st.StaleWhy != "":
		p("timer", "no look for more than %s: %s", briefDuration(stalePeriods*s.config.Period), plain(st.StaleWhy))
	case st.Stale && st.Last == nil:
		p("timer", "no look yet: start it with `systemctl enable --now %s`", timerOf(s.configPath))
	case st.Stale:
		p("timer", "no look for more than %s: see `systemctl list-timers %s`", briefDuration(stalePeriods*s.config.Period), timerOf(s.configPath))
	}
	if !st.Served.IsZero() {
		p("served", "last completion at %s%s", timeWords(st.Served.Wall), latencyWords(st.ServedIn))
	}
	if st.Incident != nil {
		p("incident", "%d, open since %s: %s", st.Incident.ID, timeWords(st.Incident.Opened.Wall), plain(st.Incident.What))
	}
	p("budget", "%s", st.Budget)
	if st.Today != nil {
		p("today", "%s", dayWords(*st.Today))
	}
	if a := st.Attempt; a != nil {
		p("attempt", "%s", attemptWords(*a, st.Working != ""))
	}
	for i, k := range st.Ranks {
		p(fmt.Sprintf("rank %d", i), "%s", knownWords(s.nodeName(i), k))
	}
	for _, d := range st.Detections {
		p("notices", "%s", d)
	}
}

// phaseWords says the phase, since when, and what to do where a person must.
func phaseWords(st status) string {
	words := st.Phase
	if !st.Since.IsZero() {
		words += " since " + timeWords(st.Since.Wall)
	}
	switch {
	case st.Down && st.Working != "":
		return words + ", being restarted now"
	case st.Down && st.Phase != watchdog.GivenUp.String():
		return words + "; the group is down, the next tick goes on with its restart"
	}
	switch st.Phase {
	case watchdog.None.String():
		return words + ", nothing known to be launched"
	case watchdog.GivenUp.String():
		return words + ": find out why, see the preserved logs, then `cluster-watchdog reset --reason`"
	}
	return words
}

// timeWords prints a time as people here say it, with the date unless it is today's.
func timeWords(t time.Time) string {
	if t.Local().Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return t.Local().Format(time.TimeOnly)
	}
	return dateWords(t)
}

// dateWords prints a time with its date, as people here say it.
func dateWords(t time.Time) string { return t.Local().Format(time.DateTime) }

// latencyWords says how long a completion took, "" where that was not noted.
func latencyWords(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf(", in %s", d.Round(time.Millisecond))
}

func attemptWords(a watchdog.Attempt, running bool) string {
	by := ""
	if a.By != "" {
		by = ", asked for by " + plain(a.By)
	}
	text := fmt.Sprintf("%d of %s%s: %s", a.ID, timeWords(a.Started.Wall), by, a.Outcome)
	if a.Outcome == watchdog.OutcomeNone && running {
		text = strings.TrimSuffix(text, a.Outcome.String()) + "under way"
	}
	ended := a.Outcome == watchdog.OutcomeLaunched || a.Outcome == watchdog.OutcomeRecovered
	if a.Step != "" && !ended {
		text += fmt.Sprintf(", step %q", a.Step)
	}
	if a.Tries > 1 {
		text += fmt.Sprintf(", try %d", a.Tries)
	}
	switch a.Outcome {
	case watchdog.OutcomeRefused, watchdog.OutcomeBroken, watchdog.OutcomeLaunchFailed:
		text += ": " + plain(a.Error)
	}
	return text
}

func knownWords(name string, k watchdog.Known) string {
	switch c := k.Container; {
	case !k.Answered:
		return name + " never answered"
	case c == nil:
		return name + " has no container"
	default:
		return fmt.Sprintf("%s %s, container %.12s%s", name, plain(c.Status), c.ID, plain(moreWords(k, *c)))
	}
}

// moreWords says of a rank what a person may want to know beyond its status: how it ended, who else
// starts it, how far it has loaded, and what its GPUs draw.
func moreWords(k watchdog.Known, c watchdog.Container) string {
	text := ""
	add := func(format string, args ...any) { text += ", " + fmt.Sprintf(format, args...) }
	if started, err := time.Parse(time.RFC3339Nano, c.StartedAt); err == nil && c.Started() {
		add("started %s", timeWords(started))
	}
	if !c.Running() && c.Status != "paused" {
		add("exit code %d", c.ExitCode)
	}
	if c.Error != "" {
		add("%s", c.Error)
	}
	if c.OOMKilled {
		add("Docker notes an OOM kill in it")
	}
	if k.Process == watchdog.Absent {
		add("no process of its engine")
	}
	if c.RestartCount > 0 {
		add("restarted %d times by Docker", c.RestartCount)
	}
	if c.RestartsItself() {
		add("restart policy %q: Docker acts beside us, set it to no", c.RestartPolicy)
	}
	if c.AutoRemove {
		add("removes itself when it ends")
	}
	if load := k.Load.String(); load != "" && k.ServedUnder == "" {
		add("%s", load)
	}
	if c.CPU > 0 {
		add("%s of CPU time", briefDuration(c.CPU.Round(time.Second)))
	}
	if gpu := watchdog.GPUWords(k.GPUs, k.GPUErr); gpu != "" {
		add("GPU %s", gpu)
	}
	if c.ImageID != "" {
		add("image %.12s", strings.TrimPrefix(c.ImageID, "sha256:"))
	}
	return text
}

// printRanks prints what a look said of each rank and of the engine. While a boot lasts the silence
// of its engine is no failure.
func (s *session) printRanks(d watchdog.Decision, o watchdog.Observation) {
	if err := connectError(s.nodes); err != nil {
		fmt.Fprintf(s.out, "  %-8s no node can be asked: %s\n", watchdog.Unknown, plain(err.Error()))
	} else {
		for i, v := range d.Readings.Ranks {
			text := v.What
			if text == "" {
				text = fmt.Sprintf("rank %d (%s) runs", i, o.Ranks[i].Node)
			}
			fmt.Fprintf(s.out, "  %-8s %s\n", v.Reading, plain(text))
		}
	}
	defer func() { fmt.Fprintf(s.out, "  %-8s all in all\n", d.Condition()) }()
	for _, v := range []watchdog.Verdict{d.Readings.Engine, d.Readings.Progress} {
		reading := v.Reading.String()
		if v.Reading == watchdog.Failing && d.Next.Phase == watchdog.Booting {
			reading = "loading"
		}
		if v.What != "" {
			fmt.Fprintf(s.out, "  %-8s %s\n", reading, plain(v.What))
		}
	}
}
