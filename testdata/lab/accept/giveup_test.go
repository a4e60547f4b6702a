//go:build lab

package accept

import (
	"strings"
	"testing"
)

// The request that kills the server, three times: given up, evidence kept, a person told, and the
// failed group left in place for inspection.
func TestKillingRequest(t *testing.T) {
	leavesTraces() // the evidence must be this group's
	serving(t)
	fault(t, head, "poison")
	for death := 1; death <= 3; death++ {
		from := mark(t)
		on(t, head, `curl -s -m 5 -H 'Content-Type: application/json' -d '{"prompt":"POISON","max_tokens":1,"model":"fake/model"}' http://node1:8000/v1/completions || true`)
		if death < 3 {
			saidSince(t, from, `RESTART launched all ranks`, wedgeWithin)
			saidSince(t, from, `health OK → SERVING`, bootWithin)
			continue
		}
		saidSince(t, from, `→ GIVEN_UP: budget spent: restart 2/2 in (36m|6h)`, wedgeWithin)
	}
	phase(t, "GIVEN_UP", twoTicks)
	if out := on(t, head, "journalctl -t heard --no-pager -o cat -n 20"); !strings.Contains(out, "gave up") {
		t.Errorf("a person heard %q", out)
	}
	if out := on(t, head, "zcat /var/lib/cluster-watchdog/cases/*/rank0-*.logs.gz"); !strings.Contains(out, "EngineDeadError") || strings.Contains(out, "secret-value") {
		t.Errorf("evidence of the head: %q", out)
	}
	failed := ids(t)
	from := mark(t)
	quiet(t, twoTicks)
	never(t, from, `RESTART begin`)
	for rank, id := range ids(t) {
		if id != failed[rank] || id == "" {
			t.Errorf("rank %d of the failed group is gone", rank)
		}
	}
	on(t, head, "cluster-watchdog reset --reason 'bad request found'")
	saidSince(t, from, `RESTART launched all ranks`, deadWithin)
	phase(t, "SERVING", bootWithin)
}
