package state

import (
	"testing"
	"time"

	"cluster-watchdog/watchdog"

	"go.etcd.io/bbolt"
)

// ids saves attempts of these ages in days, oldest first, one more at age 0, and returns the ids loaded.
func ids(t *testing.T, ages ...int) []int {
	t.Helper()
	s := open(t)
	check(t, s.SaveReset(at(0)))
	inside(t, s, func(tx *bbolt.Tx) error {
		for i, age := range ages {
			text, err := encode(watchdog.Attempt{ID: i + 1, Started: at(-time.Duration(age) * day)})
			if err != nil {
				return err
			}
			if err := bucketAttempts.in(tx).Put(numberKey(uint64(i+1)), text); err != nil {
				return err
			}
		}
		return nil
	})
	next, err := s.NextAttemptID()
	check(t, err)
	same(t, "next id", len(ages)+1, next)
	check(t, s.SaveAttempt(watchdog.Attempt{ID: next, Started: at(0)}))
	var out []int
	for _, a := range load(t, s).Attempts {
		out = append(out, a.ID)
	}
	return out
}

func repeat(n, age int) (ages []int) {
	for range n {
		ages = append(ages, age)
	}
	return ages
}

func TestAttemptsAreForgotten(t *testing.T) {
	rows := []struct {
		name        string
		ages        []int
		first, many int
	}{
		{"few old ones stay", repeat(9, 400), 1, 10},
		{"old ones beyond fifty go", repeat(80, 31), 32, 50},
		{"young ones beyond fifty stay", repeat(80, 29), 1, 81},
		{"only the old ones of many go", append(repeat(40, 31), repeat(60, 5)...), 41, 61},
		{"a start in the future is not old", append(repeat(80, 3), -90), 1, 82},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := ids(t, r.ages...)
			same(t, "first and how many", [2]int{r.first, r.many}, [2]int{got[0], len(got)})
			for i := range got[1:] {
				same(t, "newest last, without holes", got[i]+1, got[i+1])
			}
		})
	}
}

func TestAttemptIsReplaced(t *testing.T) {
	s := open(t)
	a := watchdog.Attempt{ID: 1, Started: at(0)}
	check(t, s.SaveAttempt(a))
	a.Committed, a.Destroy, a.Tries = at(time.Second), []string{"aa", ""}, 1
	check(t, s.SaveAttempt(a))
	same(t, "attempts", []watchdog.Attempt{a}, load(t, s).Attempts)
}
