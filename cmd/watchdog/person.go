package main

import (
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// noReason is for a command that wants one.
func noReason(command string) error {
	return usageError{fmt.Errorf("cannot %s without a reason: say why with --reason, the next person will ask", command)}
}

// outliveTerminal lets a command go on when its terminal closes: what it has begun to remove it
// launches again. Writing to a terminal that has gone fails, and is not looked at.
func outliveTerminal() { signal.Ignore(syscall.SIGHUP) }

// openForPerson is open for a command whose progress a person watches: the journal hears all of it,
// a terminal sees the progress instead.
func (a *app) openForPerson() (*session, error) {
	s, err := a.open()
	if err == nil {
		s.log = personsLogger(a.errs)
	}
	return s, err
}

// Bounds of what is shown: a terminal that was stopped with Ctrl-S must not hold a restart.
const (
	shownLines = 4096
	shownLast  = 2 * time.Second // for the last lines to be taken
)

// watching runs do and shows its progress, one line per event:
//
//	step 4/12 remove containers ...
//	step 4/12 remove containers: n1 ok 1.2s
func (s *session) watching(stop bool, do func(see func(restart.Progress)) (watchdog.Attempt, error)) (watchdog.Attempt, error) {
	stages := map[string]int{}
	all := s.plan.Stages(stop)
	for i, name := range all {
		stages[name] = i + 1
	}
	shown := make(chan string, shownLines)
	var printing sync.WaitGroup
	printing.Go(func() {
		for line := range shown {
			fmt.Fprintln(s.out, line)
		}
	})
	a, err := do(func(p restart.Progress) {
		select {
		case shown <- progressLine(p, stages[p.Step], len(all)):
		default:
		}
	})
	close(shown)
	printed := make(chan struct{})
	go func() { printing.Wait(); close(printed) }()
	select {
	case <-printed:
	case <-time.After(shownLast):
	}
	return a, err
}

func progressLine(p restart.Progress, number, of int) string {
	line := fmt.Sprintf("step %d/%d %s", number, of, p.Step)
	switch {
	case p.Node == "" && p.Step == "commit": // nothing is waited for
		return line + ": from here on it is in earnest"
	case p.Node == "":
		return line + " ..."
	case p.Err != nil:
		return fmt.Sprintf("%s: %s FAILED after %s: %s", line, p.Node, tookWords(p.Took), plain(p.Err.Error()))
	default:
		return fmt.Sprintf("%s: %s ok %s", line, p.Node, tookWords(p.Took))
	}
}

// tookWords prints a duration to the tenth of a second below a minute.
func tookWords(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return briefDuration(d.Round(time.Second))
}
