package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cluster-watchdog/restart"
	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
)

func restartCommand(a *app) *cobra.Command {
	var reason string
	var disarmed bool
	c := &cobra.Command{
		Use:   "restart --reason TEXT [--while-disarmed]",
		Short: "Restart the group now, with the same checks and steps; it is not counted",
		Long: `Restart the group now, whether it serves or not, with the checks and steps of ` + "`cluster-watchdog plan`" + `.
It is recorded with your name, is not counted, and is allowed in GIVEN_UP. It goes on when the
terminal closes. Ctrl-C ends it before its next step; what it has begun the next tick goes on with.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if reason = plain(reason); reason == "" {
				return noReason("restart")
			}
			outliveTerminal()
			s, err := a.openForPerson()
			if err != nil {
				return err
			}
			defer s.nodes.Close()
			return s.restartByHand(c.Context(), reason, disarmed)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`why`, for those who come later")
	c.Flags().BoolVar(&disarmed, "while-disarmed", false, "also while the watchdog is disarmed, and leave it so: then nobody goes on where this ends")
	return c
}

// restartByHand restarts under the lock and answers without it: a terminal that takes no more words
// must not keep the next tick waiting.
func (s *session) restartByHand(ctx context.Context, reason string, disarmed bool) error {
	var a watchdog.Attempt
	armed := false
	err := s.underLock(ctx, "restart", func(st watchdog.State) (err error) {
		flag, words := state.ReadFlag(s.config.StateDir), ""
		armed, words = s.policy.Switch(st, flag, s.now())
		if !armed && !disarmed {
			return codeError{exitRefused, "cannot restart: " + plain(words) + "; with --while-disarmed it is restarted nevertheless, and stays disarmed"}
		}
		return s.actingByHand(ctx, func() (err error) {
			a, err = s.restartNow(ctx, st, flag, reason)
			return err
		})
	})
	if err != nil {
		return err
	}
	return s.answerRestart(a, armed)
}

// restartNow looks for itself, and saves nothing but its attempt: what it does is for the next tick
// to see.
func (s *session) restartNow(ctx context.Context, st watchdog.State, flag watchdog.Flag, reason string) (watchdog.Attempt, error) {
	o := s.observe(ctx, st, false, nil)
	if ctx.Err() != nil {
		return watchdog.Attempt{}, codeError{exitRefused, "interrupted while looking; nothing was touched"}
	}
	d := watchdog.Decide(s.policy, st, o)
	a, err := s.personsAttempt(st, d, reason)
	if err != nil {
		return a, err
	}
	s.sayWhatGoes("restart", a, d, o)
	s.log.Warn().Str("event", "restart").Int("attempt", a.ID).Str("by", a.By).Str("phase", st.Phase.String()).
		Msgf("RESTART begin, asked for by %s, not counted: %s", plain(a.By), plain(a.Why))
	order := s.order(st, d, o, a)
	order.Canary = nil // it is restarted although it serves
	return s.watching(false, func(see func(restart.Progress)) (watchdog.Attempt, error) {
		return restart.NewRunner(s.plan, s.nodes, s.personsWorld(flag, see)).Run(ctx, order)
	})
}

// personsAttempt returns a new attempt, or the open one: where the group is down a restart goes on
// with what has brought it down, which from now on is the person's. One that was given up is over: a
// commit of his own is what lets the next tick go on with it.
func (s *session) personsAttempt(st watchdog.State, d watchdog.Decision, reason string) (watchdog.Attempt, error) {
	if n := len(st.Attempts); n > 0 && st.Phase != watchdog.GivenUp && (d.Why == watchdog.ReasonResume || d.Why == watchdog.ReasonDestroyFailed) {
		a := st.Attempts[n-1]
		if a.By == "" {
			reason += "; before: " + a.Why
		}
		a.By, a.Why, a.DestroyFailed = whoami(), reason, 0
		return a, nil
	}
	id, err := s.store.NextAttemptID()
	return watchdog.Attempt{ID: id, By: whoami(), Why: reason, Incident: incidentOf(st)}, err
}

// personsWorld is the runner's world in a person's command: the flag that he knows of does not end
// it, another one does, and an interrupt waits for what cannot be left half done.
func (s *session) personsWorld(known watchdog.Flag, see func(restart.Progress)) restart.World {
	w := s.world(func(kind watchdog.NoticeKind, _, text string) { s.notify(kind, text) })
	w.Switch = func() watchdog.Flag {
		if now := state.ReadFlag(s.config.StateDir); !now.Equal(known) {
			return now
		}
		return watchdog.Flag{}
	}
	w.Progress, w.Finish = see, true
	return w
}

// sayWhatGoes says what will be removed, before anything is.
func (s *session) sayWhatGoes(verb string, a watchdog.Attempt, d watchdog.Decision, o watchdog.Observation) {
	fmt.Fprintf(s.out, "%s of group %q (attempt %d), asked for by %s: %s\n", verb, s.config.Group, a.ID, plain(a.By), plain(a.Why))
	now := "phase " + d.Next.Phase.String()
	if d.Readings.Served {
		now += ", it serves now"
	}
	fmt.Fprintf(s.out, "%s; this will be removed:\n", now)
	for i, r := range o.Ranks {
		text := "nothing, it has no container"
		switch {
		case !r.DockerAnswered():
			text = "cannot be asked: " + r.Err
		case r.Container != nil:
			text = fmt.Sprintf("container %.12s (%s)", r.Container.ID, r.Container.Status)
		}
		fmt.Fprintf(s.out, "  rank %d (%s): %s\n", i, r.Node, plain(text))
	}
}

// answerRestart says how it ended, what stands and how it goes on.
func (s *session) answerRestart(a watchdog.Attempt, armed bool) error {
	goesOn := "; the next tick goes on with it"
	if !armed {
		goesOn = "; nobody goes on with it while it is disarmed: `cluster-watchdog restart` again does"
	}
	switch a.Outcome {
	case watchdog.OutcomeLaunched:
		fmt.Fprintf(s.out, "launched all %d ranks in %s; loading now, `cluster-watchdog status` shows how far\n", len(s.config.Nodes), tookWords(a.Ended.Since(a.Started)))
		if !armed {
			fmt.Fprintln(s.out, "it is still disarmed: nothing is done if this boot fails")
		}
		return nil
	case watchdog.OutcomeRefused:
		if a.Committed.IsZero() {
			return codeError{exitRefused, "cannot restart: " + plain(a.Error) + "; nothing was touched"}
		}
		return codeError{exitRefused, "the group is down, waiting for " + plain(a.Error) + goesOn}
	case watchdog.OutcomeBroken:
		return codeError{exitBroken, "cannot remove all containers, the group is half down: " + plain(a.Error) + goesOn}
	case watchdog.OutcomeLaunchFailed:
		return codeError{exitBroken, "cannot launch all ranks: " + plain(a.Error)}
	default: // the switch, or an interrupt: it says what stands
		return codeError{exitRefused, plain(a.Error)}
	}
}
