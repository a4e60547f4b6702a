package fakenode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const testImage = "local/vllm:demo"

// newNode returns a node with nothing on it.
func newNode(t *testing.T) Node {
	t.Helper()
	n := Node{Dir: t.TempDir()}
	if err := n.Create(NewDaemon("n1", 1, testImage)); err != nil {
		t.Fatal(err)
	}
	return n
}

type said struct {
	out, err string
	code     int
}

// play runs one program on the node.
func play(n Node, faults, stdin, name string, args ...string) said {
	env := func(variable string) string {
		return map[string]string{EnvNode: n.Dir, EnvFaults: faults}[variable]
	}
	var out, errOut bytes.Buffer
	code := Main(name, args, env, strings.NewReader(stdin), &out, &errOut)
	return said{out: out.String(), err: errOut.String(), code: code}
}

func onDocker(n Node, args ...string) said { return play(n, "", "", "docker", args...) }

// run starts the container vllm and returns its id.
func run(t *testing.T, n Node, more ...string) string {
	t.Helper()
	args := slices.Concat([]string{"run", "-d", "--name", "vllm", "--network", "host"}, more, []string{testImage, "serve"})
	r := onDocker(n, args...)
	id := strings.TrimSpace(r.out)
	if r.code != 0 || len(id) != 64 || r.err != "" {
		t.Fatalf("got %+v", r)
	}
	return id
}

// TestWords has what a real docker 28.2.2 said, with its exit codes.
func TestWords(t *testing.T) {
	n := newNode(t)
	id := run(t, n)
	gpu := `could not select device driver "" with capabilities: [[gpu]]`
	help := "\n\nRun 'docker run --help' for more information\n"
	for _, tc := range []struct {
		faults, line string
		want         said
	}{
		{"", "inspect x", said{"[]\n", "Error: No such object: x\n", 1}},
		{"", "inspect -f {{.Id}} x", said{"\n", "Error: No such object: x\n", 1}},
		{"", "container inspect x", said{"[]\n", "Error response from daemon: No such container: x\n", 1}},
		{"", "inspect --type container -f {{.Id}} x", said{"\n", "Error response from daemon: No such container: x\n", 1}},
		{"", "image inspect x", said{"[]\n", "Error response from daemon: No such image: x\n", 1}},
		{"", "rm -f x", said{"", "Error response from daemon: No such container: x\n", 0}},
		{"", "rm x", said{"", "Error response from daemon: No such container: x\n", 1}},
		{"", "stop x", said{"", "Error response from daemon: No such container: x\n", 1}},
		{"", "kill x", said{"", "Error response from daemon: No such container: x\n", 1}},
		{"", "logs x", said{"", "Error response from daemon: No such container: x\n", 1}},
		{"", "start x", said{"", "Error response from daemon: No such container: x\nError: failed to start containers: x\n", 1}},
		{"", "rm vllm", said{"", "Error response from daemon: cannot remove container \"/vllm\": container is running: stop the container before removing or force remove\n", 1}},
		{"", "run -d --name vllm " + testImage, said{"", "docker: Error response from daemon: Conflict. The container name \"/vllm\" is already in use by container \"" + id +
			"\". You have to remove (or rename) that container to be able to reuse that name." + help, 125}},
		{"", "inspect -f {{.State.Status}}|{{.Id}}|{{.State.ExitCode}} vllm", said{"running|" + id + "|0\n", "", 0}},
		{"", "inspect -f {{.ID}} " + id[:12], said{id + "\n", "", 0}},
		{"", "image inspect -f {{.Id}} " + testImage, said{"sha256:" + hash("image", testImage) + "\n", "", 0}},
		{"", "ps -aq --no-trunc --filter name=^/vllm$", said{id + "\n", "", 0}},
		{"", "ps -q", said{id[:12] + "\n", "", 0}},
		{"", "ps -a --filter name=vl --format {{.Names}}:{{.State}}", said{"vllm:running\n", "", 0}},
		{"", "ps -a --filter name=^/vl$ --format {{.Names}}", said{"", "", 0}},
		{"", "version --format {{.Server.Version}}", said{"28.2.2\n", "", 0}},
		{"", "info --format {{.ServerVersion}}", said{"28.2.2\n", "", 0}},
		{DockerDenied, "inspect x", said{"[]\n", "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: " +
			"Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.50/inspect\": dial unix /var/run/docker.sock: connect: permission denied\n", 1}},
		{DockerDown, "ps", said{"", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n", 1}},
		{ContainerHangs, "rm -f vllm", said{"", "Error response from daemon: cannot remove container \"/vllm\": could not kill container: " + noExitEvent + "\n", 1}},
		{ContainerHangs, "stop -t 1 vllm", said{"", "Error response from daemon: cannot stop container: vllm: " + noExitEvent + "\n", 1}},
		{ContainerHangs, "kill vllm", said{"", "Error response from daemon: cannot kill container: vllm: " + noExitEvent + "\n", 1}},
		{LaunchFails, "run -d --name other " + testImage, said{hash("container", "1", "n1", "2") + "\n", "docker: Error response from daemon: " + gpu + help, 125}},
		{"", "inspect -f {{.State.Status}} other", said{"created\n", "", 0}},
		{"", "kill other", said{"", "Error response from daemon: cannot kill container: other: container " + hash("container", "1", "n1", "2") + " is not running\n", 1}},
		{ContainerStays, "rm -f other", said{"", "Error response from daemon: removal of container other is already in progress\n", 1}},
		{"", "events --since 9 --until 8", said{"", "Error response from daemon: `since` time (9) cannot be after `until` time (8)\n", 1}},
		{"", "update --restart=no vllm", said{"vllm\n", "", 0}},
	} {
		t.Run(tc.line, func(t *testing.T) {
			if got := play(n, tc.faults, "", "docker", strings.Fields(tc.line)...); got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
	if u := n.Unknown(); len(u) > 0 {
		t.Errorf("unknown: %v", u)
	}
}

func TestUnknownFailsLoudly(t *testing.T) {
	n := newNode(t)
	run(t, n)
	lines := []string{
		"docker", "docker exec vllm ps", "docker ps --size", "docker ps --filter ancestor=x", "docker ps --format table",
		"docker ps --format {{.Nothing}}", "docker logs -f vllm", "docker events --since 1", "docker run --name x " + testImage,
		"docker run -d --name x --bogus " + testImage, "docker inspect --size=1 --type image x", "docker inspect -f {{.Nothing}} vllm",
		"docker rm", "docker kill -s NOPE vllm", "docker image ls", "docker version extra", "docker update vllm",
		"sudo id", "sudo -n /usr/bin/tee /etc/passwd", "sudo /usr/bin/tee /proc/sys/vm/drop_caches",
		"findmnt --bytes", "findmnt -o NOTHING /", "pgrep -f vllm", "pkill vllm",
	}
	for _, line := range lines {
		words := strings.Fields(line)
		r := play(n, "", "", words[0], words[1:]...)
		if r.code != exitUnknown || !strings.Contains(r.err, "fakenode: unknown "+words[0]) {
			t.Errorf("%s: got %+v", line, r)
		}
	}
	if got := len(n.Unknown()); got < len(lines) {
		t.Errorf("%d of %d were noted", got, len(lines))
	}
	if r := play(n, "", "", "curl"); r.code != exitUnknown {
		t.Errorf("an unknown program gave %+v", r)
	}
	if r := play(Node{}, "", "", "docker", "ps"); r.code != exitUnknown || !strings.Contains(r.err, "outside a simulated node") {
		t.Errorf("outside a node: %+v", r)
	}
}

func TestLogs(t *testing.T) {
	n := newNode(t)
	id := run(t, n)
	now := time.Now()
	if err := n.Log(id, now.Add(time.Second), Out("one"), Err("two"), Out("three")); err != nil {
		t.Fatal(err)
	}
	if r := onDocker(n, "logs", "--tail", "2", "vllm"); r.out != "three\n" || r.err != "two\n" {
		t.Errorf("got %+v", r)
	}
	if r := onDocker(n, "logs", "-t", "-n1", id); !strings.HasSuffix(r.out, "Z three\n") {
		t.Errorf("got %+v", r)
	}
	if r := onDocker(n, "logs", "--since", fmt.Sprint(now.Add(time.Second).Unix()), "vllm"); r.out != "one\nthree\n" {
		t.Errorf("got %+v", r)
	}
	if r := onDocker(n, "logs", "--tail", "all", "vllm"); !strings.Contains(r.err, "Loading weights") {
		t.Errorf("got %+v", r)
	}
}

func TestTop(t *testing.T) {
	n := newNode(t)
	id := run(t, n)
	line := strings.Join([]string{"top", id, "-eo", "pid,stat,args"}, " ")
	r := onDocker(n, strings.Fields(line)...)
	if lines := strings.Split(r.out, "\n"); r.code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], "PID  ") || !strings.HasSuffix(lines[1], "serve") {
		t.Errorf("got %+v", r)
	}
	onDocker(n, "kill", "vllm")
	if r := onDocker(n, strings.Fields(line)...); r.code != 1 || !strings.Contains(r.err, "is not running") {
		t.Errorf("got %+v", r)
	}
	if r := onDocker(n, "top", id); r.code != exitUnknown {
		t.Errorf("got %+v", r)
	}
}

func TestInspectIsWhole(t *testing.T) {
	n := newNode(t)
	id := run(t, n, "-e", "HF_TOKEN=secret-value", "--restart=unless-stopped", "--gpus", "all", "-v", "/a:/b", "--label", "x=y")
	var all []map[string]any
	if err := json.Unmarshal([]byte(onDocker(n, "inspect", "vllm").out), &all); err != nil {
		t.Fatal(err)
	}
	c := all[0]
	state, host, config := c["State"].(map[string]any), c["HostConfig"].(map[string]any), c["Config"].(map[string]any)
	if c["Id"] != id || c["Name"] != "/vllm" || state["Running"] != true || state["FinishedAt"] != never {
		t.Errorf("got %v", c)
	}
	if host["RestartPolicy"].(map[string]any)["Name"] != "unless-stopped" || host["AutoRemove"] != false {
		t.Errorf("got %v", host)
	}
	if config["Env"].([]any)[0] != "HF_TOKEN=secret-value" || config["Cmd"].([]any)[0] != "serve" {
		t.Errorf("got %v", config)
	}
}

func TestSameSeedSameIDs(t *testing.T) {
	if a, b := run(t, newNode(t)), run(t, newNode(t)); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

// TestNobodyIsLost: many at once on one node.
func TestNobodyIsLost(t *testing.T) {
	n := newNode(t)
	done := make(chan error)
	const many = 20
	for i := range many {
		go func() {
			done <- n.Change(func(d *Daemon) error {
				_, err := d.Create(Spec{Name: fmt.Sprint("c", i), Image: testImage}, time.Now())
				return err
			})
		}()
	}
	for range many {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	d, err := n.Look()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Containers) != many {
		t.Errorf("%d of %d are there", len(d.Containers), many)
	}
	if left, _ := filepath.Glob(n.Run("docker", "state.json.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
