package restart

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// Identity says as whom we connect to every node. Nothing else is ever used: no agent, no
// default keys, no key of the user that runs the watchdog.
type Identity struct {
	User       string   // on the nodes; wins over ssh_config's
	Keys       []string // private key files, absolute paths, tried in this order
	KnownHosts string   // absolute path
	SSHConfig  string   // absolute path; empty: none
}

// Place is a node as the configuration names it. What stands here wins over ssh_config.
type Place struct {
	Name string // of the node, and the alias looked up in ssh_config
	Host string // empty: ssh_config's HostName, or else the name
	Port int    // 0: ssh_config's Port, or else 22
}

// Target is where and as whom one node is reached, after ssh_config was read.
type Target struct {
	Name, Host   string
	Port         int
	User         string
	HostKeyAlias string // the name in known_hosts, without a port; empty: host and port
	Keys         []string
	KnownHosts   string
	Warnings     []string // what was skipped while reading, for people
}

const sshDefaultPort = 22

// Resolve finds the target of each place, in the same order, and reads every file that a
// connection will need, so that all that is wrong is known before anything is dialled.
func Resolve(id Identity, places []Place) ([]Target, error) {
	var errs []error
	targets := make([]Target, len(places))
	users := []string{id.User}
	config, err := readSSHConfig(id.SSHConfig, trustedOwners(users))
	if err != nil {
		errs = append(errs, err)
	}
	for i, p := range places {
		if config == nil {
			break // every node would only repeat it
		}
		target, err := resolvePlace(id, p, config)
		errs = append(errs, err)
		targets[i] = target
		users = append(users, target.User)
	}
	warnings, fileErrs := checkIdentityFiles(id, trustedOwners(users))
	if err := errors.Join(distinctSSHErrors(append(errs, fileErrs...))...); err != nil {
		return nil, err
	}
	for i := range targets {
		targets[i].Warnings = warnings
	}
	return targets, nil
}

func resolvePlace(id Identity, p Place, config *sshConfig) (Target, error) {
	found, err := config.lookup(p.Name)
	if err != nil {
		return Target{}, err
	}
	t := Target{
		Name:         p.Name,
		Host:         cmp.Or(p.Host, found.hostName, p.Name),
		Port:         cmp.Or(p.Port, found.port, sshDefaultPort),
		User:         cmp.Or(id.User, found.user),
		HostKeyAlias: found.alias,
		Keys:         id.Keys,
		KnownHosts:   id.KnownHosts,
	}
	if t.User == "" {
		return t, fmt.Errorf("cannot connect to %s: no user is configured: set the SSH user", t.Name)
	}
	return t, nil
}

// checkIdentityFiles reads what a connection will read.
func checkIdentityFiles(id Identity, owners identityOwners) (warnings []string, errs []error) {
	if len(id.Keys) == 0 {
		errs = append(errs, errors.New("cannot connect to any node: no key is configured: name a private key file"))
	}
	for _, path := range id.Keys {
		if _, err := readKey(path, owners); err != nil {
			errs = append(errs, fmt.Errorf("cannot use %w", err))
		}
	}
	if id.KnownHosts == "" {
		return nil, append(errs, errors.New("cannot connect to any node: no known_hosts is configured: name the file"))
	}
	hosts, err := readKnownHosts(id.KnownHosts, owners)
	if err != nil {
		return nil, append(errs, fmt.Errorf("cannot use %w", err))
	}
	return hosts.warnings(), errs
}

// identityOwners are the user ids that may own a file which decides as whom and to whom we connect.
type identityOwners map[uint32]bool

// trustedOwners are root, the user running the watchdog and, where they exist on this machine,
// the users it connects as.
func trustedOwners(names []string) identityOwners {
	owners := identityOwners{0: true, uint32(os.Geteuid()): true}
	for _, name := range names {
		if name == "" {
			continue
		}
		found, err := user.Lookup(name)
		if err != nil {
			continue // a user of the nodes only
		}
		if uid, err := strconv.ParseUint(found.Uid, 10, 32); err == nil {
			owners[uint32(uid)] = true
		}
	}
	return owners
}

// distinctSSHErrors drops nils and repetitions: one bad line of ssh_config concerns many nodes.
func distinctSSHErrors(errs []error) []error {
	seen := map[string]bool{}
	var kept []error
	for _, err := range errs {
		if err == nil || seen[err.Error()] {
			continue
		}
		seen[err.Error()] = true
		kept = append(kept, err)
	}
	return kept
}
