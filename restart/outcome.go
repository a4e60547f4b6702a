package restart

import (
	"errors"
	"fmt"
	"strings"

	"cluster-watchdog/watchdog"
)

// Refusal says that checks or a settle step did not pass.
type Refusal struct{ Failures []Failure }

// Error tells what failed in the same way on several nodes once.
func (r *Refusal) Error() string {
	type what struct{ step, reason string }
	var order []what
	nodes := map[what][]string{}
	for _, f := range r.Failures {
		w := what{f.Step, f.Reason()}
		if nodes[w] == nil {
			order = append(order, w)
		}
		nodes[w] = append(nodes[w], f.Node)
	}
	all := make([]string, len(order))
	for i, w := range order {
		all[i] = failureWords(w.step, strings.Join(nodes[w], ", "), w.reason)
	}
	return strings.Join(all, "; ")
}

func (r *Refusal) served() bool {
	for _, f := range r.Failures {
		if errors.Is(f.Err, errServed) {
			return true
		}
	}
	return false
}

// Broken says that a destroy step failed: the group is half down.
type Broken struct {
	Step string
	Err  error
}

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// LaunchFailed says that a launch or the verification failed, and what runs where.
type LaunchFailed struct {
	Step string
	Runs string
	Err  error
}

func (l *LaunchFailed) Error() string { return l.Err.Error() + "; " + l.Runs }
func (l *LaunchFailed) Unwrap() error { return l.Err }

// UnsavedError says that the attempt could not be written down; nothing was touched after that.
type UnsavedError struct{ Err error }

func (u *UnsavedError) Error() string {
	return fmt.Sprintf("cannot save the attempt: %v: nothing more is done until the state can be written", u.Err)
}
func (u *UnsavedError) Unwrap() error { return u.Err }

// launchFailed wraps what ended the launching with what runs where.
func (t *try) launchFailed(s Step, err error) error {
	if errors.Is(err, errSwitch) || errors.Is(err, errUnfit) {
		return err
	}
	return &LaunchFailed{Step: s.Name, Runs: t.runsWhere(), Err: err}
}

// runsWhere says which ranks this attempt has started.
func (t *try) runsWhere() string {
	var names []string
	for _, l := range t.o.Attempt.Launched {
		names = append(names, fmt.Sprintf("rank %d (%s)", l.Rank, t.plan.settings.Nodes[l.Rank]))
	}
	if len(names) == 0 {
		return "no rank was started"
	}
	return "started: " + strings.Join(names, ", ")
}

// report tells the journal, and people, how the try ended.
func (t *try) report() {
	a := t.o.Attempt
	e := t.world.Log.Error()
	if a.Outcome == watchdog.OutcomeLaunched || a.Outcome == watchdog.OutcomeRecovered {
		e = t.world.Log.Info()
	}
	e = e.Int("attempt", a.ID).Str("step", a.Step).Str("phase", watchdog.Booting.String())
	if a.By != "" {
		e = e.Str("by", a.By)
	}
	n := len(t.plan.settings.Nodes)
	switch a.Outcome {
	case watchdog.OutcomeLaunched:
		e.Str("event", "launched").Msg("RESTART launched all ranks (launch_fail=0); phase=BOOTING")
		t.world.Notice(watchdog.NoticeLaunched, "", fmt.Sprintf("launched all %d ranks, %s after the decision; loading now", n, a.Ended.Since(a.Started).Round(1e9)))
	case watchdog.OutcomeLaunchFailed:
		e.Str("event", "launch-failed").Msgf("RESTART launch failed (launch_fail=%d); phase=BOOTING: %s", n-len(a.Launched), a.Error)
		t.world.Notice(watchdog.NoticeTrouble, "", "launch failed: "+a.Error)
	case watchdog.OutcomeBroken:
		e.Str("event", "broken").Msgf("RESTART broken in step %q (%d/%d), the group is half down: %s", a.Step, a.DestroyFailed, maxDestroy, a.Error)
		t.world.Notice(watchdog.NoticeTrouble, "broken "+a.Step, "removing containers failed, the group is half down: "+a.Error)
	case watchdog.OutcomeSwitch:
		e.Str("event", "switch").Msgf("%s ended by the switch before step %q: %s", t.what(), t.comes, t.standing())
		t.tellStanding()
	case watchdog.OutcomeInterrupted:
		e.Str("event", "interrupted").Msgf("%s %s", t.what(), a.Error)
		t.tellStanding()
	case watchdog.OutcomeRecovered:
		e.Str("event", "recovered").Msg("RESTART not needed: the last canary was served; nothing was touched")
	default:
		t.reportRefusal()
	}
}

func (t *try) reportRefusal() {
	a := t.o.Attempt
	e := t.world.Log.Warn().Str("event", "refused").Int("attempt", a.ID).Str("step", a.Step)
	if !a.Committed.IsZero() {
		e.Msgf("RESTART group is down, waiting for %s", a.Error)
		t.world.Notice(watchdog.NoticeRefused, "waiting "+a.Step, "group is down, waiting for "+a.Error)
		return
	}
	e.Msgf("RESTART refused, nothing touched, not counted: %s", a.Error)
	why := "is needed"
	if a.By != "" {
		why = "was asked for by " + a.By
	}
	t.world.Notice(watchdog.NoticeRefused, "check "+a.Step, fmt.Sprintf("a restart %s (%s) and refused: %s", why, a.Why, a.Error))
}

// maxDestroy repeats watchdog.Policy.DestroyTries for the sentence; a test compares them.
const maxDestroy = 3
