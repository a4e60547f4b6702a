package watchdog

import (
	"slices"
	"testing"
	"time"
)

// TestLeaveAloneH13 ticks each minute for two hours at a node that never accepts the key.
func TestLeaveAloneH13(t *testing.T) {
	p := DefaultPolicy()
	p.Config, p.Identity = "c", "i"
	st := State{}
	boot := Clock{Wall: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), BootID: "b"}
	var asked []int
	for minute := range 120 {
		now := boot.Add(time.Duration(minute) * time.Minute)
		o := Observation{At: now, Ranks: []Rank{{Node: "n1", SSH: ReachOK, Docker: ReachOK, Clock: now.Wall}, {Node: "n2", SSH: ReachHeld, Err: "left alone"}}}
		if st.LeaveAlone(p, 0, now) != 0 {
			t.Fatalf("minute %d: a node that answers is left alone", minute)
		}
		if st.LeaveAlone(p, 1, now) == 0 {
			asked = append(asked, minute)
			o.Ranks[1] = Rank{Node: "n2", SSH: ReachAuth, Err: "no"}
		}
		st = Decide(p, st, o).Next
		again := o
		again.RanksOnly = true
		st = Decide(p, st, again).Next
	}
	for i := range asked {
		if i+3 < len(asked) && asked[i+3]-asked[i] < 10 {
			t.Errorf("H13: asked at %v: four times within ten minutes", asked)
		}
		if i > 0 && asked[i]-asked[i-1] > 15 {
			t.Errorf("H13: asked at %v: not for more than 15 minutes", asked)
		}
	}
	if want := []int{0, 2, 6, 14, 29, 44, 59, 74, 89, 104, 119}; !slices.Equal(asked, want) {
		t.Errorf("H13: asked at %v, want %v", asked, want)
	}
}

func TestLeaveAlone(t *testing.T) {
	p := DefaultPolicy()
	p.Config, p.Identity = "c", "i"
	at := Clock{Wall: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Boot: time.Hour, BootID: "b"}
	known := func(times int) State {
		return State{Config: "c", Identity: "i", Ranks: []Known{{Refused: times, RefusedAt: at}}}
	}
	with := func(s State, change func(*State)) State { change(&s); return s }
	rows := []struct {
		name  string
		state State
		rank  int
		now   Clock
		want  time.Duration
	}{
		{"never refused", known(0), 0, at.Add(time.Second), 0},
		{"once", known(1), 0, at.Add(time.Minute), time.Minute},
		{"once, and waited", known(1), 0, at.Add(2 * time.Minute), 0},
		{"twice", known(2), 0, at, 4 * time.Minute},
		{"three times", known(3), 0, at, 8 * time.Minute},
		{"four times", known(4), 0, at, 15 * time.Minute},
		{"very often", known(1 << 40), 0, at, 15 * time.Minute},
		{"another config", with(known(4), func(s *State) { s.Config = "d" }), 0, at, 0},
		{"another identity", with(known(4), func(s *State) { s.Identity = "d" }), 0, at, 0},
		{"another boot, with a clock of long ago", known(4), 0, Clock{Wall: time.Unix(0, 0), BootID: "b2"}, 0},
		{"no such rank", known(4), 1, at, 0},
		{"a jumped wall clock", known(1), 0, Clock{Wall: time.Unix(0, 0), Boot: at.Boot + time.Minute, BootID: "b"}, time.Minute},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := row.state.LeaveAlone(p, row.rank, row.now); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestRefusalsAreForgotten by an answer, and by nothing else.
func TestRefusalsAreForgotten(t *testing.T) {
	p := DefaultPolicy()
	p.Config, p.Identity = "c", "i"
	at := Clock{Wall: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Boot: time.Hour, BootID: "b"}
	for _, row := range []struct {
		reach Reach
		want  int
	}{{ReachOK, 0}, {ReachAuth, 4}, {ReachHeld, 3}, {ReachTimeout, 3}, {ReachHandshake, 3}, {ReachNotAsked, 3}} {
		st := State{Config: "c", Identity: "i", Last: at, Ranks: []Known{{Refused: 3, RefusedAt: at}}}
		next := Decide(p, st, Observation{At: at.Add(time.Minute), Ranks: []Rank{{Node: "n1", SSH: row.reach}}}).Next
		if next.Ranks[0].Refused != row.want {
			t.Errorf("%s: got %d refusals, want %d", row.reach, next.Ranks[0].Refused, row.want)
		}
	}
}
