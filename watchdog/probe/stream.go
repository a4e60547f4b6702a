package probe

import (
	"bytes"
	"encoding/json"
	"math"

	"cluster-watchdog/watchdog"
)

// parseStream records what a stream of events holds: a completion in pieces, from a server that
// streams without being asked, or only streams. It counts only when it has come to its end, and an
// error in any of its events is one of the whole (E17).
func parseStream(c *watchdog.Canary, body []byte, secrets ...string) {
	var ended, broken, seen bool
	for line := range bytes.Lines(body) {
		data, found := bytes.CutPrefix(line, []byte("data:"))
		if !found {
			continue // comments that keep the connection alive, names, empty lines
		}
		data = bytes.TrimSpace(data)
		if string(data) == "[DONE]" {
			ended = true
			continue
		}
		fields, ok := parseObject(data)
		if !ok {
			broken = true
			continue
		}
		if s := engineError(fields, true); s != "" {
			*c = watchdog.Canary{HTTP: c.HTTP, Model: c.Model, Error: clean(s, secrets...)}
			return
		}
		seen = true
		broken = !parsePiece(c, fields, secrets...) || broken
	}
	c.WellFormed = seen && !broken && (ended || c.Finish != "")
}

// parsePiece adds one event of a stream.
func parsePiece(c *watchdog.Canary, fields map[string]json.RawMessage, secrets ...string) bool {
	choices, ok := parseChoices(fields["choices"])
	tokens, tokensOK := parseTokens(fields["usage"])
	c.Choices = max(c.Choices, len(choices))
	if len(choices) > 0 {
		if finish := text(choices[0]["finish_reason"]); finish != "" {
			c.Finish = clean(finish, secrets...)
		}
	}
	if tokens != nil {
		c.Tokens = int(min(max(*tokens, 0), math.MaxInt32))
	}
	return ok && tokensOK
}
