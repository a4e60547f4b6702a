package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func memory(n *node, floor string) answer {
	return n.run("settle/memory", map[string]string{"WATCHDOG_MEM_FLOOR": floor, "WATCHDOG_WAIT": "20"})
}

func meminfo(gib int) string {
	return fmt.Sprintf("MemTotal:       125829120 kB\nMemFree:        %d kB\nMemAvailable:   1 kB\n", gib<<20)
}

func TestMemory(t *testing.T) {
	n := newNode(t)
	n.put("meminfo", meminfo(30))
	memory(n, "").passes(t, fmt.Sprintf("memfree=%d\n", 30<<30))
	memory(n, fmt.Sprint(30<<30)).passes(t, fmt.Sprintf("memfree=%d\n", 30<<30))
	got := memory(n, fmt.Sprint(100<<30))
	got.fails(t, "memory is not back: 30 GiB free, 100 GiB needed")
	got.oneLine(t)
	if got.out != fmt.Sprintf("memfree=%d\n", 30<<30) {
		t.Errorf("output %q", got.out)
	}
	n.put("meminfo", "MemTotal: 1 kB\n")
	memory(n, "").fails(t, "cannot tell the free memory")
}

// S05: it comes back minutes after the container has gone.
func TestMemoryComesBack(t *testing.T) {
	n := newNode(t)
	n.put("meminfo", meminfo(30))
	n.put("meminfo-2", meminfo(60))
	n.put("meminfo-4", meminfo(117))
	n.play("on-sleep", `echo x >>"$FAKE/slept"; next=$FAKE/meminfo-$(wc -l <"$FAKE/slept"); [ ! -e "$next" ] || cp "$next" "$FAKE/meminfo"`)
	memory(n, fmt.Sprint(100<<30)).passes(t, fmt.Sprintf("memfree=%d\n", 117<<30))
	if slept := strings.Count(n.got("slept"), "x"); slept != 4 {
		t.Errorf("waited %d times", slept)
	}
}

func TestPorts(t *testing.T) {
	n := newNode(t)
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	n.put("tcp", head+
		"   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 40000 1 0 100 0 0 10 0\n"+ // 8000 listens
		"   1: 0100007F:1F41 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 40001 1 0 100 0 0 10 0\n") // 8001 is a connection
	n.put("tcp6", head+
		"   0: 00000000000000000000000000000000:733C 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 1 1 0 100 0 0 10 0\n") // 29500
	ports := func(list string) answer { return n.run("settle/ports", map[string]string{"WATCHDOG_PORTS": list}) }
	ports("").passes(t, "")
	ports("80 8001").passes(t, "")
	got := ports("8000 80 29500")
	got.fails(t, "ports are taken: 8000 29500;")
	got.oneLine(t)
}

// engine starts a process whose name in the kernel is that of an engine.
func engine(t *testing.T, name string) int {
	t.Helper()
	sleep, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, sleep, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "300")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return c.Process.Pid
}

// E23: an engine that outlived its container holds the memory of the next one.
func TestOrphans(t *testing.T) {
	core, ray := engine(t, "VLLM::EngineCore"), engine(t, "ray::RayWorkerP")
	n := newNode(t)
	n.container(ours, "vllm", "running")
	env := map[string]string{"WATCHDOG_CONTAINER": "vllm"}
	got := n.run("settle/orphans", env)
	got.fails(t, fmt.Sprintf("%d (VLLM::EngineCor)", core), fmt.Sprintf("%d (ray::RayWorkerP)", ray))
	got.oneLine(t)

	// The same processes inside a running container. Which cgroups they are in is the kernel's word.
	n.bin("cat", `case $1 in /proc/*/cgroup) echo "0::/system.slice/docker-`+ours+`.scope" ;; *) exec /bin/cat "$@" ;; esac`)
	n.run("settle/orphans", env).passes(t, "")
	n.put("containers/"+ours+"/status", "exited\n")
	n.run("settle/orphans", env).fails(t, fmt.Sprintf("%d (VLLM::EngineCor)", core))
}

// Words around the list of containers must not pass for ids.
func TestOrphansWithNoise(t *testing.T) {
	engine(t, "sglang::schedule")
	n := newNode(t)
	n.play("docker-ps", "echo 'WARNING: / 0 :: system slice' >&2")
	n.run("settle/orphans", map[string]string{"WATCHDOG_CONTAINER": "vllm"}).fails(t, "(sglang::schedul)")
}

// A launch command that outlived its session may start a container at any moment: nothing is launched
// beside it, neither before the launch is counted nor by the launch itself.
func TestEarlierLaunchStillRuns(t *testing.T) {
	n := newNode(t)
	name, err := os.ReadFile("/proc/sys/kernel/hostname")
	if err != nil {
		t.Fatal(err)
	}
	pid := engine(t, "launcher")
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	mark := filepath.Join(n.home, ".cache/cluster-watchdog", strings.TrimSpace(string(name)), "llm", "launch-vllm.pid")
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, fmt.Appendf(nil, "%d %s 2026-03-01T12:00:00Z\n", pid, strings.Fields(rest)[19]), 0o600); err != nil {
		t.Fatal(err)
	}
	const words = "an earlier launch command still runs, since 2026-03-01T12:00:00Z"
	n.run("settle/orphans", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_GROUP": "llm"}).fails(t, words)
	launch(n, "exit 0", map[string]string{"WATCHDOG_GROUP": "llm"}).fails(t, words)
}
