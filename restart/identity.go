package restart

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
)

// Identity says as whom we connect to every node. Nothing else is ever used: no agent, no
// default keys, no key of the user that runs the watchdog.
type Identity struct {
	User       string   // on the nodes; wins over ssh_config's, and empty leaves it to that
	Keys       []string // private key files, absolute paths, tried in this order; none leaves it to ssh_config's IdentityFile
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
	Via          *Target  // the jump host it is reached through; nil: directly
	Sources      []Source // where each value came from, for people
	Warnings     []string // what was skipped while reading, for people

	owners identityOwners // who may own its files
}

// Source says where one value of a target came from: "the config", or a file with its line.
type Source struct{ What, Value, From string }

const sshDefaultPort = 22

// Resolve finds the target of each place, in the same order, and reads every file that a
// connection will need, so that all that is wrong is known before anything is dialled.
func Resolve(id Identity, places []Place) ([]Target, error) {
	var errs []error
	targets := make([]Target, len(places))
	users, keys := []string{id.User}, slices.Clone(id.Keys)
	config, err := readSSHConfig(id.SSHConfig, id.User, trustedOwners(users))
	if err != nil {
		errs = append(errs, err)
	}
	for i, p := range places {
		if config == nil {
			break // every node would only repeat it
		}
		target, placeErrs := resolvePlace(id, p, config)
		errs = append(errs, placeErrs...)
		targets[i] = target
		users = append(users, target.User)
		for at := &target; at != nil; at = at.Via {
			keys = append(keys, at.Keys...)
		}
	}
	owners := trustedOwners(users)
	warnings, fileErrs := checkIdentityFiles(id, keys, owners)
	if err := errors.Join(distinctSSHErrors(append(errs, fileErrs...))...); err != nil {
		return nil, err
	}
	for i := range targets {
		targets[i].Warnings = warnings
		for at := &targets[i]; at != nil; at = at.Via {
			at.owners = owners
		}
	}
	return targets, nil
}

func resolvePlace(id Identity, p Place, config *sshConfig) (Target, []error) {
	resolver := sshResolver{id: id, config: config}
	t, errs := resolver.resolve(sshAsk{name: p.Name, host: p.Host, port: p.Port, user: id.User}, nil)
	if len(errs) > 0 {
		return Target{}, errs
	}
	if t.User == "" {
		errs = append(errs, fmt.Errorf("cannot connect to %s: no user is configured: set the SSH user, or User in ssh_config", t.Name))
	}
	for at := &t; at != nil; at = at.Via {
		if len(at.Keys) == 0 {
			errs = append(errs, fmt.Errorf("cannot connect to %s: no key is configured: name a private key file, or set IdentityFile in ssh_config", at.Name))
		}
	}
	return t, errs
}

// checkIdentityFiles reads what a connection will read.
func checkIdentityFiles(id Identity, keys []string, owners identityOwners) (warnings []string, errs []error) {
	slices.Sort(keys)
	for _, path := range slices.Compact(keys) {
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
