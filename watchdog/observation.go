package watchdog

import "time"

// Observation is what one look saw: facts, each with its error, and the look's only clock
// reading. Nothing here is a conclusion; package watchdog draws those.
type Observation struct {
	At Clock `json:"at"`

	// From the first question to the last answer, by CLOCK_BOOTTIME, which goes on while this machine is suspended.
	Took time.Duration `json:"took,omitempty"`

	RanksOnly  bool     `json:"ranks_only,omitempty"` // the second look of a tick: no HTTP was asked
	Health     HTTP     `json:"health"`
	Canary     Canary   `json:"canary"`
	Sleep      Sleep    `json:"sleep,omitempty"` // what the engine says of itself; asked before the canary
	Before     Counters `json:"before"`          // the engine's counters just before the canary
	After      Counters `json:"after"`           // and just after it
	Ranks      []Rank   `json:"ranks"`           // one per configured rank, in rank order
	Flag       Flag     `json:"flag"`
	Checks     *Checks  `json:"checks,omitempty"`      // asked once the time of a disarm has passed; nil: not asked
	StoreFault string   `json:"store_fault,omitempty"` // why the state cannot be believed or saved
}

// Checks is what the checks of a restart said, without a restart.
type Checks struct {
	Failed string `json:"failed,omitempty"` // the failures; empty: all passed
}

// HTTP is the outcome of one request.
type HTTP struct {
	Outcome Outcome       `json:"outcome"`
	Status  int           `json:"status,omitempty"` // of an Answered one
	Took    time.Duration `json:"took,omitempty"`
	Err     string        `json:"err,omitempty"`   // short, without secrets
	Fault   Fault         `json:"fault,omitempty"` // of an Unreachable one
}

// Outcome is how far a request got. The zero value says that nothing was asked.
type Outcome int

// The outcomes of a request.
const (
	NotAsked       Outcome = iota
	Answered               // headers and whole body arrived within the deadline
	Refused                // nothing listens
	ConnectTimeout         // no connection: host gone, or its accept queue is full
	Unanswered             // connected, then silence or an unfinished body until the deadline
	Dropped                // connected, then reset or closed
	Unreachable            // DNS, TLS, no route, bad URL, proxy: we cannot ask
)

// Fault is what a person can mend about a question that cannot be asked. Zero: nothing is known.
type Fault int

// The faults of a question.
const (
	FaultNone     Fault = iota
	FaultName           // the name server knows no such host
	FaultTLS            // no TLS where it is spoken or the reverse, or a certificate that is not trusted
	FaultFile           // the API key or the CA file cannot be read
	FaultNoModel        // the server lists no model to ask for
	FaultEncoding       // the answer is compressed, though nobody asked for that
	FaultTime           // the certificate has ended or is yet to begin, by this machine's clock
)

// Sleep is whether somebody has put the engine to sleep or paused it. Zero: it says nothing of that.
type Sleep int

// The ways of sleeping.
const (
	SleepUnknown Sleep = iota
	Asleep             // its weights are offloaded or dropped
	SleepPaused        // its scheduler takes no request
)

// Canary is the one-token completion: the request and what its body held.
type Canary struct {
	HTTP
	Skipped    bool   `json:"skipped,omitempty"`     // not asked on purpose: see Policy.SkipCanary
	WellFormed bool   `json:"well_formed,omitempty"` // the body was one JSON value of the right shape
	Choices    int    `json:"choices,omitempty"`
	Tokens     int    `json:"tokens,omitempty"` // usage.completion_tokens
	Finish     string `json:"finish,omitempty"` // finish_reason of the first choice
	Error      string `json:"error,omitempty"`  // the engine's own error message, redacted and short
	Model      string `json:"model,omitempty"`  // the model that was asked
}

// Counters are one reading of the engine's metrics.
type Counters struct {
	HTTP
	Engine  Engine          `json:"engine,omitempty"`  // which family of names was found
	Engines []EngineCounter `json:"engines,omitempty"` // by label, sorted
	Asleep  bool            `json:"asleep,omitempty"`  // they say that an engine sleeps
}

// Engine is a family of inference servers. Zero: unknown.
type Engine int

// The engines.
const (
	EngineUnknown Engine = iota
	VLLM
	SGLang
)

// EngineCounter is what one engine label reported. A counter that was absent is -1.
type EngineCounter struct {
	Label      string  `json:"label"`
	Iterations float64 `json:"iterations"`
	Prompt     float64 `json:"prompt"`     // tokens
	Generation float64 `json:"generation"` // tokens
	Running    float64 `json:"running"`    // requests
	Waiting    float64 `json:"waiting"`    // requests
}

// Rank is what one node said of its rank.
type Rank struct {
	Node       string     `json:"node"`
	SSH        Reach      `json:"ssh"`
	Docker     Reach      `json:"docker"`
	Err        string     `json:"err,omitempty"`         // of the first of the two that failed
	Container  *Container `json:"container,omitempty"`   // nil with an answering Docker: no container of that name
	Clock      time.Time  `json:"clock"`                 // the node's own, for its next events
	Events     []Event    `json:"events,omitempty"`      // of the ids asked about, since the last look
	EventsSeen int        `json:"events_seen,omitempty"` // how many events of any kind came back
	EventsErr  string     `json:"events_err,omitempty"`

	Process    Presence `json:"process,omitempty"` // of the engine in a container that runs without it too
	ProcessErr string   `json:"process_err,omitempty"`
	Load       Load     `json:"load,omitzero"`  // asked for while there is trouble or a boot
	GPUs       []GPU    `json:"gpus,omitempty"` // the same
	GPUErr     string   `json:"gpu_err,omitempty"`
}

// Presence says whether a process is there. Zero: not asked, or nobody can tell.
type Presence int

// The ways of being there.
const (
	PresenceUnknown Presence = iota
	Present
	Absent
)

// Load is how far an engine has come with loading, by the progress bars in its log; an Of of zero
// says that there was no bar. It is shown and never judged by.
type Load struct {
	Shards   int `json:"shards,omitempty"`
	ShardsOf int `json:"shards_of,omitempty"`
	Graphs   int `json:"graphs,omitempty"`
	GraphsOf int `json:"graphs_of,omitempty"`
}

// GPU is what one GPU draws and how busy it calls itself, which a deadlocked one does too. -1: it
// does not say. It is shown and never judged by.
type GPU struct {
	Watts   float64 `json:"watts"`
	Percent float64 `json:"percent"`
}

// Reach says whether something answered. Zero: not asked.
type Reach int

// The ways of answering.
const (
	ReachNotAsked Reach = iota
	ReachOK
	ReachRefused   // nothing listens
	ReachTimeout   // no connection, or no answer within the deadline
	ReachNoBanner  // TCP connects, the SSH banner never comes: a wedged host
	ReachHandshake // closed during the handshake: throttled or dying
	ReachHostKey   // unknown or changed host key
	ReachAuth      // the key was not accepted
	ReachDropped   // the connection broke while a command ran: outcome unknown
	ReachDenied    // Docker: no permission, or no such command for this user
	ReachError     // anything else
	ReachHeld      // left alone by us, since it has not accepted our key a little while ago
)

// Container is what docker inspect says, as far as it matters. StartedAt is compared for
// equality only; ages are computed on the node.
type Container struct {
	ID            string        `json:"id"`
	Made          time.Duration `json:"made,omitempty"` // how long ago it was created, by the node's clock
	Status        string        `json:"status"`         // created running paused restarting removing exited dead
	StartedAt     string        `json:"started_at"`
	Age           time.Duration `json:"age"` // since StartedAt, by the node's clock
	ExitCode      int           `json:"exit_code"`
	Error         string        `json:"error,omitempty"`
	OOMKilled     bool          `json:"oom_killed,omitempty"`
	RestartCount  int           `json:"restart_count"`
	RestartPolicy string        `json:"restart_policy,omitempty"`
	AutoRemove    bool          `json:"auto_remove,omitempty"`
	ImageID       string        `json:"image_id,omitempty"`
	CPU           time.Duration `json:"cpu,omitempty"` // that its processes have used so far; zero: unknown
}

// Start names one start of one container.
func (c Container) Start() string { return c.ID + "@" + c.StartedAt }

// Event is one line of docker events about a container of ours.
type Event struct {
	At     time.Time `json:"at"` // by the node's clock
	ID     string    `json:"id"`
	Action string    `json:"action"`           // stop, destroy, kill, die, start, ...
	Signal string    `json:"signal,omitempty"` // of a kill: TERM, KILL, HUP, ...
}

// Flag is the disarmed file. A file without content, as made by touch, counts.
type Flag struct {
	Present bool      `json:"present,omitempty"`
	Who     string    `json:"who,omitempty"`
	When    time.Time `json:"when,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	Until   time.Time `json:"until,omitzero"` // zero: without end
	Ends    Clock     `json:"ends,omitzero"`  // Until by all clocks of the head; zero: made without them
	Err     string    `json:"err,omitempty"`  // it could not be read: counts as present
}
