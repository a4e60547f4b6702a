package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"cluster-watchdog/restart"
)

// machineIDFile names this machine from its installation on, and no other.
const machineIDFile = "/etc/machine-id"

// host is the machine this runs on, as other heads know it.
type host struct {
	id   string // empty: it cannot be told from others
	name string

	within    bounds                                                    // of a tick; none: as the unit has them
	systemctl func(ctx context.Context, args ...string) (string, error) // nil: no systemd runs here
}

func (h host) bounds() bounds {
	if h.within == (bounds{}) {
		return unitBounds
	}
	return h.within
}

func thisHost() host {
	name, _ := os.Hostname()
	text, _ := os.ReadFile(machineIDFile) // what it means that there is none, the checks say
	h := host{id: headID(string(text)), name: name}
	if systemdRuns() {
		h.systemctl = systemctl
	}
	return h
}

// headID returns what a node is told of a machine id. The id itself must not leave the machine
// (machine-id(5)), so it is a hash of it. Anything else in that file, such as "uninitialized", is none.
func headID(text string) string {
	const bytes = 16
	id, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(id) != bytes || strings.Trim(text, "0\n") == "" {
		return ""
	}
	mac := hmac.New(sha256.New, id)
	mac.Write([]byte("cluster-watchdog"))
	return hex.EncodeToString(mac.Sum(nil)[:bytes])
}

// owner is who claims the nodes: this config of this head.
func (h host) owner(c Config) restart.Owner {
	return restart.Owner{ID: h.id, Name: h.name, Address: c.Nodes[0].host(), StateDir: c.StateDir}
}
