package state

import (
	"slices"
	"strconv"
	"strings"
)

// line writes "key: value" for people and for parseLines. The value stays on its line: control
// characters, and blanks at its ends, are written as Go would quote them.
func line(key, value string) string {
	if value == "" {
		return ""
	}
	quoted := strconv.Quote(value)
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if strings.HasPrefix(text, " ") {
		text = `\x20` + text[1:]
	}
	if strings.HasSuffix(text, " ") {
		text = text[:len(text)-1] + `\x20`
	}
	return key + ": " + text + "\n"
}

// parseLines reads the lines with one of these keys. What else is there, except comments, is
// returned as other, in one line.
func parseLines(text string, keys ...string) (values map[string]string, other string) {
	values = map[string]string{}
	var rest []string
	for l := range strings.Lines(text) {
		key, value, found := strings.Cut(l, ":")
		key = strings.ToLower(strings.TrimSpace(key))
		if found && slices.Contains(keys, key) {
			values[key] = unescape(strings.TrimSpace(value))
		} else if !strings.HasPrefix(key, "#") {
			rest = append(rest, strings.Fields(strings.Map(printable, strings.ToValidUTF8(l, " ")))...)
		}
	}
	return values, strings.Join(rest, " ")
}

// unescape undoes line. What a person wrote by hand may not be an escape; it stays as it is.
func unescape(text string) string {
	plain, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	if err != nil {
		return text
	}
	return plain
}

func printable(r rune) rune {
	if strconv.IsPrint(r) {
		return r
	}
	return ' '
}
