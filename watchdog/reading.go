package watchdog

// Reading is a conclusion about one term. The zero value is Unknown, and Unknown never destroys.
type Reading int

// The readings.
const (
	Unknown Reading = iota
	Healthy
	Busy
	Failing
)

// Term is one of the things that are judged on their own.
type Term int

// The terms.
const (
	TermRank     Term = iota + 1 // every rank runs
	TermEngine                   // the engine does not call itself dead
	TermProgress                 // completions come, or counters move
	TermBoot                     // a boot ends within its limit
)

// Cause is why a term reads as it does.
type Cause int

// Readings are the conclusions of one look.
type Readings struct{}

// Reason is the rule that decided.
type Reason int
