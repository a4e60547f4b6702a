package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// flush starts one, which does not outlive a test that fails half-way.
func flush(n *node, seconds string) answer {
	n.t.Cleanup(func() {
		if p, _, _ := strings.Cut(n.own("g%2F1/flusher.pid"), " "); p != "" && strings.Contains(n.environ(p), "FAKE="+n.fake+"\x00") {
			exec.Command("/bin/kill", "-9", "--", "-"+p).Run() // one that has ended is as good
		}
	})
	return n.run("settle/flusher", map[string]string{"WATCHDOG_GROUP": "g/1", "WATCHDOG_FLUSHER_SECONDS": seconds, "WATCHDOG_FLUSHER_EVERY": "60"})
}

func endFlusher(n *node) answer {
	return n.run("settle/endflusher", map[string]string{"WATCHDOG_GROUP": "g/1"})
}

// own returns a file of the user's own folder on the node, empty where there is none.
func (n *node) own(name string) string {
	b, _ := os.ReadFile(filepath.Join(own(n.t, n), name))
	return string(b)
}

func (n *node) environ(pid string) string {
	b, _ := os.ReadFile("/proc/" + pid + "/environ")
	return string(b)
}

// pid reads flusher=PID.
func pid(t *testing.T, a answer) int {
	t.Helper()
	p, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(a.out, "flusher=")))
	if err != nil || a.exit != 0 {
		t.Fatalf("no flusher: %+v", a)
	}
	return p
}

func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// eventually waits for what must come, however slow the machine.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 3000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func TestFlusherDropsBeforeItReturnsAndGoesOn(t *testing.T) {
	n := newNode(t)
	p := pid(t, flush(n, "100000000"))
	if !strings.HasPrefix(n.got("drops"), "3\n") || !strings.HasPrefix(n.got("syncs"), "sync\n") {
		t.Errorf("nothing was dropped before it returned: %q %q", n.got("drops"), n.got("syncs"))
	}
	eventually(t, "a fourth drop and sync", func() bool {
		return strings.Count(n.got("drops"), "3\n") > 3 && strings.Count(n.got("syncs"), "sync\n") > 3
	})
	for fd := range 10 {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", p, fd))
		if err == nil && target != "/dev/null" {
			t.Errorf("it holds descriptor %d: %s", fd, target)
		}
	}
	if session := strings.Fields(read(t, fmt.Sprintf("/proc/%d/stat", p)))[5]; session != strconv.Itoa(p) {
		t.Errorf("it is in session %s of another process", session)
	}
	endFlusher(n).passes(t, fmt.Sprintf("ended=%d\n", p))
	if lives(p) {
		t.Error("it lives on")
	}
	endFlusher(n).passes(t, "ended=none\n")
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFlusherEndsByItself(t *testing.T) {
	n := newNode(t)
	p := pid(t, flush(n, "150")) // 60 + 60 + 30
	eventually(t, "its end", func() bool { return !lives(p) })
	if drops := strings.Count(n.got("drops"), "3\n"); drops > 4 {
		t.Errorf("%d drops", drops)
	}
	endFlusher(n).passes(t, "ended=none\n")
}

func TestFlusherReplacesTheOneBefore(t *testing.T) {
	n := newNode(t)
	first := pid(t, flush(n, "100000000"))
	second := pid(t, flush(n, "100000000"))
	if first == second || lives(first) || !lives(second) {
		t.Errorf("first %d lives %v, second %d lives %v", first, lives(first), second, lives(second))
	}
	endFlusher(n).passes(t, fmt.Sprintf("ended=%d\n", second))
}

// A number written down long ago may belong to anybody by now.
func TestFlusherEndsNobodyElse(t *testing.T) {
	n := newNode(t)
	other := engine(t, "innocent")
	outstanding(t, n, "g%2F1/flusher", other, "1")
	endFlusher(n).passes(t, "ended=none\n")
	p := pid(t, flush(n, "100000000"))
	if !lives(other) {
		t.Error("ended somebody else's process")
	}
	endFlusher(n).passes(t, fmt.Sprintf("ended=%d\n", p))

	empty := filepath.Join(own(t, n), "g%2F1/flusher.pid")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	endFlusher(n).passes(t, "ended=none\n")
}

// S04: a drop that did not happen is a failure, not a detail.
func TestFlusherWithoutSudo(t *testing.T) {
	n := newNode(t)
	n.play("sudo-run", "echo 'sudo: a password is required' >&2; exit 1")
	got := flush(n, "100000000")
	got.fails(t, "cannot drop the page cache", "a password is required")
	got.oneLine(t)
	endFlusher(n).passes(t, "ended=none\n")

	n = newNode(t)
	defer n.endLeftBehind()
	n.play("sudo-run", stuck)
	flush(n, "100000000").fails(t, "cannot drop the page cache")
	endFlusher(n).passes(t, "ended=none\n")
}

// A dead file server hangs sync for ever; that must not stop the drops, nor pile up.
func TestFlusherWithHungSync(t *testing.T) {
	n := newNode(t)
	defer n.endLeftBehind()
	n.bin("sync", `echo x >>"$FAKE/syncs"`+"\n"+stuck)
	p := pid(t, flush(n, "100000000"))
	eventually(t, "a fourth drop", func() bool { return strings.Count(n.got("drops"), "3\n") > 3 })
	if syncs := strings.Count(n.got("syncs"), "x"); syncs > 2 { // one before it returned, one behind
		t.Errorf("%d syncs beside each other", syncs)
	}
	endFlusher(n).passes(t, fmt.Sprintf("ended=%d\n", p))
}

func TestFlusherRefusesNonsense(t *testing.T) {
	n := newNode(t)
	n.run("settle/flusher", map[string]string{"WATCHDOG_GROUP": "g", "WATCHDOG_FLUSHER_SECONDS": "100", "WATCHDOG_FLUSHER_EVERY": "0"}).
		fails(t, "cannot run every 0 s")
}
