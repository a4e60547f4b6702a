package main

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp/syntax"
	"strings"
	"time"
)

func (v *validator) nodes(nodes []NodeConfig) {
	if len(nodes) == 0 {
		v.bad("nodes", nil, "is missing; list the nodes in rank order, the head first")
	}
	byName, byAddress := map[string]string{}, map[string]string{}
	for i, n := range nodes {
		at := fmt.Sprintf("nodes[%d]", i)
		v.node(at, n)
		v.once(at+".name", n.Name, at, byName)
		if n.Address != "" {
			v.once(at+".address", n.Address, at, byAddress)
		}
	}
}

func (v *validator) node(at string, n NodeConfig) {
	v.process(at+".process", n.Process)
	switch {
	case n.Name == "":
		v.bad(at+".name", nil, "is missing")
	case !nodeShape.MatchString(n.Name):
		v.bad(at+".name", n.Name, "must be 1 to 63 of letters, digits, '.', '_' and '-'")
	}
	if n.Address == "" {
		return
	}
	host, _, err := n.HostPort()
	switch {
	case err != nil:
		v.bad(at+".address", n.Address, "%s", err)
	case !hostShape.MatchString(host):
		v.bad(at+".address", n.Address, "is not a host name or an IP address")
	}
}

// process wants an expression that grep -E on a node understands as it is meant.
func (v *validator) process(at, pattern string) {
	const longestPattern = 200
	switch _, err := syntax.Parse(pattern, syntax.POSIX); {
	case pattern == "":
	case plain(pattern) != pattern:
		v.bad(at, plain(pattern), "must not hold control characters or line breaks")
	case len(pattern) > longestPattern:
		v.bad(at, nil, "must be at most %d letters", longestPattern)
	case err != nil:
		v.bad(at, pattern, "is no extended regular expression such as 'vllm serve': %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
}

// once wants a value to be that of one node only: two ranks in one place destroy each other.
func (v *validator) once(field, value, at string, seen map[string]string) {
	if first, ok := seen[value]; ok && value != "" {
		v.bad(field, value, "is that of %s too", first)
		return
	}
	seen[value] = at
}

// Bounds of server.canary_timeout: beside it the rest of a look must find its time.
const (
	canaryLeast = 500 * time.Millisecond
	canaryMost  = 30 * time.Second
)

func (v *validator) server(c Config) {
	s := c.Server
	if s.URL == "" {
		v.bad("server.url", nil, "is missing, such as http://10.0.0.1:8000")
	} else if u := v.url("server.url", s.URL); u != nil {
		if strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") {
			v.bad("server.url", s.URL, "must be given without /v1")
		}
		v.headsOwn("server.url", u.Hostname(), c.Nodes)
	}
	if s.MetricsURL != "" {
		v.url("server.metrics_url", s.MetricsURL)
	}
	v.oneOf("server.api", s.API, "completions", "chat")
	v.oneOf("server.engine", s.Engine, "auto", "vllm", "sglang")
	if s.CanaryTimeout < canaryLeast || s.CanaryTimeout > canaryMost {
		v.bad("server.canary_timeout", s.CanaryTimeout, "must be between %s and %s: one look ends after %s", canaryLeast, canaryMost, lookLimit)
	}
	if s.APIKeyFile != "" {
		v.absolute("server.api_key_file", s.APIKeyFile)
	}
	if s.CAFile != "" {
		v.absolute("server.ca_file", s.CAFile)
	}
	if plain(s.Model) != s.Model {
		v.bad("server.model", plain(s.Model), "must not contain control characters or line breaks")
	}
}

// url never shows the value: it may hold a password.
func (v *validator) url(field, text string) *url.URL {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		v.bad(field, nil, "must be a URL such as http://10.0.0.1:8000")
	case u.User != nil:
		v.bad(field, nil, "must not hold a user or password; use server.api_key_file")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		v.bad(field, nil, "must not hold a query or fragment")
	case u.Port() == "0" || strings.HasSuffix(u.Host, ":"):
		v.bad(field, nil, "must hold a port between 1 and 65535, or none")
	default:
		return u
	}
	return nil
}

func (v *validator) oneOf(field, got string, choices ...string) {
	for _, choice := range choices {
		if got == choice {
			return
		}
	}
	v.bad(field, got, "must be one of %s", strings.Join(choices, ", "))
}

// headsOwn refuses the address of a worker in the place of the head's: the list of nodes is in
// another order than the person thinks, and rank 0 would be launched on the wrong one.
func (v *validator) headsOwn(field, host string, nodes []NodeConfig) {
	if len(nodes) == 0 || host == nodes[0].host() || host == nodes[0].Name {
		return
	}
	for rank, n := range nodes {
		if host == n.host() || host == n.Name {
			v.bad(field, host, "is rank %d (%s); the head is the first node, %s", rank, n.Name, nodes[0].Name)
			return
		}
	}
}

func (v *validator) launch(c Config) {
	l := c.Launch
	if strings.TrimSpace(l.Command) == "" {
		v.bad("launch.command", nil, `is missing, such as 'bash ~/launch.sh "$WATCHDOG_RANK"'`)
	}
	v.command("launch.command", l.Command)
	if l.HeadAddress != "" {
		if !hostShape.MatchString(l.HeadAddress) {
			v.bad("launch.head_address", l.HeadAddress, "is not a host name or an IP address")
		}
		v.headsOwn("launch.head_address", l.HeadAddress, c.Nodes)
	}
	if isLoopback(c.HeadAddress()) && !allLoopback(c.Nodes) {
		v.bad("launch.head_address", c.HeadAddress(), "workers cannot reach the head there; give its address on their network")
	}
	if l.Image != "" && !imageShape.MatchString(l.Image) {
		v.bad("launch.image", l.Image, "is not an image name")
	}
	for i, dir := range l.Dirs {
		v.absolute(fmt.Sprintf("launch.dirs[%d]", i), dir)
	}
	v.between("launch.stop_seconds", l.StopSeconds, 0, 300)
}

func (v *validator) between(field string, got, low, high int) {
	if got < low || got > high {
		v.bad(field, got, "must be between %d and %d", low, high)
	}
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func allLoopback(nodes []NodeConfig) bool {
	for _, n := range nodes {
		if !isLoopback(n.host()) {
			return false
		}
	}
	return true
}
