package probe

import (
	"strconv"
	"strings"
	"time"

	"cluster-watchdog/watchdog"
)

// said is what look.sh printed, by key. What Docker itself may print beside it is not ours.
type said struct {
	lines  map[string][]string
	absent bool
}

func parseSaid(out string) said {
	s := said{lines: map[string][]string{}}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		if line == "absent" {
			s.absent = true
		}
		if key, value, found := strings.Cut(line, "="); found {
			s.lines[key] = append(s.lines[key], value)
		}
	}
	return s
}

// exit returns the exit code of one of the script's calls; false where it was not made.
func (s said) exit(key string) (int, bool) {
	if len(s.lines[key]) != 1 {
		return 0, false
	}
	code, err := strconv.Atoi(s.lines[key][0])
	return code, err == nil
}

// words returns what a call said on stderr.
func (s said) words(key string) string {
	return clean(strings.Join(s.lines[key+"_said"], " "))
}

// readRank fills in what the node's Docker said.
func readRank(r *watchdog.Rank, out, name string, known watchdog.Known) {
	s := parseSaid(out)
	var ok bool
	if r.Clock, ok = parseUnix(s.lines["clock"]); !ok {
		r.Docker, r.Err = watchdog.ReachError, "the script on the node did not print its clock"
		return
	}
	exit, ok := s.exit("inspect")
	switch {
	case !ok:
		r.Docker, r.Err = watchdog.ReachError, "the script on the node did not say how docker inspect ended"
	case s.absent && exit == 1:
		r.Docker = watchdog.ReachOK
	case exit != 0:
		r.Docker, r.Err = dockerReach(exit, s.words("inspect"))
	default:
		r.Container, r.Err = parseContainer(s.lines["container"], name, r.Clock)
		r.Docker = watchdog.ReachOK
		if r.Err != "" {
			r.Docker = watchdog.ReachError
		}
	}
	if r.Docker != watchdog.ReachOK {
		return
	}
	s.readWork(r)
	if known.Clock.IsZero() {
		return
	}
	ids := idsOf(known)
	if r.Container != nil {
		ids = append(ids, r.Container.ID)
	}
	s.readEvents(r, ids)
}

// parseUnix reads the node's clock: seconds, and a fraction where its date has one.
func parseUnix(lines []string) (time.Time, bool) {
	if len(lines) != 1 {
		return time.Time{}, false
	}
	whole, fraction, _ := strings.Cut(lines[0], ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds <= 0 || seconds > 1<<40 || len(fraction) > 9 {
		return time.Time{}, false
	}
	nano := 0
	if fraction != "" {
		n, err := strconv.ParseUint(fraction+strings.Repeat("0", 9-len(fraction)), 10, 32)
		if err != nil {
			return time.Time{}, false
		}
		nano = int(n)
	}
	return time.Unix(seconds, int64(nano)).UTC(), true
}
