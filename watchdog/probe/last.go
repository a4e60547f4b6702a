package probe

import (
	"context"

	"cluster-watchdog/watchdog"
)

// Canary asks for one token and nothing else: the last question before a restart.
func (p *Prober) Canary(ctx context.Context) (c watchdog.Canary) {
	ctx, cancel := within(ctx, p.config.Canary)
	defer cancel()
	k := p.readKey()
	if c = p.nameModel(ctx, k); c.Model != "" {
		c = p.canary(ctx, k, c.Model)
	}
	return c
}
