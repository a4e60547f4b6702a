package restart

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// How a connection is asked whether its sshd still answers, while a command runs: as ServerAliveInterval
// does for OpenSSH. Most commands end before the first question.
const (
	pulseFirst = time.Second
	pulseEvery = 5 * time.Second
	pulseDoubt = 2 * time.Second // so long without an answer: what ended the wait was the way to the node
	pulseLimit = time.Minute     // so long: the connection is lost, though TCP may not know it yet
)

// pulse tells a node that is cut off or stands still from a command that takes its time.
type pulse struct {
	asked atomic.Pointer[time.Time] // the question that has no answer yet
	lost  chan struct{}             // closed when that lasts too long
}

// feel begins to ask, until ctx ends or the connection does.
func feel(ctx context.Context, client *ssh.Client) *pulse {
	p := &pulse{lost: make(chan struct{})}
	go func() {
		next := time.NewTimer(pulseFirst)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
			}
			now := time.Now()
			p.asked.Store(&now)
			giveUp := time.AfterFunc(pulseLimit, func() { close(p.lost) })
			_, _, err := client.SendRequest("keepalive@openssh.com", true, nil)
			if !giveUp.Stop() || err != nil {
				return
			}
			p.asked.Store(nil)
			next.Reset(pulseEvery)
		}
	}()
	return p
}

// silent is for how long the connection has not answered; 0 where that is no reason for doubt.
func (p *pulse) silent() time.Duration {
	asked := p.asked.Load()
	if asked == nil || time.Since(*asked) < pulseDoubt {
		return 0
	}
	return time.Since(*asked)
}
