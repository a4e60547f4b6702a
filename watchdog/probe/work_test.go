package probe

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// lookAt looks at one played node, which runs, and returns what look.sh printed and what was read.
func lookOnNode(t *testing.T, n node, closely string) (out string, r watchdog.Rank) {
	t.Helper()
	out, err := runOnNode(t, t.Context(), scripts.Get("observe/look"), n.programs(t), map[string]string{
		"WATCHDOG_CONTAINER": name, "WATCHDOG_SINCE": "", "WATCHDOG_PROCESS": enginePattern, "WATCHDOG_CLOSELY": closely, "WATCHDOG_SECONDS": "15",
	})
	if err != nil {
		t.Fatal(err)
	}
	readRank(&r, out, name, watchdog.Known{})
	if r.Docker != watchdog.ReachOK || r.Container == nil {
		t.Fatalf("got %+v from\n%s", r, out)
	}
	return out, r
}

// A boot is seen by the bars in its log, as each engine prints them.
func TestBarsOfBoots(t *testing.T) {
	for _, row := range []struct {
		logs string
		want watchdog.Load
	}{
		{"vllm-0.19.0-loading", watchdog.Load{Shards: 12, ShardsOf: 61}},
		{"vllm-0.19.0-graphs", watchdog.Load{Shards: 61, ShardsOf: 61, Graphs: 7, GraphsOf: 35}},
		{"vllm-0.19.0-worker", watchdog.Load{}},
		{"sglang-0.5.10-graphs", watchdog.Load{Shards: 8, ShardsOf: 8, Graphs: 21, GraphsOf: 52}},
		{"empty", watchdog.Load{}},
	} {
		n := runs
		n.logs = row.logs
		out, r := lookOnNode(t, n, "yes")
		if r.Load != row.want {
			t.Errorf("%s: got %+v from\n%s", row.logs, r.Load, out)
		}
		if strings.Contains(out, "INFO") || len(out) > 3000 {
			t.Errorf("%s: more than the bars leaves the node:\n%s", row.logs, out)
		}
		if _, r := lookOnNode(t, n, ""); r.Load != (watchdog.Load{}) {
			t.Errorf("%s: asked without being told to", row.logs)
		}
	}
}

func TestBars(t *testing.T) {
	for bar, want := range map[string]watchdog.Load{
		"oading safetensors checkpoint shards:  56% Completed | 5/9 [":                    {Shards: 5, ShardsOf: 9},
		"oading pt checkpoint shards: 100% Completed | 2/2 [":                             {Shards: 2, ShardsOf: 2},
		"oading safetensors using Runai Model Streamer:  45% Completed | 100/220 [":       {Shards: 100, ShardsOf: 220},
		"apturing CUDA graphs (mixed prefill-decode, PIECEWISE):   4%|▍         | 3/67 [": {Graphs: 3, GraphsOf: 67},
		"apturing CUDA graph shapes: 100%|██████████| 35/35 [":                            {Graphs: 35, GraphsOf: 35},
		"apturing batches (bs=216 avail_mem=10.30 GB):  40%|████      |21/52 [":           {Graphs: 21, GraphsOf: 52},
		"oading shards:  50% | 9/5 [":                                                     {},
		"oading shards:  50% | -1/5 [":                                                    {},
		"oading shards:  50% | 1/0 [":                                                     {},
		"oading shards":                                                                   {},
		"":                                                                                {},
	} {
		var got watchdog.Load
		if readBar(&got, bar); got != want {
			t.Errorf("%q: got %+v", bar, got)
		}
	}
}

// S08: GPUs are recorded as they say, also what they do not say.
func TestGPUs(t *testing.T) {
	for _, row := range []struct {
		gpu  string
		want []watchdog.GPU
	}{
		{"gb10-580.126", []watchdog.GPU{{Watts: 22.1, Percent: 96}}},
		{"gb10-power-only", []watchdog.GPU{{Watts: 4.55, Percent: -1}}},
		{"two-gpus-570", []watchdog.GPU{{Watts: 288.71, Percent: 97}, {Watts: -1, Percent: -1}}},
		{"no-devices", []watchdog.GPU{{Watts: -1, Percent: -1}}},
		{"", nil},
	} {
		n := runs
		n.gpu = row.gpu
		out, r := lookOnNode(t, n, "yes")
		if diff := cmp.Diff(row.want, r.GPUs); diff != "" || r.GPUErr != "" {
			t.Errorf("%s: %s, error %q, from\n%s", row.gpu, diff, r.GPUErr, out)
		}
	}
	n := runs
	n.smi = "exit 7" // who asks a healthy node's GPU each minute?
	if _, r := lookOnNode(t, n, ""); r.GPUs != nil {
		t.Errorf("asked without being told to: %+v", r.GPUs)
	}
}

// A GPU that is gone hangs whoever asks it, also against KILL: a look goes on without an answer. One
// that waited would wait for an hour.
func TestHangingGPU(t *testing.T) {
	n := runs
	held := filepath.Join(t.TempDir(), "pid")
	n.smi = fmt.Sprintf("trap '' TERM; setsid /bin/sleep 3600 & echo $! >'%s'; wait", held) // holds the output beyond its own death
	t.Cleanup(func() { endHeld(t, held) })
	_, r := lookOnNode(t, n, "yes")
	if len(r.GPUs) != 0 || r.Process != watchdog.Present {
		t.Errorf("got %+v", r)
	}
	n.smi = "echo never"
	programs := n.programs(t)
	programs["ps"] = "echo Dl" // one hangs already
	out, err := runOnNode(t, t.Context(), scripts.Get("observe/look"), programs, map[string]string{
		"WATCHDOG_CONTAINER": name, "WATCHDOG_SINCE": "", "WATCHDOG_CLOSELY": "yes",
	})
	readRank(&r, out, name, watchdog.Known{})
	if err != nil || r.GPUErr != "an earlier nvidia-smi hangs" || strings.Contains(out, "never") {
		t.Errorf("got %q, %v from\n%s", r.GPUErr, err, out)
	}
}

// endHeld ends the process whose id stands in a file.
func endHeld(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	pid, err2 := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("process %d is left behind: %v", pid, err)
	}
}

// The container's own control group tells its CPU time; another's does not.
func TestCPU(t *testing.T) {
	const id = "4f9c1d0a7be2386c5d41f0e9a8b7c6d5e4f3021918273645afbecd0011223344"
	for group, want := range map[string]time.Duration{
		"/system.slice/docker-" + id + ".scope": 90500 * time.Millisecond,
		"/system.slice/ssh.service":             0,
	} {
		programs := runs.programs(t)
		programs["sed"] = fmt.Sprintf(`for last; do :; done
case $last in
/proc/41873/cgroup) exec /bin/sed "$1" "$2" <<end
0::%[1]s
end
;;
/sys/fs/cgroup%[1]s/cpu.stat) exec /bin/sed "$1" "$2" <<end
usage_usec 90500000
user_usec 90000000
end
;;
esac
exec /bin/sed "$@"`, group)
		out, err := runOnNode(t, t.Context(), scripts.Get("observe/look"), programs, map[string]string{
			"WATCHDOG_CONTAINER": name, "WATCHDOG_SINCE": "", "WATCHDOG_CLOSELY": "yes",
		})
		var r watchdog.Rank
		readRank(&r, out, name, watchdog.Known{})
		if err != nil || r.Container == nil || r.Container.CPU != want {
			t.Errorf("%s: got %+v, %v from\n%s", group, r.Container, err, out)
		}
	}
}

// What the engine's command line holds stays on the node; its pattern is a word, whatever it holds.
func TestProcess(t *testing.T) {
	for _, row := range []struct {
		top, pattern string
		want         watchdog.Presence
		problem      bool
	}{
		{"engine-lives-28.2.2", enginePattern, watchdog.Present, false},
		{"engine-lives-28.2.2", "^VLLM::Worker_TP1$", watchdog.Present, false},
		{"engine-lives-28.2.2", "^sleep infinity$", watchdog.Present, false},
		{"engine-lives-28.2.2", "41873|Ssl|PID|COMMAND", watchdog.Absent, false}, // of the command line only
		{"engine-lives-28.2.2", "--speculative-config", watchdog.Present, false}, // no option of grep
		{"engine-lives-28.2.2", `it's $(touch /tmp/x) "quoted"`, watchdog.Absent, false},
		{"engine-gone-28.2.2", "VLLM|vllm", watchdog.Absent, false}, // a zombie is no engine
		{"ray-20.10.24", "ray::IDLE", watchdog.Present, false},
		{"engine-lives-28.2.2", "(", watchdog.PresenceUnknown, true},
		{"", enginePattern, watchdog.PresenceUnknown, true},
		{"engine-lives-28.2.2", "", watchdog.PresenceUnknown, false},
	} {
		n := runs
		n.top = row.top
		out, err := runOnNode(t, t.Context(), scripts.Get("observe/look"), n.programs(t), map[string]string{
			"WATCHDOG_CONTAINER": name, "WATCHDOG_SINCE": "", "WATCHDOG_PROCESS": row.pattern,
		})
		var r watchdog.Rank
		readRank(&r, out, name, watchdog.Known{})
		if err != nil || r.Process != row.want || (r.ProcessErr != "") != row.problem {
			t.Errorf("%s %q: got %v, %q, %v from\n%s", row.top, row.pattern, r.Process, r.ProcessErr, err, out)
		}
		if strings.Contains(out, "hush") {
			t.Errorf("a command line leaves the node:\n%s", out)
		}
	}
}

// Whatever docker top prints, only a list that was understood can say that a process is absent.
func TestProcessWords(t *testing.T) {
	for out, want := range map[string]watchdog.Presence{
		"processes=1/3\ntop=0": watchdog.Present, "processes=0/3\ntop=0": watchdog.Absent,
		"processes=0/0\ntop=0": watchdog.PresenceUnknown, "processes=/3\ntop=0": watchdog.PresenceUnknown,
		"processes=0/3\ntop=1": watchdog.PresenceUnknown, "processes=0/3\ntop=124": watchdog.PresenceUnknown,
		"processes=4/3\ntop=0": watchdog.PresenceUnknown, "processes=0/3\nprocesses=0/3\ntop=0": watchdog.PresenceUnknown,
		"top=0": watchdog.PresenceUnknown, "processes=0/3": watchdog.PresenceUnknown, "processes=-1/3\ntop=0": watchdog.PresenceUnknown,
	} {
		var r watchdog.Rank
		parseSaid(out).readProcess(&r)
		if r.Process != want {
			t.Errorf("%q: got %v", out, r.Process)
		}
	}
}
