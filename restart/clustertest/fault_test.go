package clustertest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/scripts"
)

// forget forgets what was refused as unknown: the test wanted it.
func forget(t *testing.T, c *Cluster, rank int) {
	t.Helper()
	if err := os.Remove(filepath.Join(c.NodeDir(rank), "run", "unknown")); err != nil {
		t.Error(err)
	}
}

// runScript sends a script of ours as the watchdog does.
func runScript(cl *ssh.Client, name string, env map[string]string) (result, error) {
	const fence = "fence"
	sent, err := scripts.Render(scripts.Get(name), fence, env)
	if err != nil {
		return result{}, err
	}
	r, err := try(cl, "exec /bin/sh -s", string(sent))
	r.out, _, _ = scripts.Inside(fence, []byte(r.out))
	return r, err
}

// TestFaultsOfPrograms: what each fault looks like to the scripts, on the node it is meant for
// and on no other.
func TestFaultsOfPrograms(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 2 })
	mount := map[string]string{"WATCHDOG_MOUNT": c.Mount, "WATCHDOG_FSTYPE": "nfs", "WATCHDOG_SENTINEL": Sentinel}
	disk := map[string]string{"WATCHDOG_DISK_PATH": c.Mount, "WATCHDOG_DISK_MIN": "1"}
	memory := map[string]string{"WATCHDOG_MEM_FLOOR": fmt.Sprint(100 << 30), "WATCHDOG_WAIT": "0"}
	for _, tc := range []struct {
		kind   FaultKind
		script string
		env    map[string]string
		want   string
	}{
		{DockerDenied, "check/docker", nil, "permission denied"},
		{DockerDown, "check/docker", nil, "daemon is not running"},
		{MountAbsent, "check/mount", mount, "not a mount point"},
		{MountStale, "check/mount", mount, "Stale file handle"},
		{NoSudo, "check/sudo", nil, "a password is required"},
		{DiskFull, "check/disk", disk, "too full"},
		{MemoryShort, "settle/memory", memory, "memory is not back"},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			id := c.Set(Fault{Kind: tc.kind, Node: 1, Step: tc.script})
			t.Cleanup(func() { c.Unset(id) })
			for rank, want := range []int{0, 1} {
				r, err := runScript(client(t, c, rank), tc.script, tc.env)
				if err != nil || r.code != want {
					t.Errorf("rank %d: %+v, %v", rank, r, err)
				}
				if rank == 1 && !strings.Contains(r.err, tc.want) {
					t.Errorf("got %q, want %q", r.err, tc.want)
				}
			}
			c.Unset(id)
			if r, err := runScript(client(t, c, 1), tc.script, tc.env); err != nil || r.code != 0 {
				t.Errorf("without the fault: %+v, %v", r, err)
			}
		})
	}
}

func TestHangs(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 1 })
	for _, tc := range []struct{ kind, command, want string }{
		{string(DockerHangs), "timeout 0.1 docker ps; echo $?", "124\n"},
		{string(MountHangs), "head -c 1 -- " + c.Mount + "/" + Sentinel + ` >out 2>&1 & pid=$!
			until grep -Eq '^SigIgn:.*[4-7c-f][0-9a-f]{3}$' /proc/$pid/status; do sleep 0.01; done
			kill $pid; kill -0 $pid && echo lives on; kill -9 $pid`, "lives on\n"},
		{string(MountHangs), "head -c 4 -- /etc/passwd", "root"},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			id := c.Set(Fault{Kind: FaultKind(tc.kind), Node: AnyNode})
			defer c.Unset(id)
			if r := ask(t, c, 0, tc.command, ""); r.out != tc.want {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestFaultsOfContainers: D01, D02, D12 and a container that dies at once, through our scripts.
func TestFaultsOfContainers(t *testing.T) {
	launch := map[string]string{
		"WATCHDOG_CONTAINER": Container, "WATCHDOG_COMMAND": `bash ~/launch.sh "$WATCHDOG_RANK"`, "WATCHDOG_RANK": "0",
		"WATCHDOG_NODE": "n1", "WATCHDOG_ROLE": "head", "WATCHDOG_HEAD_ADDR": "127.0.0.1", "WATCHDOG_TIMEOUT": "20",
	}
	for _, tc := range []struct {
		kind         FaultKind
		script       string
		code         int
		want, status string
	}{
		{ContainerExits, "launch/launch", 1, "is exited instead of running, exit code 1", "exited"},
		{LaunchFails, "launch/launch", 1, "could not select device driver", "created"},
		{ContainerHangs, "destroy/remove", 1, "did not receive an exit event", "running"},
		{ContainerLingers, "destroy/remove", 0, "", "removing"},
	} {
		t.Run(string(tc.kind), func(t *testing.T) {
			c := start(t, func(o *Options) { o.Nodes = 1 })
			env := launch
			if strings.HasPrefix(tc.script, "destroy") {
				if err := c.StartGroup(); err != nil {
					t.Fatal(err)
				}
				d, err := c.Docker(0)
				if err != nil {
					t.Fatal(err)
				}
				env = map[string]string{"WATCHDOG_CONTAINER": Container, "WATCHDOG_ID": d.Containers[0].ID, "WATCHDOG_STOP_SECONDS": "1"}
			}
			c.Set(Fault{Kind: tc.kind, Node: 0})
			r, err := runScript(client(t, c, 0), tc.script, env)
			if err != nil || r.code != tc.code || !strings.Contains(r.err, tc.want) {
				t.Errorf("got %+v, %v", r, err)
			}
			d, err := c.Docker(0)
			if err != nil {
				t.Fatal(err)
			}
			if tc.kind == ContainerLingers {
				eventually(t, "it is gone", func() bool { return gone(t, c) })
				return
			}
			if got := d.Containers[0].State.Status; got != tc.status {
				t.Errorf("it is %s", got)
			}
		})
	}
}

func gone(t *testing.T, c *Cluster) bool {
	t.Helper()
	d, err := c.Docker(0)
	if err != nil {
		t.Fatal(err)
	}
	return len(d.Containers) == 0
}

func TestFaultsOfConnections(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 2 })
	id := c.Set(Fault{Kind: SSHDRefuses, Node: 1})
	if _, err := dial(c, 1); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	client(t, c, 0)
	c.Unset(id)
	client(t, c, 1)

	id = c.Set(Fault{Kind: SSHDSilent, Node: 1})
	conn, err := net.Dial("tcp", address(c, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	c.Unset(id)
	client(t, c, 1)
}

func TestReach(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 1 })
	cl := client(t, c, 0)
	c.ReachOff(0)
	if _, err := try(cl, "true", ""); err == nil {
		t.Error("an old connection lives on")
	}
	if _, err := dial(c, 0); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	c.ReachOff(0) // twice is once
	c.ReachOn(0)
	client(t, c, 0)
}

// TestDrops: H08, with the two ways it may have gone on the node.
func TestDrops(t *testing.T) {
	for kind, ran := range map[FaultKind]bool{SSHDDrops: true, SSHDDropsEarly: false} {
		t.Run(string(kind), func(t *testing.T) {
			c := start(t, func(o *Options) { o.Nodes = 1 })
			c.Set(Fault{Kind: kind, Node: 0})
			r, err := try(client(t, c, 0), "touch ran; echo 1234", "")
			var missing *ssh.ExitMissingError
			if !errors.As(err, &missing) && !errors.Is(err, io.EOF) {
				t.Errorf("got %+v, %v", r, err)
			}
			if strings.Contains(r.out, "4") {
				t.Errorf("the whole answer came: %q", r.out)
			}
			_, err = os.Stat(filepath.Join(c.NodeDir(0), "home", "ran"))
			if (err == nil) != ran {
				t.Errorf("the command ran: %v", err == nil)
			}
		})
	}
}

// TestStepsAreRecognised: every script of ours is known by its text, sent as it is sent.
func TestStepsAreRecognised(t *testing.T) {
	for _, s := range scripts.All() {
		sent, err := scripts.Render(s, scripts.NewFence(), map[string]string{"WATCHDOG_ID": "x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := recognise(string(sent)); got != s.Name() {
			t.Errorf("%s is taken for %q", s.Name(), got)
		}
	}
	if got := recognise("docker ps"); got != "" {
		t.Errorf("a command is taken for %q", got)
	}
}

func TestFaultFitsItsCall(t *testing.T) {
	f := NewTable(1, 3)
	for _, x := range []Fault{
		{Kind: DockerHangs, Node: 1, Step: "check/docker"},
		{Kind: NoSudo, Node: AnyNode, From: 2, To: 3},
		{Kind: DiskFull, Node: 0, After: time.Minute, Until: time.Hour},
		{Kind: SSHDSilent, Node: 2},
	} {
		if _, err := f.Set(x); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		step         string
		node, number int
		at           time.Duration
		want         []FaultKind
	}{
		{"check/docker", 1, 1, 0, []FaultKind{DockerHangs}},
		{"check/docker", 0, 1, 0, nil},
		{"check/sudo", 1, 1, 0, nil},
		{"check/sudo", 1, 2, 0, []FaultKind{NoSudo}},
		{"check/docker", 1, 3, 0, []FaultKind{DockerHangs, NoSudo}},
		{"check/sudo", 2, 4, 0, nil},
		{"", 0, 1, time.Minute, []FaultKind{DiskFull}},
		{"", 0, 1, time.Hour, nil},
		{connection, 2, 1, 0, []FaultKind{SSHDSilent}},
		{connection, 1, 2, 0, nil},
	} {
		if got := f.hits(tc.step, tc.node, tc.number, tc.at); !slices.Equal(got, tc.want) {
			t.Errorf("%+v: got %v", tc, got)
		}
	}
}

// TestSameSeedSameFaults: what hits hangs on the seed and on the call, not on the order in which
// nodes come.
func TestSameSeedSameFaults(t *testing.T) {
	const runs = 200
	draw := func(seed uint64, backwards bool) map[call][]int {
		f := NewTable(seed, 4)
		if _, err := f.Set(Fault{Kind: DockerHangs, Node: AnyNode, P: 0.3}); err != nil {
			t.Fatal(err)
		}
		hit := map[call][]int{}
		for i := range runs {
			for node := range 4 {
				if backwards {
					node = 3 - node
				}
				if len(f.Call("check/docker", node)) > 0 {
					k := call{"check/docker", node}
					hit[k] = append(hit[k], i)
				}
			}
		}
		return hit
	}
	one, again, other := draw(7, false), draw(7, true), draw(8, false)
	if !reflect.DeepEqual(one, again) {
		t.Error("the same seed hit other calls")
	}
	if reflect.DeepEqual(one, other) {
		t.Error("another seed hit the same calls")
	}
	for k, hits := range one {
		if len(hits) < runs/5 || len(hits) > runs/2 {
			t.Errorf("%v: %d of %d were hit", k, len(hits), runs)
		}
	}
}

func TestParseFault(t *testing.T) {
	for text, want := range map[string]Fault{
		"docker-hangs:n2:check/docker": {Kind: DockerHangs, Node: 1, Step: "check/docker"},
		"no-sudo":                      {Kind: NoSudo, Node: AnyNode},
		"no-sudo:any":                  {Kind: NoSudo, Node: AnyNode},
		"no-sudo::check/sudo":          {Kind: NoSudo, Node: AnyNode, Step: "check/sudo"},
		"sshd-silent:n1":               {Kind: SSHDSilent, Node: 0},
	} {
		if got, err := ParseFault(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                            `no kind ""; kinds are container-exits,`,
		"gremlins":                    `no kind "gremlins"`,
		"no-sudo:2":                   `no node "2"`,
		"no-sudo:n0":                  `no node "n0"`,
		"no-sudo:n1:check/nothing":    `no script "check/nothing"`,
		"sshd-refuses:n1:check/shell": "hits connections",
	} {
		if _, err := ParseFault(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestFits(t *testing.T) {
	f := Fault{Kind: NoSudo, Node: 3}
	if err := f.Fits(4); err != nil {
		t.Error(err)
	}
	if err := f.Fits(3); err == nil || !strings.Contains(err.Error(), "there is no node n4, only n1 to n3") {
		t.Errorf("got %v", err)
	}
}

func TestEveryKindHasHelp(t *testing.T) {
	for _, k := range Kinds() {
		if k.Help() == "" {
			t.Errorf("%s has none", k)
		}
	}
}

func TestDropsAreCounted(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 2 })
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	free := func() (kilo int) {
		t.Helper()
		out := ask(t, c, 1, `awk '$1 == "MemFree:" { print $2 }' /proc/meminfo`, "").out
		if _, err := fmt.Sscan(out, &kilo); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		return kilo
	}
	serving := free()
	if err := c.PersonRemove(1); err != nil {
		t.Fatal(err)
	}
	ended := free()
	if r := ask(t, c, 1, `printf '3\n' | sudo -n /usr/bin/tee /proc/sys/vm/drop_caches`, ""); r.code != 0 {
		t.Fatalf("got %+v", r)
	}
	if dropped := free(); serving >= ended || ended >= dropped {
		t.Errorf("free are %d, %d and %d kB", serving, ended, dropped)
	}
	if c.Drops(1) != 1 || c.Drops(0) != 0 {
		t.Errorf("counted %d and %d drops", c.Drops(1), c.Drops(0))
	}
	if err := c.PinFree(1, 1<<30); err != nil {
		t.Fatal(err)
	}
	if got := free(); got != 1<<20 {
		t.Errorf("pinned, %d kB are free", got)
	}
}
