package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// owner is one config of a head, as its scripts know it.
type owner struct{ group, container, head, stateDir, who string }

var (
	spark = owner{"llm", "vllm", "id-spark", "/var/lib/w", "the head spark (10.0.0.1), armed by anna"}
	other = owner{"llm", "vllm", "id-other", "/var/lib/w", "the head other (10.0.0.9), armed by bert"}
)

// but returns the owner with something else.
func (o owner) but(change func(*owner)) owner { change(&o); return o }

func (o owner) text() string {
	return fmt.Sprintf("group=%s\ncontainer=%s\nhead=%s\nstate_dir=%s\nwho=%s", o.group, o.container, o.head, o.stateDir, o.who)
}

func (o owner) run(n *node, script, takeOver string) answer {
	return n.run(script, map[string]string{"WATCHDOG_GROUP": o.group, "WATCHDOG_CONTAINER": o.container, "WATCHDOG_HEAD_ID": o.head,
		"WATCHDOG_STATE_DIR": o.stateDir, "WATCHDOG_CLAIM": o.text(), "WATCHDOG_TAKE_OVER": takeOver})
}

func (o owner) checks(n *node) answer    { return o.run(n, "check/claim", "") }
func (o owner) claims(n *node) answer    { return o.run(n, "claim/claim", "") }
func (o owner) takesOver(n *node) answer { return o.run(n, "claim/claim", "yes") }

func claimsFolder(t *testing.T, n *node) string {
	t.Helper()
	host, err := os.ReadFile("/proc/sys/kernel/hostname")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(n.home, ".local/state/cluster-watchdog", strings.TrimSpace(string(host)), "claims")
}

// claimed lists the files there, hidden ones too.
func claimed(t *testing.T, n *node) []string {
	t.Helper()
	entries, err := os.ReadDir(claimsFolder(t, n))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// found puts a claim there by hand.
func (n *node) found(file, text string) {
	n.t.Helper()
	path := filepath.Join(claimsFolder(n.t, n), file)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

func TestClaimIsOneFilePerGroup(t *testing.T) {
	n := newNode(t)
	spark.checks(n).passes(t, "claim=none\n")
	if _, err := os.Stat(filepath.Dir(claimsFolder(t, n))); err == nil {
		t.Error("a check made the folder of the claims")
	}
	for range 2 {
		spark.claims(n).passes(t, "")
		spark.checks(n).passes(t, "claim=ours\n")
	}
	if got := claimed(t, n); !slices.Equal(got, []string{"llm"}) {
		t.Errorf("claims = %q", got)
	}
	folder := claimsFolder(t, n)
	for path, mode := range map[string]os.FileMode{folder: 0o700, folder + "/llm": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, mode)
		}
	}
}

// What does not stand against us: others with other names, and what is ours or nobody's.
func TestClaimsBesideOurs(t *testing.T) {
	for _, c := range []struct {
		what, file, text string
		stays            bool
	}{
		{"another group and name of another head", "b", other.but(func(o *owner) { o.group, o.container = "b", "sglang" }).text(), true},
		{"another group and name of this head", "b", spark.but(func(o *owner) { o.group, o.container, o.stateDir = "b", "sglang", "/var/lib/b" }).text(), true},
		{"a name that ours begins with", "ll", other.but(func(o *owner) { o.group, o.container = "ll", "vll" }).text(), true},
		{"an older name of our own group", "old", spark.but(func(o *owner) { o.group = "old" }).text(), false},
		{"an empty one, of a power cut", "llm", "", false},
		{"half of one, without its head", "llm", "group=llm\ncontainer=vllm\n", false},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := newNode(t)
			n.found(c.file, c.text)
			spark.checks(n).passes(t, "claim=none\n")
			spark.claims(n).passes(t, "")
			spark.checks(n).passes(t, "claim=ours\n")
			want := []string{"llm"}
			if c.stays {
				want = append(want, c.file)
			}
			slices.Sort(want)
			if got := claimed(t, n); !slices.Equal(got, want) {
				t.Errorf("claims = %q, want %q", got, want)
			}
		})
	}
}

func TestForeignClaimRefuses(t *testing.T) {
	for _, c := range []struct {
		what  string
		there owner
		words string
	}{
		{"our group, by another head", other.but(func(o *owner) { o.container = "sglang" }), "group llm is claimed by the head other (10.0.0.9), armed by bert"},
		{"our container's name, by another head", other.but(func(o *owner) { o.group = "b" }), "container name vllm is claimed by the head other (10.0.0.9), armed by bert"},
		{"our container's name, by another config of this head", spark.but(func(o *owner) { o.group, o.stateDir = "b", "/var/lib/b" }),
			"container name vllm is claimed by group b of this head, whose state_dir is /var/lib/b (the head spark (10.0.0.1), armed by anna)"},
		{"our group, by another config of this head", spark.but(func(o *owner) { o.stateDir = "/var/lib/b" }),
			"group llm is claimed by group llm of this head, whose state_dir is /var/lib/b (the head spark (10.0.0.1), armed by anna)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := newNode(t)
			c.there.claims(n).passes(t, "")
			before := claimed(t, n)
			for _, got := range []answer{spark.checks(n), spark.claims(n)} {
				got.fails(t, c.words, "`cluster-watchdog arm --take-over`")
				got.oneLine(t)
			}
			c.there.checks(n).passes(t, "claim=ours\n")
			if after := claimed(t, n); !slices.Equal(before, after) {
				t.Errorf("claims were %q, are %q", before, after)
			}

			spark.takesOver(n).passes(t, "replaced="+c.words+"\n")
			spark.checks(n).passes(t, "claim=ours\n")
			if got := claimed(t, n); !slices.Equal(got, []string{"llm"}) {
				t.Errorf("claims = %q", got)
			}
			c.there.checks(n).fails(t, "is claimed by", spark.who)
			spark.takesOver(n).passes(t, "") // again: nobody is left to replace
		})
	}
}

// All who stand against us are told in one sentence, and replaced together.
func TestTwoForeignClaims(t *testing.T) {
	n := newNode(t)
	n.found("llm", other.text())
	n.found("b", other.but(func(o *owner) { o.group, o.who = "b", "the head third" }).text())
	got := spark.checks(n)
	got.fails(t, "container name vllm is claimed by the head third; group llm is claimed by the head other")
	got.oneLine(t)
	if got := spark.takesOver(n); got.exit != 0 || strings.Count(got.out, "replaced=") != 2 {
		t.Errorf("took over: %+v", got)
	}
}

// Of two heads that claim at the same moment one is told that the other was faster, and leaves
// nothing behind.
func TestTwoClaimAtOnce(t *testing.T) {
	for _, c := range []struct {
		what, file string
		rival      owner
	}{
		{"the same group", "llm", other},
		{"another group with the same container", "b", other.but(func(o *owner) { o.group = "b" })},
	} {
		t.Run(c.what, func(t *testing.T) {
			n := newNode(t)
			n.put("rival", c.rival.text())
			// ln is when the rival's claim appears: after we looked.
			n.bin("ln", `cp "$FAKE/rival" "${3%/*}/`+c.file+`"; exec /bin/ln "$@"`)
			spark.claims(n).fails(t, "is claimed by the head other")
			if got := claimed(t, n); !slices.Equal(got, []string{c.file}) {
				t.Errorf("claims = %q", got)
			}
			c.rival.checks(n).passes(t, "claim=ours\n")
		})
	}
}

func TestHeadWithoutMachineID(t *testing.T) {
	nobody := spark.but(func(o *owner) { o.head = "" })
	nobody.checks(newNode(t)).fails(t, "/etc/machine-id is missing or empty", "systemd-machine-id-setup")
}

func TestClaimThatCannotBeWritten(t *testing.T) {
	n := newNode(t)
	if err := os.WriteFile(filepath.Join(n.home, ".local"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	spark.claims(n).fails(t, "cannot make folder")
}

// What one group asks on a node neither waits for nor mixes with what another one asks there.
func TestTwoGroupsAskTheSame(t *testing.T) {
	n := newNode(t)
	outstanding(t, n, "a/sudo", os.Getpid(), birth(t, os.Getpid()))
	n.run("check/sudo", map[string]string{"WATCHDOG_GROUP": "b"}).passes(t, "")
	n.hurry()
	n.run("check/sudo", map[string]string{"WATCHDOG_GROUP": "a"}).fails(t, "sudo does not answer")
}

// Somebody took the group over in the middle of a restart: its next step touches nothing.
func TestTakenOverBeforeAStep(t *testing.T) {
	n := newNode(t)
	n.container(ours, "vllm", "running")
	env := map[string]string{"WATCHDOG_GROUP": spark.group, "WATCHDOG_CONTAINER": spark.container, "WATCHDOG_HEAD_ID": spark.head,
		"WATCHDOG_STATE_DIR": spark.stateDir, "WATCHDOG_ID": ours, "WATCHDOG_STOP_SECONDS": "1", "WATCHDOG_COMMAND": "touch \"$FAKE/launched\"",
		"WATCHDOG_RANK": "0", "WATCHDOG_NODE": "n1", "WATCHDOG_ROLE": "head", "WATCHDOG_HEAD_ADDR": "10.0.0.1", "WATCHDOG_TIMEOUT": "5"}
	spark.claims(n).passes(t, "")
	other.takesOver(n)
	for _, script := range []string{"destroy/remove", "launch/launch"} {
		got := n.run(script, env)
		got.fails(t, "group llm is claimed by the head other", "arm --take-over")
		got.oneLine(t)
	}
	if n.got("calls") != "" || !n.has(ours) {
		t.Errorf("touched: %q", n.got("calls"))
	}
}
