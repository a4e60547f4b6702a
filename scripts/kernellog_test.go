package scripts

import (
	"regexp"
	"testing"
)

// Y09: a kernel log that cannot be read must never be told as one without faults. As long as none of our
// scripts reads it, none may count or speak of what stands there.
func TestNoKernelLogIsReadOrToldY09(t *testing.T) {
	reads := regexp.MustCompile(`\bdmesg\b|journalctl[^\n]*(-k|--dmesg)\b|/dev/kmsg|\bXid\b`)
	for _, s := range All() {
		for _, line := range reads.FindAllString(commandsOnly(s.Body()), -1) {
			t.Errorf("%s: %q: say also when it cannot be read", s.Name(), line)
		}
	}
	for _, text := range []string{"dmesg -T | grep -c Xid", "journalctl -b -k", "cat /dev/kmsg"} {
		if !reads.MatchString(text) {
			t.Errorf("passes for no kernel log: %s", text)
		}
	}
}

// commandsOnly leaves out the comments, and the words that send a person there.
func commandsOnly(text string) string {
	return regexp.MustCompile(`(?m)^\s*#.*$|fail "[^\n]*"`).ReplaceAllString(text, "")
}
