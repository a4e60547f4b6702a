package restart

import (
	"slices"
	"testing"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

func TestPlanRefusesStepsOutOfOrder(t *testing.T) {
	for _, set := range launchSettings(t) {
		steps := stepsFor(set)
		if _, err := NewPlan(set, steps); err != nil {
			t.Fatalf("the real sequence is refused: %v", err)
		}
		for i := range len(steps) - 1 {
			swapped := slices.Clone(steps)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			_, err := NewPlan(set, swapped)
			class := swapped[i].Class()
			if free := class == swapped[i+1].Class() && class != scripts.Launch; (err == nil) != free {
				t.Errorf("%q before %q: err = %v", swapped[i].Name, swapped[i+1].Name, err)
			}
		}
	}
}

func TestEveryStepHasTimeoutAndHint(t *testing.T) {
	for _, set := range launchSettings(t) {
		names := map[string]bool{}
		for _, s := range stepsFor(set) {
			if s.Timeout <= 0 || s.Hint == "" || names[s.Name] {
				t.Errorf("step %q: timeout %s, hint %q, repeated %v", s.Name, s.Timeout, s.Hint, names[s.Name])
			}
			names[s.Name] = true
		}
	}
}

func TestEveryScriptHasItsStep(t *testing.T) {
	used := []string{"settle/endflusher"} // by its own, when a boot is over
	for _, s := range Steps() {
		used = append(used, s.Script)
	}
	for _, s := range scripts.All() {
		if s.Class() != scripts.Observe && !slices.Contains(used, s.Name()) {
			t.Errorf("script %s is in no step", s.Name())
		}
	}
}

func TestDestroyTriesAreSaidAsTheyAre(t *testing.T) {
	if got := watchdog.DefaultPolicy().DestroyTries; got != maxDestroy {
		t.Errorf("maxDestroy = %d, the policy says %d", maxDestroy, got)
	}
}
