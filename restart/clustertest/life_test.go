package clustertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// get asks the engine and returns the answer.
func get(c *Cluster, path, body string) string { return getWithin(c, path, body, patience) }

func getWithin(c *Cluster, path, body string, limit time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(ctx, method, c.BaseURL+path, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	r.Close = true
	a, err := http.DefaultClient.Do(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "hangs"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case err != nil:
		return err.Error()
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		return err.Error()
	}
	return a.Status[:3] + " " + strings.TrimSpace(string(b))
}

const completion = `{"model":"demo-model","prompt":"hi","max_tokens":1}`

func complete(c *Cluster) string { return get(c, "/v1/completions", completion) }

// hangs says how a completion goes that is not expected to be answered.
func hangs(c *Cluster) string {
	return getWithin(c, "/v1/completions", completion, 300*time.Millisecond)
}

func generated(t *testing.T, c *Cluster) string {
	t.Helper()
	for line := range strings.Lines(get(c, "/metrics", "")) {
		if strings.HasPrefix(line, "vllm:generation_tokens_total{") {
			return strings.Fields(line)[1]
		}
	}
	t.Fatal("no such counter")
	return ""
}

func TestLife(t *testing.T) {
	c := start(t, func(o *Options) { o.BootTime = 50 * time.Millisecond })
	if got := complete(c); got != "refused" {
		t.Fatalf("nothing runs, and the API says %s", got)
	}
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group serves", c.Serving)
	if got := complete(c); !strings.HasPrefix(got, "200") || !strings.Contains(got, `"completion_tokens":1`) {
		t.Fatalf("the completion says %s", got)
	}
	if got := get(c, "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}]}`); !strings.Contains(got, `"role":"assistant"`) {
		t.Fatalf("the chat says %s", got)
	}
	if got := get(c, "/v1/models", ""); !strings.Contains(got, Model) {
		t.Fatalf("the models are %s", got)
	}
	if got := generated(t, c); got != "2.0" {
		t.Fatalf("counted %s tokens", got)
	}
	if err := c.Crash(2, 134); err != nil {
		t.Fatal(err)
	}
	if got := get(c, "/health", ""); got != "200" && got != "200 " {
		t.Fatalf("health says %q", got)
	}
	if got := hangs(c); got != "hangs" {
		t.Fatalf("a dead group says %s", got)
	}
	if got := generated(t, c); got != "2.0" {
		t.Fatalf("counted %s tokens after the death", got)
	}
	if err := c.PersonRestart(0); err != nil {
		t.Fatal(err)
	}
	if got := complete(c); got != "refused" {
		t.Fatalf("a head restarted alone says %s", got)
	}
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group serves again", c.Serving)
	if got := generated(t, c); got != "0.0" {
		t.Fatalf("the counter goes on at %s", got)
	}
}

func TestHeadClosesPolitely(t *testing.T) { // E03
	c := start(t, func(o *Options) { o.Nodes, o.HeadExits = 2, time.Millisecond })
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	if err := c.Crash(1, 1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the head exits", func() bool {
		d, err := c.Docker(0)
		if err != nil {
			t.Fatal(err)
		}
		return d.Containers[0].State.Status == "exited" && d.Containers[0].State.ExitCode == 0
	})
	eventually(t, "its port is free", func() bool { return complete(c) == "refused" })
	if r := ask(t, c, 0, "docker logs --tail 1 "+Container, ""); !strings.Contains(r.err, "Finished server process") {
		t.Errorf("the log ends with %q", r.err)
	}
}

func TestEngineModes(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 2 })
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		mode                       EngineMode
		health, models, completion string
	}{
		{Serve, "200", "200", "200"},
		{Hang, "200", "200", "hangs"},
		{Error500, "200", "200", "500"},
		{Health500, "500", "200", "hangs"},
		{Health503, "503", "200", "hangs"},
		{Busy, "200", "200", "hangs"},
		{Unauthorized, "200", "401", "401"},
	} {
		t.Run(string(tc.mode), func(t *testing.T) {
			c.SetEngine(tc.mode)
			before := generated(t, c)
			for path, want := range map[string]string{"/health": tc.health, "/v1/models": tc.models} {
				if got := get(c, path, ""); !strings.HasPrefix(got, want) {
					t.Errorf("%s says %s", path, got)
				}
			}
			try := complete
			if tc.completion == "hangs" {
				try = hangs
			}
			if got := try(c); !strings.HasPrefix(got, tc.completion) {
				t.Errorf("the completion says %s", got)
			}
			moves := generated(t, c) != before
			if want := tc.mode == Serve || tc.mode == Busy; moves != want {
				t.Errorf("counters move: %v", moves)
			}
		})
	}
}

func TestEngineRefusesTheUnknown(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 1 })
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]string{"/v2": "", "/v1/completions": "{", "/v1/chat/completions": `{"model":"other","prompt":"x"}`} {
		if got := get(c, path, body); !strings.HasPrefix(got, "4") {
			t.Errorf("%s says %s", path, got)
		}
	}
	if u := c.Unknown(); len(u) != 1 || u[0].Label != "engine: unknown request GET /v2" {
		t.Errorf("noted %v", u)
	}
	forget(t, c, 0)
}

// TestLaunchScript: the user's own script starts a rank, and the secret is there to be found.
func TestLaunchScript(t *testing.T) {
	c := start(t, nil)
	r := ask(t, c, 3, `WATCHDOG_RANK=3 bash ~/launch.sh "$WATCHDOG_RANK"`, "")
	if r.code != 0 || len(strings.TrimSpace(r.out)) != 64 {
		t.Fatalf("got %+v", r)
	}
	d, err := c.Docker(3)
	if err != nil {
		t.Fatal(err)
	}
	x := d.Containers[0]
	if x.State.Status != "running" || !slices.Contains(x.Config.Env, "HF_TOKEN="+Secret) || !slices.Contains(x.Config.Env, "WATCHDOG_RANK=3") {
		t.Errorf("got %+v", x)
	}
	if got := strings.Join(x.Config.Cmd, " "); got != "serve demo-model --nnodes 4 --node-rank 3" {
		t.Errorf("the server is called with %s", got)
	}
	if got := c.Calls(3); len(got) != 2 || !strings.HasPrefix(got[0], "ssh WATCHDOG_RANK") || !strings.HasPrefix(got[1], "docker run -d --name vllm") {
		t.Errorf("the calls are %q", got)
	}
}

// TestPortsOfTheHead: what the node's own list of sockets says follows the API.
func TestPortsOfTheHead(t *testing.T) {
	c := start(t, func(o *Options) { o.Nodes = 2 })
	list := func(rank int) string {
		return ask(t, c, rank, `awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6`, "").out
	}
	if got := list(0); got != "" {
		t.Errorf("an idle head listens on %s", got)
	}
	if err := c.StartGroup(); err != nil {
		t.Fatal(err)
	}
	if got := list(0); !strings.HasPrefix(got, "0100007F:") {
		t.Errorf("a serving head listens on %q", got)
	}
	if err := errors.Join(c.PersonStop(0), c.HoldPorts(1, 29500)); err != nil {
		t.Fatal(err)
	}
	if head, worker := list(0), list(1); head != "" || worker != "0100007F:733C\n" {
		t.Errorf("after the stop the head listens on %q, the worker on %q", head, worker)
	}
}
