package watchdog

import (
	"slices"
	"strings"
	"time"
)

// State is what the watchdog knows between two ticks. Decide returns the next one; attempts, the
// arm record and a reset are written by others and only read here.
type State struct {
	Phase    Phase  `json:"phase"`
	Since    Clock  `json:"since,omitzero"`       // of a boot: its start
	Seen     Clock  `json:"seen,omitzero"`        // our first look at this boot
	GaveUpIn Phase  `json:"gave_up_in,omitempty"` // the phase that GIVEN_UP was entered from
	Last     Clock  `json:"last,omitzero"`        // the last look
	Config   string `json:"config,omitempty"`     // Policy.Config of the last look
	Identity string `json:"identity,omitempty"`   // Policy.Identity of the last look

	// The reset on record when GIVEN_UP was entered; one that ends it is another one.
	GaveUpAfter Clock `json:"gave_up_after,omitzero"`

	Flag Flag `json:"flag,omitzero"` // the disarmed flag as the last look saw it

	Earlier    Clock `json:"earlier,omitzero"`      // the last look of an earlier boot
	ClockDoubt bool  `json:"clock_doubt,omitempty"` // this boot's wall clock has not been plausible yet
	Began      Clock `json:"began,omitzero"`        // the first look of this boot, or the first one whose wall clock was plausible

	Ranks    []Known  `json:"ranks,omitempty"`   // by rank; what its Docker last said
	Baseline Baseline `json:"baseline,omitzero"` // the engine's counters at the last full look
	Engine   Engine   `json:"engine,omitempty"`  // as its metrics told, of the running head
	Live     string   `json:"live,omitempty"`    // start of the head whose counters an answered canary has moved

	Strikes      []Strike      `json:"strikes,omitempty"`
	SaidDead     Clock         `json:"said_dead,omitzero"`  // the last look at which the engine called itself dead while counters had moved
	Served       Clock         `json:"served,omitzero"`     // last served completion
	ServedBy     string        `json:"served_by,omitempty"` // start of the head that served it
	ServedIn     time.Duration `json:"served_in,omitempty"` // how long it took
	BusyFrom     Clock         `json:"busy_from,omitzero"`
	DockerStarts int           `json:"docker_starts,omitempty"` // the most of any rank
	PersonStart  Clock         `json:"person_start,omitzero"`
	Grace        *Grace        `json:"grace,omitempty"`
	EarlyDeath   Clock         `json:"early_death,omitzero"` // the look that found a boot dead early
	Incident     *Incident     `json:"incident,omitempty"`
	Incidents    int           `json:"incidents,omitempty"` // how many were opened so far
	Told         []string      `json:"told,omitempty"`      // what people were told of the present trouble
	Adopted      int           `json:"adopted,omitempty"`   // the attempt whose launch was last read as a boot

	Attempts []Attempt `json:"-"` // newest last
	Arm      *Arm      `json:"-"`
	Reset    Clock     `json:"-"`
	LastGood *LastGood `json:"-"`
}

// Phase is where the group stands. The zero value never fails.
type Phase int

// The phases.
const (
	None    Phase = iota // nothing known to be launched
	Booting              // launched, has not served yet
	Serving              // has served since its start
	GivenUp              // restarts did not help; a person must look
)

// Known is what is remembered of one rank. It changes only when its Docker answers, or its sshd refuses us.
type Known struct {
	Container    *Container `json:"container,omitempty"`
	Answered     bool       `json:"answered,omitempty"`     // its Docker has answered at least once
	Clock        time.Time  `json:"clock,omitzero"`         // the node's at the look at which its Docker last answered
	Heard        Clock      `json:"heard,omitzero"`         // ours at that look
	Ran          string     `json:"ran,omitempty"`          // the start that has been seen running
	ServedUnder  string     `json:"served_under,omitempty"` // the head's start when it last served with this start
	FirstSeen    Clock      `json:"first_seen,omitzero"`    // our first look at the present start
	Killed       time.Time  `json:"killed,omitzero"`        // by its node's clock: the last signal that ends it
	Died         string     `json:"died,omitempty"`         // the start whose end its node has told
	Worked       string     `json:"worked,omitempty"`       // the start in which the engine's process has been seen
	Process      Presence   `json:"process,omitempty"`      // of the engine, at the last look that could tell
	Load         Load       `json:"load,omitzero"`          // how far it has come in this start
	GPUs         []GPU      `json:"gpus,omitempty"`         // at the last look that asked
	GPUErr       string     `json:"gpu_err,omitempty"`
	DockerStarts int        `json:"docker_starts,omitempty"` // by Docker itself, since the last served completion
	Refused      int        `json:"refused,omitempty"`       // how often in a row its sshd has not accepted our key
	RefusedAt    Clock      `json:"refused_at,omitzero"`     // the last of these looks
}

// Baseline is a reading of the counters that later ones are compared with.
type Baseline struct {
	At      Clock           `json:"at"`
	Head    string          `json:"head"` // the head's start they belong to
	Engines []EngineCounter `json:"engines"`
}

// Strike is a streak of Failing looks of one term.
type Strike struct {
	Term  Term     `json:"term"`
	Looks int      `json:"looks"`
	First Clock    `json:"first"`
	Last  Clock    `json:"last"`
	Blind bool     `json:"blind,omitempty"` // at least one of them had no live counters
	Stuck []string `json:"stuck,omitempty"` // labels of the engines that stood still in all of them
	Cause Cause    `json:"cause"`
	What  string   `json:"what"` // for people: "rank 2 (spark3) exited 137"
}

// Grace is the time left to a person who is at work.
type Grace struct {
	From Clock  `json:"from"`
	Why  string `json:"why"`
}

// Incident is one stretch of trouble, closed by a served completion.
type Incident struct {
	ID     int    `json:"id"`
	Opened Clock  `json:"opened"`
	Served Clock  `json:"served"` // the last served completion before it; zero: none
	What   string `json:"what"`
}

// Attempt is one run of the restart sequence, as facts. Only the runner writes it.
type Attempt struct {
	ID            int            `json:"id"`
	By            string         `json:"by,omitempty"` // the person who asked; empty: the watchdog
	Why           string         `json:"why"`
	Stop          bool           `json:"stop,omitempty"` // a person's stop: it removes and does not launch
	Incident      int            `json:"incident,omitempty"`
	Started       Clock          `json:"started"`
	Committed     Clock          `json:"committed,omitzero"`
	Destroy       []string       `json:"destroy,omitempty"` // per rank, the id to destroy; empty: none there
	Removed       bool           `json:"removed,omitempty"` // every destroy step has passed
	Launching     Clock          `json:"launching,omitzero"`
	Launched      []Launched     `json:"launched,omitempty"`
	MemFree       []int64        `json:"mem_free,omitempty"` // bytes per rank as the settle step saw it; 0: unknown
	Ended         Clock          `json:"ended,omitzero"`     // of the last try
	Outcome       AttemptOutcome `json:"outcome,omitempty"`
	Step          string         `json:"step,omitempty"`  // the last step that was begun
	Error         string         `json:"error,omitempty"` // what the step said
	Tries         int            `json:"tries"`
	DestroyFailed int            `json:"destroy_failed,omitempty"` // tries that ended in a failed destroy step
	Flusher       bool           `json:"flusher,omitempty"`        // a flusher may be running on the nodes
	FlusherEnded  bool           `json:"flusher_ended,omitempty"`
}

// Launched is one container that an attempt started.
type Launched struct {
	Rank      int    `json:"rank"`
	ID        string `json:"id"`
	StartedAt string `json:"started_at"`
}

// AttemptOutcome is how the last try of an attempt ended. Zero: it has not, or was killed.
type AttemptOutcome int

// The outcomes of an attempt.
const (
	OutcomeNone         AttemptOutcome = iota
	OutcomeLaunched                    // every rank runs
	OutcomeRefused                     // a check or a settle step refused
	OutcomeBroken                      // a destroy step failed
	OutcomeLaunchFailed                // a launch or the verification failed
	OutcomeSwitch                      // the switch ended it
	OutcomeInterrupted                 // SIGTERM, or our own deadline
	OutcomeRecovered                   // a last canary was served: nothing was done
	OutcomeStopped                     // a person's stop: every rank is gone
)

// Arm is a person's leave to act on exactly this config identity.
type Arm struct {
	Who      string `json:"who"`
	At       Clock  `json:"at"`
	Identity string `json:"identity"`
	Launch   bool   `json:"launch,omitempty"` // and the wish that an empty group be launched
}

// LastGood is what the last boot that served was like.
type LastGood struct {
	At       Clock         `json:"at"`
	Identity string        `json:"identity"`
	Images   []string      `json:"images,omitempty"`   // image id per rank
	MemFree  []int64       `json:"mem_free,omitempty"` // bytes per rank after the settle step, before launch; 0: unknown
	Boot     time.Duration `json:"boot,omitempty"`     // from launching to the first served completion
}

// Asked is what a look has to ask the nodes about: each rank as it is known, with the start of a
// launch that no look has seen yet. Its container may have been stopped by a person already.
func (s State) Asked() []Known {
	n := len(s.Attempts)
	if n == 0 || !s.Attempts[n-1].Launching.After(s.Last) {
		return s.Ranks
	}
	asked := slices.Clone(s.Ranks)
	for _, started := range s.Attempts[n-1].Launched {
		if started.Rank < len(asked) {
			asked[started.Rank].Ran = started.start()
		}
	}
	return asked
}

// start names it as Container.Start does.
func (l Launched) start() string { return l.ID + "@" + l.StartedAt }

// ran says whether the start that has been seen running is one of that container.
func (k Known) ran(id string) bool {
	ran, _, found := strings.Cut(k.Ran, "@")
	return found && ran == id
}

// clone returns a copy that shares nothing that Decide changes.
func (s State) clone() State {
	s.Ranks = slices.Clone(s.Ranks)
	s.Strikes = slices.Clone(s.Strikes)
	s.Told = slices.Clone(s.Told)
	return s
}
