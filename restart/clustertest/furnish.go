package clustertest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// furnish makes the folders of the node and what lies in them.
func (s *server) furnish() error {
	if err := s.node.Create(fakenode.NewDaemon(s.Name, s.cluster.options.Seed, Image)); err != nil {
		return err
	}
	if err := s.node.Install(s.cluster.options.Programs, s.cluster.options.ProgramArgs); err != nil {
		return err
	}
	if err := s.node.SetMounts(
		fakenode.Mount{Target: "/", Source: "/dev/nvme0n1p2", Type: "ext4", Options: "rw,relatime"},
		fakenode.Mount{Target: s.cluster.Mount, Source: "nas:/models", Type: "nfs4", Options: "ro,hard,vers=4.2"},
	); err != nil {
		return err
	}
	return errors.Join(s.node.Listen(), os.WriteFile(filepath.Join(s.node.Home(), "launch.sh"), []byte(s.launchScript()), 0o700))
}

// launchScript is the user's own way of starting a rank.
func (s *server) launchScript() string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Starts this node's rank of the group: launch.sh RANK\nset -eu\n")
	b.WriteString("exec docker run -d --name " + Container + " --network host --ipc host --gpus all \\\n")
	for _, env := range launchEnv(`"$WATCHDOG_RANK"`) {
		b.WriteString("\t-e " + env + " \\\n")
	}
	b.WriteString("\t" + Image + " " + strings.Join(launchArgs(s.cluster.options.Nodes, `"${1:-$WATCHDOG_RANK}"`), " ") + "\n")
	return b.String()
}
