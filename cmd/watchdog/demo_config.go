package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"cluster-watchdog/restart/clustertest"
	"cluster-watchdog/watchdog"
)

// demoGap is not made shorter: the deadlines of SSH are real, and a look at a silent node takes 20 s.
const demoGap = 2 * time.Minute

// demoConfig writes the config of the simulated cluster, with all windows made shorter.
func demoConfig(c *clustertest.Cluster, dir string) []byte {
	var b strings.Builder
	p := watchdog.DefaultPolicy()
	fast := func(d time.Duration) time.Duration { return d / demoSpeed }
	rule := func(r watchdog.Rule) string {
		return fmt.Sprintf("{looks: %d, apart: %s, over: %s}", r.Looks, fast(r.Apart), fast(r.Over))
	}
	fmt.Fprintf(&b, "group: demo\ncontainer: %s\nnodes:\n", clustertest.Container)
	for _, n := range c.Nodes {
		fmt.Fprintf(&b, "  - {name: %s, address: '%s:%d'}\n", n.Name, n.Host, n.Port)
	}
	fmt.Fprintf(&b, "ssh: {user: %s, keys: ['%s'], known_hosts: '%s'}\n", clustertest.User, c.KeyFile, c.KnownHostsFile)
	fmt.Fprintf(&b, "server: {url: '%s', canary_timeout: 1s}\n", c.BaseURL)
	fmt.Fprintf(&b, "launch: {command: 'sh ~/launch.sh \"$WATCHDOG_RANK\"', timeout: 20s, image: '%s', stop_seconds: 1}\n", clustertest.Image)
	fmt.Fprintf(&b, "checks: {mounts: [{path: '%s', sentinel: '%s'}], disk: [{path: /, min_free: 1MiB}], state_min_free: 1MiB}\n",
		c.Mount, filepath.Join(c.Mount, clustertest.Sentinel))
	fmt.Fprintf(&b, "settle: {memory_floor: 64GiB, memory_wait: 5s, flusher_every: 1s}\n")
	fmt.Fprintf(&b, "judge:\n  gap: %s\n  strike_void: %s\n  baseline: %s\n  boot_limit: %s\n  rank_appears: %s\n  stale_worker: %s\n  grace: %s\n  kill_to_die: %s\n  early_death: %s\n  busy_told: %s\n",
		demoGap, demoGap, fast(p.Baseline), fast(p.BootLimit), fast(p.RankAppears), fast(p.StaleWorker), fast(p.Grace),
		fast(p.KillToDie), fast(p.EarlyDeath), fast(p.BusyTold))
	fmt.Fprintf(&b, "  dead: %s\n  engine_dead: %s\n  no_progress: %s\n  no_progress_blind: %s\n  boot_over: %s\n",
		rule(p.Dead), rule(p.EngineDead), rule(p.NoProgress), rule(p.NoProgressBlind), rule(p.BootOver))
	fmt.Fprintf(&b, "budget: {attempts: %d, window: %s, pause: %s}\n", p.BudgetCount, fast(p.BudgetWindow), fast(p.Pause))
	fmt.Fprintf(&b, "state_dir: '%s'\nacting_lock: '%s'\nperiod: %s\n", filepath.Join(dir, "state"), filepath.Join(dir, "acting", "lock"), time.Minute/demoSpeed)
	return []byte(b.String())
}
