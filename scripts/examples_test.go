package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// Every example is whole: what runs, what the config says, and what to know.
func TestExamplesAreWhole(t *testing.T) {
	for _, launch := range examples(t) {
		for _, file := range []string{"config.yaml", "README.md"} {
			if _, err := Examples.ReadFile(filepath.Join(filepath.Dir(launch), file)); err != nil {
				t.Errorf("%s: %v", launch, err)
			}
		}
	}
}

// launchRank runs an example's launch script with a docker that only tells how it was called: one
// argument a line, those of several lines in quotes.
func launchRank(t *testing.T, example, role, rank string) (args []string, err error) {
	t.Helper()
	bin := t.TempDir()
	for name, text := range map[string]string{
		"docker": `printf '%s\0' "$@"`,
		"ip":     `[ "$*" = "-o route get 10.0.0.10" ] && echo "10.0.0.10 dev eth1 src 10.0.0.12 uid 1000"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/bin/sh", filepath.Join("examples", example, "launch.sh"))
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + t.TempDir(), "WATCHDOG_CONTAINER=box", "WATCHDOG_RANK=" + rank,
		"WATCHDOG_ROLE=" + role, "WATCHDOG_HEAD_ADDR=10.0.0.10"}
	out, err := cmd.Output()
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// What the engines need to find each other, and what the watchdog needs of a container.
func TestExamplesLaunch(t *testing.T) {
	always := []string{"run -d", "--name box", "--restart no", "--init"}
	for _, row := range []struct {
		example, role, rank string
		want                []string
		not                 string
	}{
		{"vllm-nnodes", "head", "0", []string{"--nnodes 4", "--node-rank 0", "--master-addr 10.0.0.10", "--port 8000", "VLLM_HOST_IP=10.0.0.12"}, "--headless"},
		{"vllm-nnodes", "worker", "2", []string{"--nnodes 4", "--node-rank 2", "--master-addr 10.0.0.10", "--headless"}, "--port 8000"},
		{"vllm-ray", "head", "0", []string{"ray start --head ", "exec vllm serve", "--distributed-executor-backend ray", "--tensor-parallel-size 4", "NODES=4", "--port 8000", "VLLM_HOST_IP=10.0.0.12"}, "--block"},
		{"vllm-ray", "worker", "2", []string{"exec ray start --block --address ", "RAY_HEAD=10.0.0.10", "RAY_PORT=6379", "VLLM_HOST_IP=10.0.0.12"}, "vllm serve"},
		{"sglang", "head", "0", []string{"sglang.launch_server", "--nnodes 4", "--node-rank 0", "--dist-init-addr 10.0.0.10:20000", "--enable-metrics", "--host 0.0.0.0"}, "127.0.0.1"},
		{"sglang", "worker", "2", []string{"sglang.launch_server", "--nnodes 4", "--node-rank 2", "--dist-init-addr 10.0.0.10:20000", "--host 127.0.0.1"}, "0.0.0.0"},
	} {
		args, err := launchRank(t, row.example, row.role, row.rank)
		if err != nil {
			t.Errorf("%s %s: %v", row.example, row.role, err)
		}
		line := strings.Join(args, " ")
		for _, want := range append(always, row.want...) {
			if !strings.Contains(line, want) {
				t.Errorf("%s %s lacks %q: %s", row.example, row.role, want, line)
			}
		}
		if strings.Contains(line, row.not) || strings.Contains(line, "--rm") || strings.Contains(line, ":latest") {
			t.Errorf("%s %s has what it must not: %s", row.example, row.role, line)
		}
		insideIsSound(t, row.example+" "+row.role, args)
	}
}

// insideIsSound looks at the script that a container is given, like at any other of ours.
func insideIsSound(t *testing.T, name string, args []string) {
	for i, arg := range args {
		if arg != "-euc" {
			continue
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(args[i+1]), name); err != nil {
			t.Errorf("%s: not POSIX shell: %v", name, err)
		}
		if shellcheck, err := exec.LookPath("shellcheck"); err == nil {
			cmd := exec.Command(shellcheck, "-s", "sh", "-")
			cmd.Stdin = strings.NewReader(args[i+1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s", name, out)
			}
		}
	}
}

func TestExamplesRefuseAnUnknownRole(t *testing.T) {
	for _, launch := range examples(t) {
		example := filepath.Base(filepath.Dir(launch))
		if args, err := launchRank(t, example, "leader", "0"); err == nil || len(strings.Join(args, "")) > 0 {
			t.Errorf("%s launches a leader: %v, %q", example, err, args)
		}
	}
}

// The image and the ports stand in two files of an example; the second must not be forgotten.
func TestExamplesAgreeWithTheirConfigs(t *testing.T) {
	settings := regexp.MustCompile(`(?m)^(image|api_port|master_port|ray_port|init_port)=(\S+)`)
	for _, launch := range examples(t) {
		text, err := os.ReadFile(launch)
		if err != nil {
			t.Fatal(err)
		}
		config, err := os.ReadFile(filepath.Join(filepath.Dir(launch), "config.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found := settings.FindAllSubmatch(text, -1)
		if len(found) != 3 {
			t.Errorf("%s: %d settings found", launch, len(found))
		}
		for _, m := range found {
			if !bytes.Contains(config, m[2]) {
				t.Errorf("%s: the config does not know %s", launch, m[0])
			}
		}
		if nodes := bytes.Count(config, []byte("{name: ")); !bytes.Contains(text, []byte("nodes=4")) || nodes != 4 {
			t.Errorf("%s: %d nodes in the config", launch, nodes)
		}
	}
}
