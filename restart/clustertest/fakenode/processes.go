package fakenode

import (
	"bytes"
	"os"
	"strings"
)

// elsewhere refuses a program that would see the processes of the whole machine, which is more
// than this node.
func elsewhere(w *world) int { return w.unknown(strings.Join(w.args, " ")) }

// Owns reports whether a process of the machine was started on this node.
func (n Node) Owns(pid string) bool {
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+EnvNode+"="+n.Dir+"\x00"))
}
