package clustertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// TestWholeSequence takes a dead group through the scripts of a restart, with the real texts, and
// sees it serve again: every command they use is known here.
func TestWholeSequence(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes, o.BootTime = 2, 20*time.Millisecond })
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group serves", c.Serving)
	if err := c.Crash(1, 1); err != nil {
		t.Fatal(err)
	}
	clients := []*ssh.Client{client(t, c, 0), client(t, c, 1)}
	env := make([]map[string]string, len(clients))
	for rank := range clients {
		d, err := c.Docker(rank)
		if err != nil {
			t.Fatal(err)
		}
		env[rank] = sequenceEnv(c, rank, d.Containers[0].ID)
	}
	runOnAll := func(names ...string) {
		t.Helper()
		for _, name := range names {
			for rank, cl := range clients {
				r, err := runScript(cl, name, env[rank])
				if err != nil || r.code != 0 {
					t.Fatalf("%s on n%d: %+v, %v", name, rank+1, r, err)
				}
				for line := range strings.Lines(r.out) {
					if id, ok := strings.CutPrefix(line, "id="); ok {
						env[rank]["WATCHDOG_ID"] = strings.TrimSpace(id)
					}
				}
			}
		}
	}
	r, err := runScript(clients[1], "observe/look", map[string]string{"WATCHDOG_CONTAINER": Container, "WATCHDOG_SINCE": "1"})
	if err != nil || !strings.Contains(r.out, `"status":"exited"`) || !strings.Contains(r.out, `"action":"die"`) || !strings.Contains(r.out, "events=0") {
		t.Fatalf("the look says %+v, %v", r, err)
	}
	runOnAll("preserve/logs", "preserve/inspect", "check/shell", "check/docker", "check/mount", "check/image", "check/sudo",
		"check/disk", "check/dirs", "check/claim", "check/identity", "claim/claim", "destroy/remove", "destroy/gone", "settle/flusher", "settle/memory",
		"settle/ports", "settle/orphans")
	clients[0], clients[1] = clients[1], clients[0] // the worker first
	env[0], env[1] = env[1], env[0]
	runOnAll("launch/launch", "launch/verify", "settle/endflusher")
	eventually(t, "the group serves again", c.Serving)
	for rank := range clients {
		if c.Drops(rank) != 1 || c.Handshakes(rank) != 1 {
			t.Errorf("n%d: %d drops, %d handshakes", rank+1, c.Drops(rank), c.Handshakes(rank))
		}
	}
}

func sequenceEnv(c *Cluster, rank int, id string) map[string]string {
	role := "worker"
	if rank == 0 {
		role = "head"
	}
	return map[string]string{
		"WATCHDOG_HEAD_ID": "id-of-the-head", "WATCHDOG_STATE_DIR": "/var/lib/w", "WATCHDOG_CLAIM": "group=demo\nhead=id-of-the-head", "WATCHDOG_TAKE_OVER": "",
		"WATCHDOG_CONTAINER": Container, "WATCHDOG_ID": id, "WATCHDOG_MAX_BYTES": "1000000", "WATCHDOG_GROUP": "demo",
		"WATCHDOG_MOUNT": c.Mount, "WATCHDOG_FSTYPE": "nfs", "WATCHDOG_SENTINEL": Sentinel, "WATCHDOG_IMAGE": Image,
		"WATCHDOG_DISK_PATH": c.NodeDir(rank), "WATCHDOG_DISK_MIN": "1", "WATCHDOG_DIRS": c.NodeDir(rank) + "/cache",
		"WATCHDOG_STOP_SECONDS": "1", "WATCHDOG_WAIT": "5", "WATCHDOG_FLUSHER_SECONDS": "600", "WATCHDOG_FLUSHER_EVERY": "60",
		"WATCHDOG_MEM_FLOOR": fmt.Sprint(100 << 30), "WATCHDOG_PORTS": "29500 " + strings.TrimPrefix(c.BaseURL, "http://127.0.0.1:"),
		"WATCHDOG_COMMAND": `bash ~/launch.sh "$WATCHDOG_RANK"`, "WATCHDOG_RANK": fmt.Sprint(rank), "WATCHDOG_NODE": nodeName(rank),
		"WATCHDOG_ROLE": role, "WATCHDOG_HEAD_ADDR": "127.0.0.1", "WATCHDOG_TIMEOUT": "20",
	}
}
