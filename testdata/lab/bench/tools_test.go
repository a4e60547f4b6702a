//go:build lab

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What the benchmarks lay on the head.
const (
	folder  = "/usr/local/lib/lab-bench"
	bash    = folder + "/baseline.sh"
	same    = folder + "/baseline-scripts.sh"
	coster  = folder + "/cost"
	scripts = folder + "/scripts"
)

// tools lays the baselines, the scripts of the nodes and the program that measures on the head.
func tools(b *testing.B) {
	b.Helper()
	on(b, 0, "mkdir -p "+scripts)
	cost := filepath.Join(b.TempDir(), "cost")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", cost, "./cost")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("cannot build cost: %v: %s", err, out)
	}
	for path, from := range map[string]string{bash: "../baseline.sh", same: "../baseline-scripts.sh", coster: cost} {
		content, err := os.ReadFile(from)
		if err != nil {
			b.Fatal(err)
		}
		put(b, content, "cat >"+path+" && chmod 0755 "+path)
	}
	packed, err := exec.Command("tar", "-C", "../../../scripts", "-c", ".").Output()
	if err != nil {
		b.Fatalf("cannot pack the scripts: %v", err)
	}
	put(b, packed, "tar -x --no-same-owner -C "+scripts)
}

// put hands content to a shell command on the head.
func put(b *testing.B, content []byte, command string) {
	b.Helper()
	if _, errs, err := in(0, content, "root", "sh", "-c", command); err != nil {
		b.Fatalf("%s: %v: %s", command, err, errs)
	}
}
