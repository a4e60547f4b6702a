package restart

import (
	"context"
	"errors"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

func TestClearance(t *testing.T) {
	m := newMemory(t, 2)
	fresh := func() (*Clearance, watchdog.Clock) {
		c, failures := m.runner().Check(context.Background(), m.order(watchdog.Attempt{}))
		if len(failures) > 0 {
			t.Fatal(failures)
		}
		return c, m.now
	}
	t.Run("works once", func(t *testing.T) {
		c, now := fresh()
		if _, err := c.spend(now, watchdog.Flag{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.spend(now, watchdog.Flag{}); err == nil {
			t.Error("a spent clearance was accepted")
		}
	})
	t.Run("stale after 60 s", func(t *testing.T) {
		c, now := fresh()
		if _, err := c.spend(now.Add(ClearanceLife+time.Second), watchdog.Flag{}); err == nil {
			t.Error("a stale clearance was accepted")
		}
	})
	t.Run("of another boot", func(t *testing.T) {
		c, now := fresh()
		now.BootID = "other"
		if _, err := c.spend(now, watchdog.Flag{}); err == nil {
			t.Error("a clearance of another boot was accepted")
		}
	})
	t.Run("the switch changed", func(t *testing.T) {
		c, now := fresh()
		if _, err := c.spend(now, watchdog.Flag{Present: true}); !errors.Is(err, errSwitch) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("forged", func(t *testing.T) {
		if _, err := (&Clearance{ids: []string{"x"}}).spend(m.now, watchdog.Flag{}); err == nil {
			t.Error("a forged clearance was accepted")
		}
	})
}
