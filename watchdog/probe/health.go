package probe

import (
	"context"
	"net/http"

	"cluster-watchdog/watchdog"
)

// health asks the engine what it says of itself. It needs no key.
func (p *Prober) health(ctx context.Context) watchdog.HTTP {
	ctx, cancel := within(ctx, p.config.Health)
	defer cancel()
	return p.ask(ctx, question{method: http.MethodGet, url: p.engine + "/health", accept: "*/*"}).HTTP
}
