package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluster-watchdog/scripts"
)

const capturedFolder = "../../testdata/captured"

// playFiles makes this test binary a docker that prints captured outputs: it names their folder.
const playFiles = "PROBE_TEST_PLAY"

// node is what the programs on one node print, by the names of captured files. What is empty is not
// there: no container, no events, an error of docker top, an empty log, no nvidia-smi.
type node struct {
	inspect, events, top, logs, gpu string

	docker string // a shell script in the place of all that
	smi    string // a shell script in the place of nvidia-smi
	err    error  // SSH fails
}

const (
	hangs         = "exec sleep 600" // a docker that does not answer
	enginePattern = "VLLM::|vllm serve"
)

// runs is a node whose rank is well.
var runs = node{inspect: "running-28.2.2", top: "engine-lives-28.2.2"}

// programs are the node's docker and nvidia-smi.
func (n node) programs(t *testing.T) map[string]string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(capturedFolder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"docker": n.docker}
	if n.docker == "" {
		all["docker"] = fmt.Sprintf("export %s='%s' PLAY_inspect='%s' PLAY_events='%s' PLAY_top='%s' PLAY_logs='%s'\nexec '%s' \"$@\"",
			playFiles, folder, n.inspect, n.events, n.top, n.logs, self)
	}
	switch {
	case n.smi != "":
		all["nvidia-smi"] = n.smi
	case n.gpu != "":
		all["nvidia-smi"] = fmt.Sprintf("test \"$1\" = --query-gpu=power.draw,utilization.gpu || exit 9\ncat '%s/nvidia-smi/%s.txt'", folder, n.gpu)
	}
	return all
}

// playedNodes are Nodes that run the real script through a shell.
type playedNodes struct {
	t     *testing.T
	nodes []node
}

func (p playedNodes) Ask(ctx context.Context, rank int, s scripts.Script, env map[string]string) (string, error) {
	if n := p.nodes[rank]; n.err != nil {
		return "", n.err
	}
	return runOnNode(p.t, ctx, s, p.nodes[rank].programs(p.t), env)
}

// playDocker is a docker over captured outputs.
func playDocker(args []string) int {
	file := func(kind, ext string) []byte {
		name := os.Getenv("PLAY_" + kind)
		if name == "" {
			return nil
		}
		b, err := os.ReadFile(filepath.Join(os.Getenv(playFiles), "docker", kind, name+ext))
		if err != nil {
			panic(err)
		}
		return b
	}
	says := func(code int, format string, a ...any) int {
		fmt.Fprintf(os.Stderr, format+"\n", a...)
		return code
	}
	switch {
	case len(args) == 6 && strings.HasPrefix(strings.Join(args, " "), "inspect --type container --format "):
		b := file("inspect", ".json")
		if b == nil {
			fmt.Println()
			return says(1, "Error response from daemon: No such container: %s", args[5])
		}
		var all []json.RawMessage
		if err := json.Unmarshal(b, &all); err != nil {
			panic(err)
		}
		return formatRows(args[4], []string{string(all[0])})
	case len(args) == 7 && args[0] == "events" && args[1] == "--since" && args[3] == "--until" && args[5] == "--format":
		var rows []string
		for line := range strings.Lines(string(file("events", ".jsonl"))) {
			rows = append(rows, strings.ReplaceAll(line, `"timeNano"`, `"TimeNano"`)) // the client's own field
		}
		return formatRows(args[6], rows)
	case len(args) == 4 && args[0] == "top" && args[2] == "-eo" && args[3] == "pid,stat,args":
		b := file("top", ".txt")
		if b == nil {
			return says(1, "Error response from daemon: container %s is not running", args[1])
		}
		os.Stdout.Write(b)
		return 0
	case len(args) == 4 && args[0] == "logs" && args[1] == "--tail" && args[2] == "300":
		os.Stderr.Write(file("logs", ".txt"))
		return 0
	}
	return says(125, "unknown docker command %q", args)
}
