package fakenode

import (
	"fmt"
	"strings"
)

// dockerTop lists the processes of a container as the daemon does: what ps says of them, its columns
// made even. A container of ours has one.
func dockerTop(w *world, args []string) int {
	if len(args) != 3 || args[1] != "-eo" || args[2] != "pid,stat,args" {
		return w.unknown("top " + strings.Join(args, " "))
	}
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	c, err := d.Find(args[0])
	if err == nil && !c.running() {
		err = fmt.Errorf("container %s is not running", c.ID)
	}
	if err != nil {
		w.daemonError(err)
		return 1
	}
	fmt.Fprintf(w.stdout, "%-20s%-20s%s\n", "PID", "STAT", "COMMAND")
	fmt.Fprintf(w.stdout, "%-20d%-20s%s\n", c.State.Pid, "Ssl", strings.TrimSpace(c.Path+" "+strings.Join(c.Args, " ")))
	return 0
}
