package watchdog

import (
	"fmt"
	"strings"
)

// misconfigured says what is wrong with our own question and what to change, "" where nothing is
// known to be: an engine that refuses it, or a name, certificate or key that does not fit, proves
// nothing about the engine (E14, E16). An answer in time is never a wedge.
func misconfigured(c Canary) string {
	switch {
	case c.Outcome == Unreachable && c.Fault != FaultNone:
		return fmt.Sprintf("the completion cannot be asked: %s: %s", c.Err, mendFault(c.Fault))
	case c.Outcome != Answered || !refuses(c.Status):
		return ""
	case c.Error == "":
		return fmt.Sprintf("the engine answers %d to the canary: %s", c.Status, mendStatus(c))
	default:
		return fmt.Sprintf("the engine answers %d to the canary (%s): %s", c.Status, c.Error, mendStatus(c))
	}
}

// refuses says whether a status says that the question is wrong. 408 and 499 are of a proxy whose
// patience has ended, and 429 is of a server that has too much to do.
func refuses(status int) bool {
	return status >= 300 && status < 500 && status != 408 && status != 429 && status != 499
}

// misconfiguredKey is what a person is told once by.
func misconfiguredKey(c Canary) string {
	if c.Outcome == Unreachable {
		return fmt.Sprintf("canary fault %d", c.Fault)
	}
	return fmt.Sprintf("canary %d", c.Status)
}

func mendFault(f Fault) string {
	switch f {
	case FaultName:
		return "set server.url to a name or an address that this machine can resolve"
	case FaultTLS:
		return "set the scheme and host of server.url as the server's certificate has them, and server.ca_file to the CA that signed it"
	case FaultFile:
		return "put the file in its place, readable for the user of the service"
	case FaultNoModel:
		return "set server.model"
	case FaultEncoding:
		return "let the proxy at server.url not compress what is not asked to be compressed"
	case FaultTime:
		return "set this machine's clock where that is wrong, see `timedatectl`; else renew the certificate of server.url"
	default:
		return "see server.* in the config"
	}
}

func mendStatus(c Canary) string {
	says := func(words string) bool { return strings.Contains(strings.ToLower(c.Error), words) }
	switch {
	case c.Status < 400:
		return "set server.url to where it redirects; redirects are not followed, they could take the API key elsewhere"
	case says("chat template"):
		return "set server.api to completions, or launch the server with a chat template"
	case c.Status == 401 || c.Status == 403:
		return "put the server's key into server.api_key_file"
	case c.Status == 404 && says("model"):
		return "set server.model to a name that /v1/models lists, or leave it empty"
	case c.Status == 404 || c.Status == 405:
		return "set server.url to the API server, without /v1, and server.api to completions or chat, whichever it has"
	case c.Status == 413:
		return "let the proxy at server.url pass requests of 1 KiB"
	default:
		return "set server.api and server.model as the server wants them"
	}
}

// saysPaused says whether an engine refuses a completion because somebody has paused it.
func saysPaused(c Canary) bool {
	return c.Outcome == Answered && c.Status == 503 && strings.Contains(strings.ToLower(c.Error), "paused")
}

// asleep says how the engine was put to rest by somebody, "" where it says nothing of that (E18).
func (l *look) asleep() string {
	switch {
	case l.o.Sleep == Asleep || l.o.Before.Asleep:
		return "the engine sleeps"
	case l.o.Sleep == SleepPaused, saysPaused(l.o.Canary):
		return "the engine is paused"
	default:
		return ""
	}
}
