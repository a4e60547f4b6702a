package main

import (
	"context"
	"time"

	"cluster-watchdog/state"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

// memory is what is known from one run to the next. *state.Store is one.
type memory interface {
	Load() (watchdog.State, error)
	Rows(n int) ([]state.Row, error)
	Record(d state.Deed) error
	NextAttemptID() (int, error)
	SaveLook(next watchdog.State, row state.Row, full *watchdog.Observation) error
	SaveTold(told []string) error
	SaveLastGood(good *watchdog.LastGood) error
	SaveAttempt(a watchdog.Attempt) error
	SaveArm(arm *watchdog.Arm) error
	SaveReset(at watchdog.Clock) error
	SetAside(now time.Time, why string) (newPath string, err error)
}

// looker sees what there is. *probe.Prober is one.
type looker interface {
	Look(ctx context.Context, q probe.Questions) watchdog.Observation
	LookAtRanks(ctx context.Context, q probe.Questions) watchdog.Observation
	Canary(ctx context.Context) watchdog.Canary
}
