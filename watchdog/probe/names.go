package probe

import "cluster-watchdog/watchdog"

// field is one thing we want to know of an engine.
type field int

const (
	iterations field = iota + 1
	prompt
	generation
	running
	waiting
)

// series says what a metric's name means.
type series struct {
	engine watchdog.Engine
	field  field
	order  int // of several names for one field the lowest that has a value counts
}

// sleepState is a gauge per engine and way of sleeping, also without vLLM's developer mode.
const sleepState = "vllm:engine_sleep_state"

var prefixes = map[watchdog.Engine][]string{
	watchdog.VLLM:   {"vllm:", "vllm_"},
	watchdog.SGLang: {"sglang:", "sglang_"},
}

// spellings are the names of each field, best first, without their prefix.
//
// vLLM's iteration counter is the _count of a histogram that is itself named …_total (E12). SGLang
// adds to its prompt and generation tokens only when a request ends; what moves while one runs are
// its real-time tokens, and in versions before them its passes.
var spellings = map[watchdog.Engine]map[field][]string{
	watchdog.VLLM: {
		iterations: {"iteration_tokens_total_count", "iteration_tokens_count"},
		prompt:     {"prompt_tokens_total", "prompt_tokens"},
		generation: {"generation_tokens_total", "generation_tokens"},
		running:    {"num_requests_running"},
		waiting:    {"num_requests_waiting"},
	},
	watchdog.SGLang: {
		iterations: {"realtime_tokens_total", "realtime_tokens", "cuda_graph_passes_total", "cuda_graph_passes"},
		prompt:     {"prompt_tokens_total", "prompt_tokens"},
		generation: {"generation_tokens_total", "generation_tokens"},
		running:    {"num_running_reqs"},
		waiting:    {"num_queue_reqs"},
	},
}

// wanted finds a series by its metric's full name.
var wanted = byName()

func byName() map[string]series {
	all := map[string]series{}
	for engine, fields := range spellings {
		for f, names := range fields {
			for i, name := range names {
				for j, prefix := range prefixes[engine] {
					all[prefix+name] = series{engine: engine, field: f, order: i*len(prefixes[engine]) + j}
				}
			}
		}
	}
	return all
}

// gauge says whether f goes up and down: then copies of it must not be added up.
func (f field) gauge() bool { return f == running || f == waiting }

// of returns where e keeps f.
func (f field) of(e *watchdog.EngineCounter) *float64 {
	switch f {
	case iterations:
		return &e.Iterations
	case prompt:
		return &e.Prompt
	case generation:
		return &e.Generation
	case running:
		return &e.Running
	case waiting:
		return &e.Waiting
	default:
		panic("internal error: unknown field")
	}
}
