package clustertest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// BuildPrograms builds the executable that plays the programs of the nodes, for tests: without
// the race detector, since it is started hundreds of times.
func BuildPrograms(dir string) (path string, err error) {
	path = filepath.Join(dir, "fakenode")
	out, err := exec.Command("go", "build", "-o", path, "cluster-watchdog/restart/clustertest/fakenode/cmd").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build the simulated programs: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return path, nil
}
