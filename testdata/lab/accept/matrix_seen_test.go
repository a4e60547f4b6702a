//go:build lab

package accept

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// entry is what the journal holds of one event of the watchdog, in a word of the matrix.
type entry struct {
	at            time.Time
	word, message string
}

// seen is the story of one cell.
type seen []entry

// words of the events that tell how a restart goes; all others are left out.
var words = map[string]string{
	"refused": "refused", "commit": "commit", "broken": "broken", "launched": "launched", "launch-failed": "launch-failed",
	"recovered": "not-needed", "interrupted": "interrupted", "serving": "serving", "gave-up": "gave-up",
}

// seenSince reads the journal; nothing while the head cannot be asked.
func seenSince(from time.Time) seen {
	out, err := try(head, fmt.Sprintf("journalctl -u cluster-watchdog --no-pager -o json --output-fields=EVENT,REASON,MESSAGE --since @%d", from.Unix()))
	if err != nil {
		return nil
	}
	var all seen
	for line := range strings.Lines(out) {
		var e struct {
			Micros  string `json:"__REALTIME_TIMESTAMP"`
			Event   string `json:"EVENT"`
			Reason  string `json:"REASON"`
			Message any    `json:"MESSAGE"` // a list of bytes where it is not plain text
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		micros, _ := strconv.ParseInt(e.Micros, 10, 64)
		at, message := time.UnixMicro(micros), fmt.Sprint(e.Message)
		word := words[e.Event]
		switch {
		case e.Event == "refused" && strings.Contains(message, "group is down"):
			word = "waits"
		case e.Reason == "a person is at work":
			word = "grace"
		case e.Reason == "armed for another config":
			word = "not-armed"
		}
		if word != "" && at.After(from) {
			all = append(all, entry{at, word, message})
		}
	}
	return all
}

// line is the story in words, each change once, with a bar where the fault was mended.
func (s seen) line(mended time.Time) string {
	var out []string
	last, bar := "", mended.IsZero()
	for _, e := range s {
		if !bar && e.at.After(mended) {
			out, last, bar = append(out, "|"), "", true
		}
		if e.word != last {
			out, last = append(out, e.word), e.word
		}
	}
	if !bar {
		out = append(out, "|")
	}
	return strings.Join(out, " ")
}

func (s seen) has(word string) bool {
	for _, e := range s {
		if e.word == word {
			return true
		}
	}
	return false
}

// refusals are what was said each time that it did not go on.
func (s seen) refusals() string {
	var out []string
	for _, e := range s {
		switch e.word {
		case "refused", "waits":
			out = append(out, e.message)
		}
	}
	return strings.Join(out, "\n")
}
