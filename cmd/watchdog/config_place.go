package main

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// HostPort splits the address. The port is 0 and the host is empty where it does not say.
func (n NodeConfig) HostPort() (host string, port int, err error) {
	if ip, err := netip.ParseAddr(n.Address); err == nil {
		return ip.String(), 0, nil // a bare IPv6 address holds colons of its own
	}
	if !strings.Contains(n.Address, ":") {
		return n.Address, 0, nil
	}
	host, text, err := net.SplitHostPort(n.Address)
	if err != nil {
		return "", 0, errors.New("not host or host:port")
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return "", 0, errors.New("not a port between 1 and 65535")
	}
	return host, port, nil
}

// host is where the node is found as far as the config says: its address, else its name.
func (n NodeConfig) host() string {
	if host, _, err := n.HostPort(); err == nil && host != "" {
		return host
	}
	return n.Name
}

// HeadAddress is what workers connect to.
func (c Config) HeadAddress() string {
	if c.Launch.HeadAddress != "" || len(c.Nodes) == 0 {
		return c.Launch.HeadAddress
	}
	return c.Nodes[0].host()
}

// HeadPorts are the ports that must be free on the head before it is launched.
func (c Config) HeadPorts() []int {
	if len(c.Settle.Ports) > 0 {
		return c.Settle.Ports
	}
	u, err := url.Parse(c.Server.URL)
	if err != nil {
		return nil
	}
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return []int{port}
	}
	if u.Scheme == "https" {
		return []int{443}
	}
	return []int{80}
}

// MetricsURL is where the engine's counters are read.
func (c Config) MetricsURL() string {
	if c.Server.MetricsURL != "" {
		return c.Server.MetricsURL
	}
	return strings.TrimSuffix(c.Server.URL, "/") + "/metrics"
}

// APIKeyFile is the file that holds the API key; empty: the server wants none.
func (c Config) APIKeyFile() string {
	if c.Server.APIKeyFile != "" {
		return c.Server.APIKeyFile
	}
	return c.credentialKey
}

// HookUser is the user of this machine as whom commands of the config run here.
func (c Config) HookUser() string { return cmp.Or(c.Notify.User, c.SSH.User) }

// CasesDir is the folder of preserved evidence.
func (c Config) CasesDir() string {
	if c.LogDir != "" {
		return c.LogDir
	}
	return filepath.Join(c.StateDir, "cases")
}
