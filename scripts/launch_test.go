package scripts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func launch(n *node, command string, more map[string]string) answer {
	env := map[string]string{
		"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_COMMAND": command, "WATCHDOG_RANK": "2", "WATCHDOG_NODE": "n2", "WATCHDOG_ROLE": "worker",
		"WATCHDOG_HEAD_ADDR": "10.0.0.1", "WATCHDOG_TIMEOUT": "60",
	}
	maps.Copy(env, more)
	return n.run("launch/launch", env)
}

// starts is a user's command that starts the container in this status.
func starts(status string) string {
	return fmt.Sprintf(`d=$FAKE/containers/%s; mkdir "$d"; echo vllm >"$d/name"; echo %s >"$d/status"; echo now >"$d/started_at"
echo sha256:12 >"$d/image"; echo 127 >"$d/exit_code"; echo 'exec: no such file' >"$d/error"`, ours, status)
}

func told(status string) string {
	return fmt.Sprintf("id=%s\nstarted_at=now\nstatus=%s\nimage=sha256:12\n", ours, status)
}

func TestLaunchRunsTheUsersCommand(t *testing.T) {
	n := newNode(t)
	got := launch(n, starts("running")+`
echo "$WATCHDOG_RANK $WATCHDOG_NODE $WATCHDOG_ROLE $WATCHDOG_HEAD_ADDR $WATCHDOG_CONTAINER ${LC_ALL:-unset} $HOME" >"$FAKE/env"
cat >>"$FAKE/env"; umask >>"$FAKE/env"; pwd >>"$FAKE/env"; echo noise; echo noise >&2`, nil)
	got.passes(t, told("running"))
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if want := "2 n2 worker 10.0.0.1 vllm unset " + n.home + "\n" + "0022\n" + here + "\n"; n.got("env") != want {
		t.Errorf("got %q, want %q", n.got("env"), want)
	}
}

// The command may hold a token, and everyone on the node can list arguments.
func TestLaunchKeepsTheCommandOutOfArguments(t *testing.T) {
	n := newNode(t)
	launch(n, starts("running")+"\ncat /proc/$$/cmdline /proc/$PPID/cmdline >\"$FAKE/args\" # hush", nil).passes(t, told("running"))
	if args := n.got("args"); !strings.Contains(args, "timeout") || strings.Contains(args, "hush") {
		t.Errorf("arguments are %q", args)
	}
}

// D12: JSON in arguments arrives whole.
func TestLaunchKeepsQuotes(t *testing.T) {
	n := newNode(t)
	command := starts("running") + "\nprintf '%s' '{\"method\":\"mtp\",\"n\":\"$x!\"}' >\"$FAKE/args\""
	launch(n, command, nil).passes(t, told("running"))
	if n.got("args") != `{"method":"mtp","n":"$x!"}` {
		t.Errorf("got %s", n.got("args"))
	}
}

// D12: an id was printed, but nothing runs.
func TestLaunchD12(t *testing.T) {
	for _, status := range []string{"created", "exited"} {
		n := newNode(t)
		got := launch(n, starts(status), nil)
		got.fails(t, "container vllm is "+status+" instead of running", "exit code 127", "exec: no such file")
		if got.out != told(status) {
			t.Errorf("output %q", got.out)
		}
	}
	n := newNode(t)
	launch(n, "echo 0123456789ab", nil).fails(t, "there is no container named vllm")
}

func TestLaunchRefusesATakenName(t *testing.T) {
	n := newNode(t)
	n.container(theirs, "vllm", "exited")
	launch(n, `: >"$FAKE/ran"; touch "$FAKE/ran"`, nil).fails(t, "held by container "+theirs)
	if _, err := os.Stat(filepath.Join(n.fake, "ran")); err == nil {
		t.Error("the command was run")
	}
}

func TestLaunchTellsAFailedCommand(t *testing.T) {
	n := newNode(t)
	got := launch(n, "i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; echo 'no GPU' >&2; exit 125", nil)
	got.fails(t, "fails with exit code 125", "\nline 12\n", "no GPU\n")
	if strings.Contains(got.err, "line 11\n") {
		t.Errorf("more than 20 lines: %s", got.err)
	}
	if !strings.HasPrefix(got.err, "the launch command fails with exit code 125") {
		t.Errorf("the reason does not come first: %s", got.err)
	}

	n = newNode(t) // a container that it started all the same must be known
	got = launch(n, starts("running")+"\nexit 3", nil)
	got.fails(t, "exit code 3")
	if got.out != told("running") {
		t.Errorf("output %q", got.out)
	}
}

func TestLaunchEndsACommandThatHangs(t *testing.T) {
	n := newNode(t)
	defer n.endLeftBehind()
	n.hurry()
	launch(n, "echo begun; "+stuck, nil).fails(t, "did not end within 60 s", "begun")

	n = newNode(t) // it is asked to end before it is made to
	n.hurry()
	launch(n, `trap 'echo asked >"$FAKE/term"; exit 1' TERM; while :; do /bin/sleep 0.1; done`, nil).fails(t, "did not end within 60 s")
	if n.got("term") != "asked\n" {
		t.Error("the command was not asked to end")
	}
}

// A helper that the user's command leaves behind must not hold the session.
func TestLaunchMayLeaveHelpers(t *testing.T) {
	n := newNode(t)
	defer n.endLeftBehind()
	launch(n, starts("running")+"\n/usr/bin/setsid /bin/sleep 300 & echo $! >>\"$FAKE/left-behind\"", nil).passes(t, told("running"))
}

func TestLaunchMakesFolders(t *testing.T) {
	n := newNode(t)
	a, b := filepath.Join(n.fake, "a b", "c"), filepath.Join(n.fake, "d")
	launch(n, starts("running"), map[string]string{"WATCHDOG_DIRS": a + "\n" + b + "\n"}).passes(t, told("running"))
	for _, dir := range []string{a, b} {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v %v", dir, info, err)
		}
	}
	n = newNode(t)
	launch(n, starts("running"), map[string]string{"WATCHDOG_DIRS": n.put("file", "") + "/x"}).fails(t, "cannot make the folders", "Not a directory")
	if n.has(ours) {
		t.Error("launched without its folders")
	}
}

func TestVerify(t *testing.T) {
	n := newNode(t)
	verify := func(id string) answer {
		return n.run("launch/verify", map[string]string{"WATCHDOG_CONTAINER": "vllm", "WATCHDOG_ID": id})
	}
	verify(ours).fails(t, "has gone since its launch")
	n.container(ours, "vllm", "running")
	verify(ours).passes(t, "id="+ours+"\nstarted_at=2026-11-29T11:59:39Z\nstatus=running\nimage=sha256:1234\n")
	verify(theirs).fails(t, "instead of "+theirs, "a person is at work")
	n.put("containers/"+ours+"/status", "exited\n")
	n.put("containers/"+ours+"/error", "OCI runtime\n")
	verify(ours).fails(t, "is exited instead of running", "OCI runtime")
}
