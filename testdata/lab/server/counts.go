package main

import (
	"math"
	"time"
)

// What a second of work for others moves.
const (
	stepsASecond  = 25
	tokensASecond = 100
)

// Requests of others, as the gauges show them.
const (
	othersRunning = 4 // busy
	othersStuck   = 2 // wedge
	othersWaiting = 3 // wedge-waiting
)

// counts are what the engine has counted since its start.
type counts struct {
	prompt, generation, iterations float64
	served                         int
	held                           int // requests that wait for their answer
	at                             time.Time
}

// advance adds what was done since the last time.
func (c *counts) advance(now time.Time, m mood) {
	passed := now.Sub(c.at).Seconds()
	first := c.at.IsZero()
	c.at = now
	if first || !(m == crowded || m == laggard && c.held > 0) {
		return
	}
	c.iterations += passed * stepsASecond
	c.generation += passed * tokensASecond
}

// whole is what others see of the counters: no half steps, no half tokens.
func (c counts) whole() counts {
	c.prompt, c.generation, c.iterations = math.Floor(c.prompt), math.Floor(c.generation), math.Floor(c.iterations)
	return c
}

// serve counts one request that was answered.
func (c *counts) serve(promptTokens, tokens int) {
	c.served++
	c.prompt += float64(promptTokens)
	c.generation += float64(tokens)
	c.iterations += float64(tokens)
}

// running and waiting are the gauges: what is here, and in some moods what others have sent.
func (c *counts) running(m mood) int {
	switch m {
	case crowded:
		return othersRunning + c.held
	case hung:
		return othersStuck + c.held
	case queueing:
		return 0
	default:
		return c.held
	}
}

func (c *counts) waiting(m mood) int {
	if m == queueing {
		return othersWaiting + c.held
	}
	return 0
}
