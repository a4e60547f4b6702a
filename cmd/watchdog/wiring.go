package main

import (
	"cmp"
	"fmt"

	"cluster-watchdog/restart"
	"cluster-watchdog/watchdog/netfs"
	"cluster-watchdog/watchdog/probe"
)

// settings is the config as package restart wants it.
func (c Config) settings() restart.Settings {
	s := restart.Settings{
		Group: c.Group, Container: c.Container, HeadAddr: c.HeadAddress(), Command: c.Launch.Command,
		HeadFirst: c.Launch.Order == HeadFirst, Sequential: c.Launch.Sequential, LaunchTimeout: c.Launch.Timeout, StopSeconds: c.Launch.StopSeconds, Image: c.Launch.Image, Dirs: c.Launch.Dirs,
		Ports: c.HeadPorts(), MemoryWait: c.Settle.MemoryWait, FlusherEvery: c.Settle.FlusherEvery, FlusherFor: c.FlusherLife(),
		Evidence: c.CasesDir(), Nodes: c.nodeNames(), Parallel: c.SSH.Parallel,
	}
	for _, m := range c.Checks.Mounts {
		s.Mounts = append(s.Mounts, restart.Mount{Path: m.Path, Type: m.Type, Sentinel: m.Sentinel})
	}
	for _, d := range c.Checks.Disk {
		s.Disks = append(s.Disks, restart.Disk{Path: d.Path, MinFree: int64(d.MinFree)})
	}
	return s
}

func (c Config) nodeNames() []string {
	names := make([]string, len(c.Nodes))
	for i, n := range c.Nodes {
		names[i] = n.Name
	}
	return names
}

// processes returns per rank the expression for its engine's process; nil where no rank has one.
func (c Config) processes() []string {
	all, some := make([]string, len(c.Nodes)), false
	for i, n := range c.Nodes {
		all[i] = cmp.Or(n.Process, c.Process)
		some = some || all[i] != ""
	}
	if !some {
		return nil
	}
	return all
}

func (c Config) identity() restart.Identity {
	return restart.Identity{User: c.SSH.User, Keys: c.SSH.Keys, KnownHosts: c.SSH.KnownHosts, SSHConfig: c.SSH.SSHConfig}
}

func (c Config) places() []restart.Place {
	all := make([]restart.Place, len(c.Nodes))
	for i, n := range c.Nodes {
		host, port, _ := n.HostPort() // validated
		all[i] = restart.Place{Name: n.Name, Host: host, Port: port}
	}
	return all
}

// limits are the usual deadlines with the config's own bound.
func (c Config) limits() restart.Limits {
	l := restart.DefaultLimits()
	l.Parallel = c.SSH.Parallel
	return l
}

// probe is the config as package probe wants it.
func (c Config) probe() probe.Config {
	p := probe.Config{
		BaseURL: c.Server.URL, MetricsURL: c.MetricsURL(), API: c.Server.API, Model: c.Server.Model,
		Nodes: c.nodeNames(), Container: c.Container, Processes: c.processes(),
		Canary: c.Server.CanaryTimeout,
	}
	if file := c.APIKeyFile(); file != "" {
		p.APIKey = func() (string, error) {
			key, err := readSmall(file)
			if err != nil {
				return "", fmt.Errorf("%w: check server.api_key_file and who may read it", err)
			}
			return string(key), nil
		}
	}
	if c.Server.CAFile != "" {
		p.CA = func() ([]byte, error) { return readSmall(c.Server.CAFile) }
	}
	return p
}

// readSmall reads a file of an API key or of certificates. A FIFO or a mount that hangs must not hold
// a look, and what is large is another file given by mistake.
func readSmall(file string) ([]byte, error) {
	f, err := netfs.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, reasonOf(err))
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	text, err := netfs.Read(f, maxConfig+1)
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s is larger than 1 MiB", file)
	}
	return text, err
}
