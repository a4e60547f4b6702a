package watchdog

import "testing"

// A look asks about the containers of a launch that no look has seen yet: only then can their stop
// be told.
func TestAskedNamesWhatWasLaunched(t *testing.T) {
	for _, row := range []struct {
		name  string
		state State
		want  string
	}{
		{"nothing was launched", known(Serving), "c1@s"},
		{"launched since the last look", known(Serving, lastLook(-2*m), tried(-80*s, launched("a", "b", "c"))), "b@s"},
		{"launched before the last look", known(Serving, tried(-h, launched("a", "b", "c"))), "c1@s"},
		{"launched, no id came back", known(Serving, lastLook(-2*m), tried(-80*s, launching)), "c1@s"},
	} {
		if got := row.state.Asked()[1].Ran; got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if row.state.Ranks[1].Ran != "c1@s" {
			t.Errorf("%s: the state was changed", row.name)
		}
	}
}
