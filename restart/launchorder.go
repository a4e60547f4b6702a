package restart

import (
	"fmt"
	"slices"

	"cluster-watchdog/scripts"
)

// What the settings say about the launches of a plan.
func headFirst(s Settings) bool  { return s.HeadFirst }
func headLast(s Settings) bool   { return !s.HeadFirst }
func sequential(s Settings) bool { return s.Sequential }
func sideBySide(s Settings) bool { return !s.Sequential }

// checkLaunches refuses launches in another order than that of the settings: one side waits for the
// other to run. A plan that launches nothing has no order.
func (p *Plan) checkLaunches() error {
	var launched []int // ranks, in the order of their launches
	verified := false
	for _, s := range p.of(scripts.Launch) {
		if s.Script != "launch/launch" {
			verified = true
			continue
		}
		if verified {
			return fmt.Errorf("cannot plan step %q: a launch after the verification is out of order", s.Name)
		}
		if s.OneByOne != (p.settings.Sequential && s.On == Workers) {
			return fmt.Errorf("cannot plan step %q: it does not launch workers as launch.sequential says", s.Name)
		}
		if s.On == All && len(p.settings.Nodes) > 1 {
			return fmt.Errorf("cannot plan step %q: head and workers in one step have no order", s.Name)
		}
		for _, rank := range p.settings.ranksOf(s) {
			if slices.Contains(launched, rank) {
				return fmt.Errorf("cannot plan step %q: rank %d is launched twice", s.Name, rank)
			}
			launched = append(launched, rank)
		}
	}
	return p.settings.checkOrder(launched, verified)
}

// checkOrder wants every rank among the launched, the head at the end that the settings say, and a
// verification after them.
func (set Settings) checkOrder(launched []int, verified bool) error {
	switch head := slices.Index(launched, 0); {
	case len(launched) == 0:
		return nil
	case len(launched) < len(set.Nodes):
		return fmt.Errorf("cannot plan the launch: it launches %d of %d ranks", len(launched), len(set.Nodes))
	case set.HeadFirst && head != 0:
		return fmt.Errorf("cannot plan the launch: workers before the head are out of order with head-first launches")
	case !set.HeadFirst && head != len(launched)-1:
		return fmt.Errorf("cannot plan the launch: the head before its workers is out of order")
	case !verified:
		return fmt.Errorf("cannot plan the launch: nothing verifies that every rank runs")
	default:
		return nil
	}
}
