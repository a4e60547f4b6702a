package main

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, row := range []struct{ args, wrong string }{
		{"serve", ""},
		{"serve --nnodes 4 --node-rank 0 --master-addr 127.0.0.1", ""},
		{"serve big/model --nnodes 4 --node-rank 3 --master-addr 127.0.0.1 --headless --load 7s --linger 0s", ""},
		{"", `the first argument must be "serve"`},
		{"--nnodes 4", `the first argument must be "serve"`},
		{"serve --nnodes 4 --node-rank 4", "rank 4 is not one of 4"},
		{"serve --nnodes 0", "rank 0 is not one of 0"},
		{"serve --headless", "rank 0 serves the API and cannot be headless"},
		{"serve --load -1s", "--load and --linger cannot be negative"},
		{"serve --tensor-parallel 4", "flag provided but not defined: -tensor-parallel"},
		{"serve --nnodes 1 more", `unexpected argument "more"`},
	} {
		_, err := parse(strings.Fields(row.args))
		if got := message(err); got != row.wrong {
			t.Errorf("%q: error %q, want %q", row.args, got, row.wrong)
		}
	}
	o, _ := parse(strings.Fields("serve big/model --load 7s --linger 0s --rendezvous-port 1 --port 2"))
	want := options{nodes: 1, master: "127.0.0.1", rendezvousPort: 1, host: "0.0.0.0", port: 2, model: "big/model", load: 7 * time.Second, lab: "/lab"}
	if o != want {
		t.Errorf("got  %+v\nwant %+v", o, want)
	}
}

func TestParseFault(t *testing.T) {
	for _, row := range []struct{ word, is, wrong string }{
		{"", none, ""}, {"wedge", wedge, ""}, {"wedge-waiting", wedgeWaiting, ""}, {"busy", busy, ""}, {"slow:90s", slow, ""},
		{"crash-warmup", crashWarmup, ""}, {"no-memory", noMemory, ""}, {"401", unauthorized, ""}, {"404", notFound, ""}, {"500", serverError, ""},
		{"health-503", unhealthy, ""}, {"die", die, ""}, {"poison", poison, ""}, {"shell", shell, ""},
		{"slow", "", `unknown fault "slow"`}, {"slow:soon", "", `unknown fault "slow:soon"`}, {"slow:-1s", "", `unknown fault "slow:-1s"`}, {"wedged", "", `unknown fault "wedged"`},
	} {
		f, err := parseFault(row.word)
		if f.word != row.is || message(err) != row.wrong {
			t.Errorf("%q: %+v, error %q; want %q, error %q", row.word, f, message(err), row.is, row.wrong)
		}
	}
	if f, _ := parseFault("slow:90s"); f.delay != 90*time.Second {
		t.Errorf("slow:90s waits %s", f.delay)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
