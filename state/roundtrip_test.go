package state

import (
	"math"
	"reflect"
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"pgregory.net/rapid"
)

// any value of the domain that JSON can hold
func made[T any]() *rapid.Generator[T] {
	times := rapid.Custom(func(t *rapid.T) time.Time {
		seconds := rapid.Int64Range(0, 7000*365*24*3600).Draw(t, "seconds")
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
		return time.Unix(seconds, rapid.Int64Range(0, 999999999).Draw(t, "nanos")).In(zone)
	})
	maybe := rapid.OneOf(rapid.Just(time.Time{}), times)
	return rapid.MakeCustom[T](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[time.Time](): maybe.AsAny(),
		reflect.TypeFor[float64]():   rapid.Float64Range(-1, 1e300).AsAny(),
	}})
}

func TestLoadReturnsWhatWasSaved(t *testing.T) {
	s := open(t)
	id := 0
	rapid.Check(t, func(rt *rapid.T) {
		id++
		want := made[watchdog.State]().Draw(rt, "state")
		row := made[Row]().Draw(rt, "row")
		full := made[*watchdog.Observation]().Draw(rt, "full")
		attempt := made[watchdog.Attempt]().Draw(rt, "attempt")
		attempt.ID = id
		want.Arm, want.LastGood = new(watchdog.Arm), new(watchdog.LastGood)
		*want.Arm, *want.LastGood = made[watchdog.Arm]().Draw(rt, "arm"), made[watchdog.LastGood]().Draw(rt, "good")

		check(t, s.SaveLook(want, row, full))
		check(t, s.SaveArm(want.Arm))
		check(t, s.SaveReset(want.Reset))
		check(t, s.SaveLastGood(want.LastGood))
		check(t, s.SaveAttempt(attempt))

		got := load(t, s)
		same(t, "attempt", attempt, got.Attempts[len(got.Attempts)-1])
		want.Attempts = got.Attempts
		same(t, "state", want, got)
		rows, err := s.Rows(1)
		check(t, err)
		row.Deeds = nil
		row.Full, row.Number, row.Age = full != nil, rows[0].Number, rows[0].Age
		same(t, "row", []Row{row}, rows)
		kept, err := s.Observation(row.Number)
		check(t, err)
		same(t, "observation", full, kept)
	})
}

// An engine may report NaN, which JSON cannot hold: it is saved as absent, and the caller's value stays.
func TestSaveLookWithoutNumbers(t *testing.T) {
	s := open(t)
	bad := []watchdog.EngineCounter{{Label: "0", Iterations: math.NaN(), Prompt: math.Inf(1), Generation: math.Inf(-1), Running: 3}}
	good := []watchdog.EngineCounter{{Label: "0", Iterations: -1, Prompt: -1, Generation: -1, Running: 3}}
	next := watchdog.State{Baseline: watchdog.Baseline{Head: "aa", Engines: bad}}
	full := watchdog.Observation{Before: watchdog.Counters{Engines: bad}, After: watchdog.Counters{Engines: bad}}
	check(t, s.SaveLook(next, Row{}, &full))
	same(t, "baseline", good, load(t, s).Baseline.Engines)
	kept, err := s.Observation(1)
	check(t, err)
	same(t, "before", good, kept.Before.Engines)
	same(t, "after", good, kept.After.Engines)
	if !math.IsNaN(bad[0].Iterations) || !math.IsNaN(full.After.Engines[0].Iterations) {
		t.Error("the caller's value was changed")
	}
}
