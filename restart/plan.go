package restart

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cluster-watchdog/scripts"
)

// Step is one line of the sequence, as data. Its class is its script's folder.
type Step struct {
	Name     string
	Script   string
	On       Where
	When     func(Settings) bool // whether it is in the plan at all; nil: always
	Each     Each
	OneByOne bool          // on its nodes one after the other, in rank order; else side by side
	Timeout  time.Duration // on one node
	Needs    func(Settings, int) bool
	Hint     string // for the operator, when it fails

	vars map[string]string // of an expanded Each
}

// Where says on which nodes a step runs.
type Where int

// The places.
const (
	All Where = iota + 1
	Head
	Workers
)

// Each says that a step is repeated for each of a list in the config. Zero: once.
type Each int

// The lists.
const (
	EachMount Each = iota + 1
	EachDisk
)

func (w Where) String() string { return [...]string{"internal error", "all", "head", "workers"}[w] }

// Class returns the class of the step's script.
func (s Step) Class() scripts.Class { return scripts.Get(s.Script).Class() }

// Runs says whether the step has work on that rank.
func (s Step) Runs(set Settings, rank int) bool {
	switch {
	case s.On == Head && rank != 0, s.On == Workers && rank == 0:
		return false
	default:
		return s.Needs == nil || s.Needs(set, rank)
	}
}

// Plan is a sequence in an order that is safe to run.
type Plan struct {
	settings Settings
	steps    []Step
}

// NewPlan makes a plan of the steps for these settings. It refuses steps out of order, it never
// sorts: preserve, check, claim, destroy, settle, launch; observing may come anywhere. Launches come
// in the order of the settings, each rank once.
func NewPlan(set Settings, steps []Step) (*Plan, error) {
	highest := scripts.Class(0)
	p := &Plan{settings: set}
	for _, s := range steps {
		if s.When != nil && !s.When(set) {
			continue
		}
		class := s.Class()
		switch {
		case s.Timeout <= 0:
			return nil, fmt.Errorf("cannot plan step %q: it has no timeout", s.Name)
		case class == scripts.Observe:
		case class < highest:
			return nil, fmt.Errorf("cannot plan step %q: %s after %s is out of order", s.Name, class, highest)
		default:
			highest = class
		}
		p.steps = append(p.steps, set.expand(s)...)
	}
	return p, p.checkLaunches()
}

// expand repeats a step for each of its list, and gives it the config's own timeout where it has one.
func (set Settings) expand(s Step) []Step {
	switch {
	case s.Class() == scripts.Launch && s.Script == "launch/launch":
		s.Timeout = set.LaunchTimeout + launchSlack
	case s.Script == "settle/memory":
		s.Timeout = set.MemoryWait + memorySlack
	case s.Script == "destroy/remove":
		s.Timeout = time.Duration(set.StopSeconds)*time.Second + removeSlack
	}
	var all []Step
	switch s.Each {
	case EachMount:
		for _, m := range set.Mounts {
			one := s
			one.Name = s.Name + " " + m.Path
			one.vars = map[string]string{"WATCHDOG_MOUNT": m.Path, "WATCHDOG_FSTYPE": m.Type, "WATCHDOG_SENTINEL": m.Sentinel}
			all = append(all, one)
		}
	case EachDisk:
		for _, d := range set.Disks {
			one := s
			one.Name = s.Name + " " + d.Path
			one.vars = map[string]string{"WATCHDOG_DISK_PATH": d.Path, "WATCHDOG_DISK_MIN": fmt.Sprint(d.MinFree)}
			all = append(all, one)
		}
	default:
		all = append(all, s)
	}
	return all
}

// Slack beyond what a script is told to wait for, so that its own words arrive before we cut it off.
const (
	launchSlack = 45 * time.Second
	memorySlack = 15 * time.Second
	removeSlack = 105 * time.Second
)

// Steps returns the plan's steps, for showing them.
func (p *Plan) Steps() []Step { return append([]Step(nil), p.steps...) }

// of returns the steps of one class, in order.
func (p *Plan) of(class scripts.Class) []Step {
	var all []Step
	for _, s := range p.steps {
		if s.Class() == class {
			all = append(all, s)
		}
	}
	return all
}

// Longest returns the longest time the whole plan may take; the service's timeout must be above it.
func (p *Plan) Longest() time.Duration {
	total := PreserveLimit + 2*ChecksLimit // a step that refused is checked alone first
	for _, s := range p.steps {
		if s.Class() > scripts.Check {
			total += time.Duration(p.settings.turnsOf(s)) * s.Timeout
		}
	}
	return total
}

// working returns the steps of a class that have work on any node.
func (p *Plan) working(c scripts.Class) []Step {
	return slices.DeleteFunc(p.of(c), func(s Step) bool { return len(p.settings.ranksOf(s)) == 0 })
}

// turnsOf returns how many runs of the step follow each other.
func (set Settings) turnsOf(s Step) int {
	if s.OneByOne {
		return len(set.ranksOf(s))
	}
	return 1
}

// ranksOf returns the ranks on which the step has work.
func (set Settings) ranksOf(s Step) []int {
	var ranks []int
	for rank := range set.Nodes {
		if s.Runs(set, rank) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// table of the plan for people: step, class, nodes, timeout, script.
func (p *Plan) String() string {
	var b strings.Builder
	for i, s := range p.steps {
		fmt.Fprintf(&b, "%2d  %-22s %-9s %-8s %-7s %s\n", i+1, s.Name, s.Class(), s.On, s.Timeout, s.Script)
	}
	return b.String()
}
