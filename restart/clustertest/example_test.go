package clustertest_test

import (
	"fmt"
	"os"
	"path/filepath"

	"cluster-watchdog/restart/clustertest"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	programs, err := clustertest.BuildPrograms(dir) // once, in a package's TestMain
	if err != nil {
		panic(err)
	}
	c, err := clustertest.Start(clustertest.Options{Nodes: 4, Dir: filepath.Join(dir, "cluster"), Programs: programs})
	if err != nil {
		panic(err)
	}
	defer c.Close()

	if err := c.StartGroup(); err != nil { // as a person would
		panic(err)
	}
	fmt.Println("serving:", c.Serving())
	if err := c.Crash(2, 134); err != nil { // a die, and nothing else
		panic(err)
	}
	fmt.Println("serving:", c.Serving())

	fault, err := clustertest.ParseFault("docker-hangs:n2:check/docker")
	if err != nil {
		panic(err)
	}
	id := c.Set(fault) // from now on, until Unset
	defer c.Unset(id)
	fmt.Println(c.Nodes[0].Name, clustertest.User, len(c.Calls(0)), len(c.Unknown()))
	// Output:
	// serving: true
	// serving: false
	// n1 ops 0 0
}
