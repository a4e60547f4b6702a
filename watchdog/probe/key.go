package probe

import (
	"strings"

	"cluster-watchdog/watchdog"
)

// key is the API key of one look. The zero key is none.
type key struct {
	secret string
	err    string // why there should be one and is not
}

// readKey reads the key anew: it may have been changed since the last look.
func (p *Prober) readKey() key {
	if p.config.APIKey == nil {
		return key{}
	}
	secret, err := p.config.APIKey()
	if err != nil {
		return key{err: "cannot read the API key: " + clean(err.Error())}
	}
	secret = strings.TrimSpace(secret)
	if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return key{err: "cannot send the API key: it holds control characters; put it on one line of its file"}
	}
	return key{secret: secret}
}

// unread is the outcome of a question that needs a key which is not there.
func (k key) unread() watchdog.HTTP {
	return watchdog.HTTP{Outcome: watchdog.Unreachable, Err: k.err, Fault: watchdog.FaultFile}
}
