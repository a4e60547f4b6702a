package state

import (
	"testing"
	"time"
)

// People hear of each holder once: another process, or the same one later, is another holder.
func TestToldHolder(t *testing.T) {
	dir := t.TempDir()
	h := Holder{PID: 12, Command: "tick", Since: at(0)}
	same(t, "at first", false, ToldHolder(dir, StateLock, h))
	check(t, SaveToldHolder(dir, StateLock, h))
	same(t, "once told", true, ToldHolder(dir, StateLock, h))
	same(t, "of the other lock", false, ToldHolder(dir, ActingLock, h))
	same(t, "another process", false, ToldHolder(dir, StateLock, Holder{PID: 13, Command: "tick", Since: at(0)}))
	same(t, "the same one later", false, ToldHolder(dir, StateLock, Holder{PID: 12, Command: "tick", Since: at(time.Minute)}))
}
