package watchdog

// Decision is what Decide answers.
type Decision struct {
	Next     State
	Action   Action
	Reason   Reason
	Wanted   Action // what the rules wanted before the gate refused it; else Action
	Why      Reason // the rule behind Wanted
	Detail   string // facts of the case for the sentence: "rank 2 (spark3) exited 137"
	Readings Readings
	Clock    string // what people should know of the head's clock; empty: it runs as it should

	Preserve   bool     // save logs though nothing else is done
	EndFlusher bool     // a flusher of ours outlived its boot
	EndFlag    bool     // the disarmed flag has expired: remove it
	Notices    []Notice // what people should hear of this look
}

// Action is what a tick does after deciding. Zero: nothing.
type Action int

// The actions.
const (
	ActNone      Action = iota
	ActLookAgain        // look at the ranks once more before this tick ends
	ActRestart          // run the sequence as a new attempt
	ActLaunch           // the same, asked for by a person on an empty group
	ActResume           // go on with the open attempt
)

// Notice is one thing people should hear.
type Notice struct {
	Kind NoticeKind
	Text string // one sentence
	Key  string // told once per incident; empty: always told
}

// NoticeKind says what a notice is about.
type NoticeKind int

// The kinds of notices.
const (
	NoticeRestart NoticeKind = iota + 1
	NoticeLaunched
	NoticeServing // again, with the downtime
	NoticeRefused
	NoticeGaveUp
	NoticeSetAside // of a damaged database
	NoticePerson   // a stop or start that is not ours was seen
	NoticeTrouble  // anything else worth knowing: busy for long, probe misconfigured
)
