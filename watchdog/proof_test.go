package watchdog

import "testing"

func TestProof(t *testing.T) {
	holding := func(o *Observation) { o.Before.Engines[0].Running = 1 }
	for _, row := range []struct {
		name string
		o    Observation
		want Proof
	}{
		{"idle, and they moved", sees(serves, counts(100, 101)), ProofMoved},
		{"others were served too", sees(serves, counts(100, 101), holding), ProofAmongOthers},
		{"they stood still", sees(serves, counts(100, 100)), ProofStill},
		{"without iterations", sees(serves, counts(100, 101), noIterations), ProofPart},
		{"no counters", sees(serves, noCounters), ProofNone},
		{"not served", sees(canary(Unanswered), counts(100, 101)), ProofNone},
	} {
		if got := row.o.Proof(); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
