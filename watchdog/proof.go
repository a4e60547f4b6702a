package watchdog

// Proof is what a look whose canary was served says of the counters: whether they are this engine's.
type Proof int

// The proofs.
const (
	ProofNone        Proof = iota // no counters, or no served canary
	ProofStill                    // they stood still: they are of another engine, or another engine has answered
	ProofPart                     // they moved, and one of iterations, prompt and generation is missing
	ProofAmongOthers              // they moved, but not for the canary alone
	ProofMoved                    // nobody else was served, and they moved
)

// Proof compares the counters just before the canary with those just after it.
func (o Observation) Proof() Proof {
	switch {
	case !served(o.Canary) || len(o.Before.Engines) == 0 || len(o.After.Engines) == 0:
		return ProofNone
	case compare(o.Before.Engines, o.After.Engines) != counterMoved:
		return ProofStill
	case !wholeCounters(o.After.Engines):
		return ProofPart
	case held(o.Before.Engines) != "" || held(o.After.Engines) != "":
		return ProofAmongOthers
	default:
		return ProofMoved
	}
}
