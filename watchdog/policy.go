package watchdog

import "time"

// Policy is what the config says about judging. All windows are durations between observations,
// never numbers of runs.
type Policy struct {
	Group    string    // name of the group, for sentences
	Identity string    // hash of nodes, containers, launch and URLs; another one disarms
	Config   string    // hash of the whole config; another one makes the next look a first look
	Engine   Engine    // which server this is; EngineUnknown = told by its metrics
	Built    time.Time // when this binary was built; a wall clock before it is implausible

	Gap             time.Duration // a longer time without a look makes the next one look only
	StrikeVoid      time.Duration // a streak whose last strike is older is void
	Dead            Rule          // a dead or missing rank
	EngineDead      Rule          // an engine that says so
	NoProgress      Rule          // an unanswered canary while live counters are flat
	NoProgressBlind Rule          // the same without live counters
	BootOver        Rule          // a boot past its limit
	Baseline        time.Duration // counters this far apart may be called flat
	CanaryEvery     time.Duration // while generation counters move, a canary is asked this often
	BootLimit       time.Duration // from the later of the start and our first look at it
	RankAppears     time.Duration // how long a rank of a start may be missing
	LaunchTimeout   time.Duration // of all launches of one restart, after which one whose end was never recorded is over
	HeadFirst       bool          // workers join a head that runs, also one newer than they are
	StaleWorker     time.Duration // a worker of an earlier head is dead this long after the new head's start; not with HeadFirst
	DockerStarts    int           // the n-th start by Docker itself without a served completion is Failing
	Grace           time.Duration // after a person's stop or partial restart
	KillToDie       time.Duration // a kill this long before a die was the stop
	MaxEvents       int           // Docker remembers no more events than these
	BudgetCount     int           // counted attempts ...
	BudgetWindow    time.Duration // ... within this time
	Pause           time.Duration // after a failed launch or a boot that died early
	EarlyDeath      time.Duration // a boot found dead within this time makes the next restart wait Pause
	DestroyTries    int           // tries that may end in a failed destroy step
	BusyTold        time.Duration // Busy this long without a served completion is told
	ClockFuture     time.Duration // a wall clock later than Built by more is implausible
}

// Rule says how many Failing looks a term needs. Looks closer together than Apart count once;
// the first and the last must be at least Over apart.
type Rule struct {
	Looks int
	Apart time.Duration
	Over  time.Duration
}

// DefaultPolicy returns the numbers of the documentation. Group, Identity, Config, Engine and
// Built are left for the caller.
func DefaultPolicy() Policy {
	return Policy{
		Gap:             5 * time.Minute,
		StrikeVoid:      10 * time.Minute,
		Dead:            Rule{Looks: 2, Apart: 20 * time.Second},
		EngineDead:      Rule{Looks: 3, Apart: 50 * time.Second},
		NoProgress:      Rule{Looks: 3, Apart: 50 * time.Second, Over: 6 * time.Minute},
		NoProgressBlind: Rule{Looks: 3, Apart: 50 * time.Second, Over: 15 * time.Minute},
		BootOver:        Rule{Looks: 2, Apart: 20 * time.Second},
		Baseline:        50 * time.Second,
		CanaryEvery:     5 * time.Minute,
		BootLimit:       75 * time.Minute,
		RankAppears:     10 * time.Minute,
		LaunchTimeout:   20 * time.Minute,
		StaleWorker:     10 * time.Minute,
		DockerStarts:    3,
		Grace:           10 * time.Minute,
		KillToDie:       2 * time.Minute,
		MaxEvents:       256,
		BudgetCount:     2,
		BudgetWindow:    6 * time.Hour,
		Pause:           5 * time.Minute,
		EarlyDeath:      10 * time.Minute,
		DestroyTries:    3,
		BusyTold:        30 * time.Minute,
		ClockFuture:     10 * 365 * 24 * time.Hour,
	}
}
