// Command cmd plays the programs of a simulated node: its first argument says which.
package main

import (
	"fmt"
	"os"

	"cluster-watchdog/restart/clustertest/fakenode"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "fakenode: cannot play a program: none was named")
		os.Exit(125)
	}
	os.Exit(fakenode.Main(os.Args[1], os.Args[2:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
