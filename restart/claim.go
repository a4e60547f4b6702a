package restart

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cluster-watchdog/scripts"
)

// Owner is one config of one head, as a claim on a node names it.
type Owner struct {
	ID       string // of the machine, and of no other; empty: it has none, and nothing is destroyed
	Name     string
	Address  string
	StateDir string // tells two configs of one head apart
}

// Claimant is the person by whose word a group is claimed.
type Claimant struct {
	Who string
	At  time.Time
}

// claim is what stands in the file of a claim.
func (s Settings) claim(by Claimant) string {
	who := fmt.Sprintf("the head %s (%s)", s.Owner.Name, s.Owner.Address)
	if by.Who != "" {
		who += fmt.Sprintf(", armed by %s at %s", by.Who, by.At.UTC().Format(time.RFC3339))
	}
	var b strings.Builder
	for _, line := range [][2]string{{"group", s.Group}, {"container", s.Container}, {"head", s.Owner.ID}, {"state_dir", s.Owner.StateDir}, {"who", who}} {
		fmt.Fprintf(&b, "%s=%s\n", line[0], strings.ReplaceAll(line[1], "\n", " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Claim returns what a claim on a node says.
func (p *Plan) Claim(by Claimant) string { return p.settings.claim(by) }

// Claim claims the group on all nodes, step by step as a restart does. It returns whom it replaced,
// which it does only where o.TakeOver says so, and where it failed: there another one claims it, or
// nothing could be written, and later steps were not run.
func (r *Runner) Claim(ctx context.Context, o Order) (replaced []string, failures []Failure) {
	for _, s := range r.plan.of(scripts.Claim) {
		more, failed := r.claimStep(ctx, s, o)
		replaced = append(replaced, more...)
		if len(failed) > 0 {
			return replaced, failed
		}
	}
	return replaced, nil
}

// claimStep runs one step on its nodes side by side.
func (r *Runner) claimStep(ctx context.Context, s Step, o Order) (replaced []string, failures []Failure) {
	var one sync.Mutex
	sideBySideOn(r.plan.settings.ranksOf(s), func(rank int) bool {
		res, err := r.run(ctx, s, rank, o)
		one.Lock()
		defer one.Unlock()
		if err != nil {
			failures = append(failures, r.failure(s, rank, err))
		}
		for _, words := range values(res.Stdout, "replaced") {
			replaced = append(replaced, r.plan.settings.Nodes[rank]+": "+words)
		}
		return err == nil
	})
	slices.Sort(replaced)
	slices.SortFunc(failures, func(a, b Failure) int { return a.Rank - b.Rank })
	return replaced, failures
}

// claim renews the claim just before the commit: a node that was installed anew since arm has none,
// and of two heads that see none only one gets it.
func (t *try) claim(ctx context.Context) error {
	for _, s := range t.plan.of(scripts.Claim) {
		if err := t.step(ctx, s, nil); err != nil {
			return err
		}
	}
	return nil
}
