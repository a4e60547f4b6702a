package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"cluster-watchdog/watchdog"
)

// ranks asks all nodes at once, each in one session.
func (p *Prober) ranks(ctx context.Context, q Questions) []watchdog.Rank {
	ctx, cancel := within(ctx, p.config.Ranks)
	defer cancel()
	ranks := make([]watchdog.Rank, len(p.config.Nodes))
	var all sync.WaitGroup
	for i := range ranks {
		all.Go(func() { ranks[i] = p.rank(ctx, i, knownOf(q.Known, i), q.Closely) })
	}
	all.Wait()
	return ranks
}

// rank asks one node of its rank.
func (p *Prober) rank(ctx context.Context, i int, known watchdog.Known, closely bool) watchdog.Rank {
	r := watchdog.Rank{Node: p.config.Nodes[i]}
	name := p.config.containerOf(i)
	out, err := p.nodes.Ask(ctx, i, p.script, map[string]string{
		"WATCHDOG_CONTAINER": name,
		"WATCHDOG_SINCE":     unixTime(known.Clock),
		"WATCHDOG_PROCESS":   p.config.processOf(i),
		"WATCHDOG_CLOSELY":   yesIf(closely),
		"WATCHDOG_SECONDS":   strconv.Itoa(p.scriptSeconds(ctx)),
	})
	if err != nil && cutShort(ctx) {
		r.Err = "the look was cut short"
		return r
	}
	if err != nil {
		r.SSH, r.Err = reachOf(err), clean(err.Error())
		if r.SSH == watchdog.ReachOK { // the node ran the script, and the script failed
			r.Docker = watchdog.ReachError
		}
		return r
	}
	r.SSH = watchdog.ReachOK
	readRank(&r, out, name, known)
	return r
}

// yesIf is how a script is told that something is so.
func yesIf(so bool) string {
	if so {
		return "yes"
	}
	return ""
}

// scriptSeconds returns within how many seconds the script must end, so that its answer comes back in
// time.
func (p *Prober) scriptSeconds(ctx context.Context) int {
	limit := p.config.Script
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)-time.Second)
	}
	return max(1, int(limit.Round(time.Second)/time.Second))
}

// reachOf says how far a failed question got.
func reachOf(err error) watchdog.Reach {
	var e interface{ ReachOf() watchdog.Reach }
	switch {
	case errors.As(err, &e) && e.ReachOf() != watchdog.ReachNotAsked:
		return e.ReachOf()
	case errors.Is(err, context.DeadlineExceeded):
		return watchdog.ReachTimeout
	default:
		return watchdog.ReachError
	}
}

// unixTime returns t as Docker takes it, "" for the zero time.
func unixTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d.%09d", t.Unix(), t.Nanosecond())
}
