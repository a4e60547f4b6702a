//go:build lab

package accept

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"
)

// status is what the tests read of `status --json`.
type status struct {
	Phase   string `json:"phase"`
	Armed   bool   `json:"armed"`
	Budget  string `json:"budget"`
	Working string `json:"working"`
	Last    struct {
		Sentence string `json:"sentence"`
	} `json:"last"`
	Attempt *struct {
		ID    int    `json:"id"`
		Step  string `json:"step"`
		Error string `json:"error"`
		Why   string `json:"why"`
	} `json:"attempt"`
}

func statusNow(t *testing.T) status {
	t.Helper()
	var s status
	out, err := try(head, "cluster-watchdog status --json")
	if err != nil {
		return s // the node may be rebooting
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("status: %v: %s", err, out)
	}
	return s
}

func phase(t *testing.T, want string, within time.Duration) {
	t.Helper()
	eventually(t, within, "phase "+want, func() bool { return statusNow(t).Phase == want })
}

// mark remembers where the journal stands.
func mark(t *testing.T) string {
	t.Helper()
	return on(t, head, "journalctl -n 0 --show-cursor | sed -n 's/^-- cursor: //p'")
}

// sinceMark is what the watchdog's service has said since.
func sinceMark(cursor string) string {
	out, _ := try(head, "journalctl -u cluster-watchdog --no-pager -o cat --after-cursor='"+cursor+"'")
	return out
}

// said waits until the journal holds the pattern, in this test's time.
func said(t *testing.T, pattern string, within time.Duration) {
	t.Helper()
	saidSince(t, "", pattern, within)
}

func saidSince(t *testing.T, cursor, pattern string, within time.Duration) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	eventually(t, within, "the journal says "+pattern, func() bool {
		if cursor == "" {
			out, _ := try(head, "journalctl -u cluster-watchdog --no-pager -o cat -n 200")
			return re.MatchString(out)
		}
		return re.MatchString(sinceMark(cursor))
	})
}

// never says what must not stand in the journal since the mark.
func never(t *testing.T, cursor, pattern string) {
	t.Helper()
	if m := regexp.MustCompile(pattern).FindString(sinceMark(cursor)); m != "" {
		t.Errorf("the journal says %q", m)
	}
}

// invariant checks what must hold after any story: one container of the name per node at most.
func invariant(t *testing.T) {
	t.Helper()
	for node := range nodes {
		if c := containers(t, node); len(c) > 1 {
			t.Errorf("node%d has %d containers of the name: %v", node+1, len(c), c)
		}
	}
}
