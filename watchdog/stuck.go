package watchdog

import (
	"fmt"
	"slices"
	"strings"
)

// stuckEngines returns the labels of the engines that stand still while they hold requests: all
// their counters are flat between the baseline and now, and requests ran or waited at both times.
// The engines of one server work independently of each other, so one may be stuck while others move.
func stuckEngines(base, before, now []EngineCounter) []string {
	var stuck []string
	for _, e := range now {
		if was, ok := engineNamed(base, e.Label); ok && was.holds() && e.holds() && still(was, e) {
			if b, ok := engineNamed(before, e.Label); !ok || still(b, e) {
				stuck = append(stuck, e.Label)
			}
		}
	}
	return stuck
}

func engineNamed(all []EngineCounter, label string) (EngineCounter, bool) {
	i := slices.IndexFunc(all, func(e EngineCounter) bool { return e.Label == label })
	if i < 0 {
		return EngineCounter{}, false
	}
	return all[i], true
}

// still says whether nothing has moved, of an engine that reports all three.
func still(was, now EngineCounter) bool {
	return was.whole() && now.Iterations == was.Iterations && now.Prompt == was.Prompt && now.Generation == was.Generation
}

// whole says whether an engine reports iterations, prompt and generation. Without its iterations a
// long prefill looks like standing still (E11).
func (e EngineCounter) whole() bool { return e.Iterations >= 0 && e.Prompt >= 0 && e.Generation >= 0 }

// counts says whether an engine reports any counter.
func (e EngineCounter) counts() bool { return e.Iterations >= 0 || e.Prompt >= 0 || e.Generation >= 0 }

// holds says whether an engine has requests in hand.
func (e EngineCounter) holds() bool { return e.Running > 0 || e.Waiting > 0 }

// wholeCounters says whether all three come from somewhere. SGLang counts prompt and generation for
// all its engines together.
func wholeCounters(all []EngineCounter) bool {
	sum := EngineCounter{Iterations: -1, Prompt: -1, Generation: -1}
	for _, e := range all {
		sum.Iterations, sum.Prompt, sum.Generation = max(sum.Iterations, e.Iterations), max(sum.Prompt, e.Prompt), max(sum.Generation, e.Generation)
	}
	return sum.whole()
}

func labels(all []EngineCounter) []string {
	var names []string
	for _, e := range all {
		names = append(names, e.Label)
	}
	return names
}

// held says how much the engines have in hand: ", with 0 running and 4 waiting", which is no idle
// engine (E11). "" where they hold nothing or do not say.
func held(all []EngineCounter) string {
	var running, waiting float64
	for _, e := range all {
		running, waiting = running+max(e.Running, 0), waiting+max(e.Waiting, 0)
	}
	if running+waiting == 0 {
		return ""
	}
	return fmt.Sprintf(", with %.0f running and %.0f waiting", running, waiting)
}

// stuckWords names the engines that stand still while others move.
func stuckWords(all []EngineCounter, stuck []string) string {
	var theirs []EngineCounter
	for _, e := range all {
		if slices.Contains(stuck, e.Label) {
			theirs = append(theirs, e)
		}
	}
	return fmt.Sprintf("engine %s stands still%s, while others move", strings.Join(stuck, " and "), held(theirs))
}

// common returns what is in both.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}
