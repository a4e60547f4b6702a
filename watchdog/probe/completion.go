package probe

import (
	"encoding/json"
	"math"
	"slices"

	"cluster-watchdog/watchdog"
)

// parseCompletion records what the body of a completion holds. No text is asked for: one token of a
// reasoning model has none (E13).
func parseCompletion(c *watchdog.Canary, body []byte, secrets ...string) {
	fields, ok := parseObject(body)
	if !ok {
		parseStream(c, body, secrets...)
		return
	}
	choices, choicesOK := parseChoices(fields["choices"])
	tokens, tokensOK := parseTokens(fields["usage"])
	c.WellFormed = choicesOK && tokensOK && (choices != nil || tokens != nil)
	c.Choices = len(choices)
	if len(choices) > 0 {
		c.Finish = clean(text(choices[0]["finish_reason"]), secrets...)
	}
	if tokens != nil {
		c.Tokens = int(min(max(*tokens, 0), math.MaxInt32))
	}
	c.Error = clean(engineError(fields, choices != nil), secrets...)
}

func parseObject(body []byte) (map[string]json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(body, &fields)
	return fields, err == nil && fields != nil
}

// parseChoices returns the choices, nil where there is no such field; ok is false where they are
// no list of objects.
func parseChoices(raw json.RawMessage) (choices []map[string]json.RawMessage, ok bool) {
	if absent(raw) {
		return nil, true
	}
	if json.Unmarshal(raw, &choices) != nil || slices.ContainsFunc(choices, func(c map[string]json.RawMessage) bool { return c == nil }) {
		return nil, false
	}
	return choices, true
}

// parseTokens returns usage.completion_tokens, nil where there is no such field.
func parseTokens(raw json.RawMessage) (tokens *float64, ok bool) {
	var usage struct {
		Tokens *float64 `json:"completion_tokens"`
	}
	if absent(raw) {
		return nil, true
	}
	err := json.Unmarshal(raw, &usage)
	return usage.Tokens, err == nil
}

// engineError returns the engine's own message: {"error":{"message":…}}, {"error":"…"}, and, where
// no choices came, a message or detail at the top.
func engineError(fields map[string]json.RawMessage, served bool) string {
	if raw := fields["error"]; !absent(raw) && string(raw) != "false" && string(raw) != `""` {
		return errorText(raw)
	}
	if served {
		return ""
	}
	for _, name := range []string{"message", "detail"} {
		if raw := fields[name]; !absent(raw) {
			return errorText(raw)
		}
	}
	return ""
}

// errorText returns the message inside raw, or raw itself where it has another shape.
func errorText(raw json.RawMessage) string {
	if s := text(raw); s != "" {
		return s
	}
	if fields, ok := parseObject(raw); ok {
		for _, name := range []string{"message", "code", "type"} {
			if s := text(fields[name]); s != "" {
				return s
			}
		}
	}
	return string(raw)
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// text returns the string that raw is, else "".
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
