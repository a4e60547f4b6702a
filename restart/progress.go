package restart

import (
	"time"

	"cluster-watchdog/scripts"
)

// Progress is one thing that happened in a run, for a person who watches it: a step begins, or a
// node is through with it.
type Progress struct {
	Step string // one of the plan's Stages
	Node string // empty: the step begins
	Took time.Duration
	Err  error // why it failed on that node
}

// The stages that are not single steps of the plan.
const (
	stagePreserve = "preserve logs"
	stageChecks   = "checks"
	stageCommit   = "commit"
)

// Stages returns what a restart goes through, in its order, by the names that Progress and an
// attempt's Step use; for a stop, only until everything is removed.
func (p *Plan) Stages(stop bool) []string {
	all := []string{stagePreserve, stageChecks}
	if stop {
		return p.appendNames(append(all, stageCommit), scripts.Destroy)
	}
	all = append(p.appendNames(all, scripts.Claim), stageCommit)
	return p.appendNames(all, scripts.Destroy, scripts.Settle, scripts.Launch)
}

// appendNames appends the names of the steps of these classes that have work on any node.
func (p *Plan) appendNames(names []string, classes ...scripts.Class) []string {
	for _, class := range classes {
		for _, s := range p.working(class) {
			names = append(names, s.Name)
		}
	}
	return names
}

// watched tells the one who watches, if anybody does.
func (r *Runner) watched(step, node string, began time.Time, err error) {
	if r.world.Progress == nil {
		return
	}
	p := Progress{Step: step, Node: node, Err: err}
	if node != "" {
		p.Took = time.Since(began)
	}
	r.world.Progress(p)
}
