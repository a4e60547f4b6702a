package main

import (
	"fmt"
	"os"

	"cluster-watchdog/restart"
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
		Nodes: c.nodeNames(), Container: c.Container,
		Canary: c.Server.CanaryTimeout,
	}
	if file := c.APIKeyFile(); file != "" {
		p.APIKey = func() (string, error) {
			key, err := os.ReadFile(file)
			if err != nil {
				return "", fmt.Errorf("%w: check server.api_key_file and who may read it", err)
			}
			return string(key), nil
		}
	}
	return p
}
