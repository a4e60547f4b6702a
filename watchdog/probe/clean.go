package probe

import (
	"regexp"
	"strings"
	"unicode"
)

// maxWords is how much of what others say is kept.
const maxWords = 200

const redacted = "[redacted]"

// secretLike are shapes of secrets as they show up in messages of servers and tools.
var secretLike = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}`),
	regexp.MustCompile(`\b(?:sk|pk|hf|nvapi|ghp|glpat)[-_][A-Za-z0-9_-]{6,}`),
	regexp.MustCompile(`(?i)[a-z0-9_-]*(?:api[-_ ]?key|access[-_ ]?key|token|secret|password|passwd|pwd)\b["']?\s*[:=]\s*["']?[^\s"',}&]+`),
	regexp.MustCompile(`(?i)--[a-z0-9_-]*(?:api[-_]?key|token|secret|password|passwd)\s+[^\s"',]+`),
	regexp.MustCompile(`://[^/\s@]*@`),
}

// clean makes words of others fit to be stored and shown: one line, no control characters, no
// secrets, short.
func clean(s string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	s = s[:min(len(s), 20*maxWords)] // no need to search through a megabyte
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), notShown), " ")
	for _, like := range secretLike {
		s = like.ReplaceAllString(s, redacted)
	}
	if r := []rune(s); len(r) > maxWords {
		s = string(r[:maxWords-1]) + "…"
	}
	return s
}

// notShown says whether r is a space or something a terminal would act upon, or that could turn
// the order of what is read.
func notShown(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
