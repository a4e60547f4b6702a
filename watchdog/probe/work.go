package probe

import (
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

// readWork fills in what the node said of what goes on in a running container.
func (s said) readWork(r *watchdog.Rank) {
	if r.Container == nil || !r.Container.Running() {
		return
	}
	r.Container.CPU = parseCPU(s.lines["cpu"])
	s.readProcess(r)
	for _, bar := range s.lines["log"] {
		readBar(&r.Load, bar)
	}
	for _, line := range s.lines["gpu"] {
		r.GPUs = append(r.GPUs, parseGPU(line))
	}
	r.GPUErr = s.words("gpu")
}

// readProcess reads whether the engine's process is there. Docker's list always holds at least the
// container's first process: one without any line was not understood.
func (s said) readProcess(r *watchdog.Rank) {
	exit, asked := s.exit("top")
	if !asked {
		return
	}
	matching, all := -1, -1
	if lines := s.lines["processes"]; len(lines) == 1 {
		some, total, _ := strings.Cut(lines[0], "/")
		matching, all = number(some), number(total)
	}
	switch {
	case exit == exitTimeout || exit == exitKilled:
		r.ProcessErr = "docker top gave no answer in time"
	case exit != 0:
		r.ProcessErr = clean("docker top: " + s.words("top"))
	case all <= 0 || matching < 0 || matching > all:
		r.ProcessErr = "docker top said nothing that can be read, or the pattern is none"
	case matching == 0:
		r.Process = watchdog.Absent
	default:
		r.Process = watchdog.Present
	}
}

// readBar reads a progress bar, such as "oading safetensors checkpoint shards:  56% Completed | 5/9 [".
func readBar(l *watchdog.Load, bar string) {
	count := strings.TrimSuffix(bar, " [")
	count = count[strings.LastIndexAny(count, " |")+1:]
	done, of, found := strings.Cut(count, "/")
	n, total := number(done), number(of)
	switch {
	case !found || n < 0 || total <= 0 || n > total:
	case strings.HasPrefix(bar, "apturing"):
		l.Graphs, l.GraphsOf = n, total
	case strings.HasPrefix(bar, "oading"):
		l.Shards, l.ShardsOf = n, total
	}
}

// parseGPU reads a line such as "22.10, 96", where a GPU may say [N/A] for either.
func parseGPU(line string) watchdog.GPU {
	watts, percent, _ := strings.Cut(line, ",")
	return watchdog.GPU{Watts: measured(watts, 1e5), Percent: measured(percent, 100)}
}

// measured returns a number that may be there; -1 where it is not.
func measured(s string, most float64) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 0 && v <= most) {
		return -1
	}
	return v
}

// parseCPU reads microseconds; 0 where there are none.
func parseCPU(lines []string) time.Duration {
	if len(lines) != 1 {
		return 0
	}
	return time.Duration(max(0, number(lines[0]))) * time.Microsecond
}

// number returns a count; -1 for what is none.
func number(s string) int {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<52 {
		return -1
	}
	return int(n)
}
