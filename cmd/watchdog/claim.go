package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog"
)

// claimNodes writes on every node that the group is this head's. Where somebody else claims it,
// that is refused; with takeOver he is replaced, and named.
func (s *session) claimNodes(ctx context.Context, by restart.Claimant, takeOver bool) error {
	runner := restart.NewRunner(s.plan, s.nodes, s.world(func(watchdog.NoticeKind, string, string) {}))
	replaced, failures := runner.Claim(ctx, restart.Order{Claimant: by, TakeOver: takeOver})
	for _, words := range replaced {
		fmt.Fprintf(s.out, "taken over on %s\n", plain(words))
	}
	if len(failures) == 0 {
		return nil
	}
	s.printFailures(failures)
	return codeError{exitRefused, "cannot claim the group on all nodes, and nothing is armed: mend what is said above, then arm again"}
}

// claimant is the person by whose word a tick claims the nodes.
func claimant(st watchdog.State) restart.Claimant {
	if st.Arm == nil {
		return restart.Claimant{}
	}
	return restart.Claimant{Who: st.Arm.Who, At: st.Arm.At.Wall}
}

// claims gathers on which nodes the group is claimed by this very config.
type claims struct {
	mu    sync.Mutex
	ours  int
	other []string // nodes where nobody claims it
	nodes []NodeConfig
}

func (c *claims) hear(s restart.Step, rank int, res restart.Result) {
	if s.Script != "check/claim" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.TrimSpace(res.Stdout) == "claim=ours" {
		c.ours++
	} else {
		c.other = append(c.other, c.nodes[rank].Name)
	}
}

// words is one line for people.
func (c *claims) words(group string) string {
	text := fmt.Sprintf("group %s is claimed by this head on %d/%d nodes", group, c.ours, len(c.nodes))
	if len(c.other) > 0 {
		text += fmt.Sprintf(", and by nobody on %d; `arm` and each restart write it there", len(c.other))
	}
	return text
}
