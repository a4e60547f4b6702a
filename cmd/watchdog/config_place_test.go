package main

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestHostPort(t *testing.T) {
	for _, row := range []struct{ address, want string }{
		{"", `"" 0 <nil>`},
		{"10.0.0.1", `"10.0.0.1" 0 <nil>`},
		{"spark1.lan:2222", `"spark1.lan" 2222 <nil>`},
		{"fd00::1", `"fd00::1" 0 <nil>`},
		{"[fd00::1]:22", `"fd00::1" 22 <nil>`},
		{"spark1:", `"" 0 not a port between 1 and 65535`},
		{"spark1:ssh", `"" 0 not a port between 1 and 65535`},
		{"spark1:22:22", `"" 0 not host or host:port`},
	} {
		host, port, err := NodeConfig{Address: row.address}.HostPort()
		if got := fmt.Sprintf("%q %d %v", host, port, err); got != row.want {
			t.Errorf("%q: got %s, want %s", row.address, got, row.want)
		}
	}
}

func TestWhatIsDerived(t *testing.T) {
	c := defaultConfig()
	c.Nodes = []NodeConfig{{Name: "spark1", Address: "10.0.0.1:2222"}, {Name: "spark2", Address: ""}}
	c.Server.URL = "http://10.0.0.1:8000/"
	for _, row := range []struct {
		what      string
		got, want any
	}{
		{"head address from the first node", c.HeadAddress(), "10.0.0.1"},
		{"host without an address", c.Nodes[1].host(), "spark2"},
		{"metrics", c.MetricsURL(), "http://10.0.0.1:8000/metrics"},
		{"cases", c.CasesDir(), "/var/lib/cluster-watchdog/cases"},
		{"flusher", c.FlusherLife(), 90 * time.Minute},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %v, want %v", row.what, row.got, row.want)
		}
	}
	c.Launch.HeadAddress, c.Server.MetricsURL, c.LogDir = "10.1.0.1", "http://m:1/x", "/srv/cases"
	if c.HeadAddress() != "10.1.0.1" || c.MetricsURL() != "http://m:1/x" || c.CasesDir() != "/srv/cases" {
		t.Errorf("the config's own words lose: %s %s %s", c.HeadAddress(), c.MetricsURL(), c.CasesDir())
	}
}

func TestHeadPorts(t *testing.T) {
	for _, row := range []struct {
		url   string
		ports []int
		want  []int
	}{
		{"http://h:8000", nil, []int{8000}},
		{"http://h", nil, []int{80}},
		{"https://h", nil, []int{443}},
		{"https://h", []int{8000, 29501}, []int{8000, 29501}},
	} {
		c := Config{Server: ServerConfig{URL: row.url}, Settle: SettleConfig{Ports: row.ports}}
		if got := c.HeadPorts(); !slices.Equal(got, row.want) {
			t.Errorf("%s %v: got %v, want %v", row.url, row.ports, got, row.want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, row := range []struct {
		text string
		want string // "": refused
	}{
		{"", "0B"}, {"0B", "0B"}, {"512B", "512B"}, {"1024KiB", "1MiB"}, {"100 GiB", "100GiB"}, {"2TiB", "2TiB"}, {"1536MiB", "1536MiB"},
		{"1", ""}, {"1GB", ""}, {"1.5GiB", ""}, {"-1GiB", ""}, {"GiB", ""}, {"4194305TiB", ""}, {"1gib", ""},
	} {
		size, ok := parseSize(row.text)
		if got := size.String(); ok != (row.want != "") || ok && got != row.want {
			t.Errorf("%q: got %s %v, want %q", row.text, got, ok, row.want)
		}
	}
}

func TestBriefDurations(t *testing.T) {
	for want, d := range map[string]time.Duration{"75m": 75 * time.Minute, "6h": 6 * time.Hour, "1m30s": 90 * time.Second, "0s": 0, "-10m": -10 * time.Minute} {
		if got := briefDuration(d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
