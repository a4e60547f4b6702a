package restart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog/netfs"
)

// Preserve saves the logs and the inspect of each container it is given ids of, side by side, once
// per incident and container. It is best effort within its limit: evidence precedes destruction,
// but a node that does not answer must not keep the group down. What failed is logged, and tried
// again by the next call.
func (r *Runner) Preserve(ctx context.Context, incident int, ids []string) {
	if !slices.ContainsFunc(ids, func(id string) bool { return id != "" }) {
		return // an empty group leaves no evidence
	}
	if failures := r.localChecks(); len(failures) > 0 { // no restart then either; it must not fill the last of the volume
		r.world.Log.Warn().Str("event", "preserve").Msgf("no logs are preserved: %v", failures[0].Err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, PreserveLimit)
	defer cancel()
	folder := filepath.Join(r.plan.settings.Evidence, CaseName(incident))
	if err := netfs.MakeFolder(folder, 0o700); err != nil {
		r.world.Log.Error().Str("event", "preserve").Msgf("cannot preserve logs: %v: going on without", err)
		return
	}
	var wait sync.WaitGroup
	var whole atomic.Int64
	c := &copying{folder: folder, ids: ids, turns: newTurns(r.plan.settings.Parallel, copyPatience)}
	wanted := 0
	for rank, id := range ids {
		if id == "" {
			continue
		}
		wanted++
		wait.Go(func() {
			began := time.Now()
			complete := true
			for _, s := range r.plan.of(scripts.Preserve) {
				if !s.Runs(r.plan.settings, rank) {
					continue
				}
				complete = r.preserveOne(ctx, c, s, rank) && complete
			}
			var lost error
			if complete {
				whole.Add(1)
			} else {
				lost = errLost
			}
			r.watched(stagePreserve, r.plan.settings.Nodes[rank], began, lost)
		})
	}
	wait.Wait()
	if n := int(whole.Load()); n < wanted {
		r.world.Log.Warn().Str("event", "preserve").Str("folder", folder).Msgf("RESTART logs of %d/%d ranks preserved in %s", n, wanted, folder)
		return
	}
	r.world.Log.Info().Str("event", "preserve").Str("folder", folder).Msgf("RESTART logs preserved in %s", folder)
}

// errLost is for the one who watches; what failed and why is logged.
var errLost = errors.New("its logs were not preserved; going on without")

// preserveOne says whether the output of s is on disk now.
func (r *Runner) preserveOne(ctx context.Context, c *copying, s Step, rank int) bool {
	node := r.plan.settings.Nodes[rank]
	name := fmt.Sprintf("rank%d-%s-%.12s.%s.gz", rank, node, c.ids[rank], filepath.Base(s.Script))
	path := filepath.Join(c.folder, name)
	if _, err := os.Stat(path); err == nil {
		return true
	}
	err := r.stream(ctx, c, path, s, rank)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // an interrupt is told once, for the whole run
		r.world.Log.Warn().Str("event", "preserve").Str("node", node).Str("step", s.Name).
			Msgf("cannot preserve %s of rank %d on %s: %v", filepath.Base(s.Script), rank, node, err)
	}
	return err == nil
}

// stream writes one script's output, redacted and gzipped, and gives it its name only when whole.
// A part that came is kept as .part, it may be all there will ever be.
func (r *Runner) stream(ctx context.Context, c *copying, path string, s Step, rank int) (err error) {
	turn := c.turns.one()
	if err := turn.begin(ctx); err != nil {
		return fmt.Errorf("its turn did not come (ssh.parallel): %w", err)
	}
	defer turn.end()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	f, err := os.OpenFile(path+".part", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	zip := c.zipTo(f)
	defer c.zips.Put(zip)
	clean := newRedactor(zip)
	turn.waits()
	_, err = r.remote.Stream(ctx, rank, scripts.Get(s.Script), r.env(s, rank, Order{Seen: c.ids}), &inTurn{ctx, turn, clean})
	_ = turn.begin(context.WithoutCancel(ctx)) // what came is kept, also when the time is over; a turn always comes
	err = errors.Join(err, clean.Close(), zip.Close(), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
