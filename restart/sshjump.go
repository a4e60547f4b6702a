package restart

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
)

// maxSSHHops is how many hosts may stand between us and a node.
const maxSSHHops = 8

// sshResolver turns places into targets.
type sshResolver struct {
	id     Identity
	config *sshConfig
}

// resolve finds the target of what is asked. way are the names that lead to it, to see a circle.
func (r sshResolver) resolve(ask sshAsk, way []string) (Target, []error) {
	ask.ourKeys = len(r.id.Keys) > 0
	found, errs := r.config.lookup(ask)
	if len(errs) > 0 {
		return Target{}, errs
	}
	t := Target{
		Name:         ask.name,
		Host:         cmp.Or(ask.host, found.hostName, ask.name),
		Port:         cmp.Or(ask.port, found.port, sshDefaultPort),
		User:         cmp.Or(ask.user, found.user, ask.userElse),
		HostKeyAlias: found.alias,
		Keys:         r.id.Keys,
		KnownHosts:   r.id.KnownHosts,
	}
	if len(t.Keys) == 0 {
		for _, line := range found.keyLines() {
			key, err := r.config.expandKey(line, ask.name, t)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			t.Keys = append(t.Keys, key)
		}
	}
	t.Sources = r.sources(ask, found, t)
	if found.jump != "" && !strings.EqualFold(found.jump, "none") {
		via, hopErrs := r.jump(found, t, way)
		t.Via, errs = via, append(errs, hopErrs...)
	}
	return t, errs
}

// sources says of each value where it came from.
func (r sshResolver) sources(ask sshAsk, f sshFound, t Target) []Source {
	user := f.source(ask.user != "", "user", "the config")
	all := []Source{
		{"host", t.Host, f.source(ask.host != "", "hostname", "its name")},
		{"port", strconv.Itoa(t.Port), f.source(ask.port != 0, "port", "the default")},
		{"user", t.User, user},
	}
	for i, key := range t.Keys {
		from := "the config"
		if len(r.id.Keys) == 0 {
			from = f.keyLines()[min(i, len(f.keyLines())-1)].String()
		}
		all = append(all, Source{"key", key, from})
	}
	all = append(all, Source{"known_hosts", t.KnownHosts, "the config"})
	if t.HostKeyAlias != "" {
		all = append(all, Source{"host key alias", t.HostKeyAlias, f.source(false, "hostkeyalias", "")})
	}
	if f.jump != "" {
		all = append(all, Source{"jump hosts", f.jump, f.source(false, "proxyjump", "")})
	}
	return all
}

// jump resolves the hosts of a ProxyJump line. Each is looked up as a host of its own; the way to
// the first may lead through further ones, the way to the others is this line.
func (r sshResolver) jump(found sshFound, t Target, way []string) (*Target, []error) {
	line := found.from["proxyjump"]
	list, problem := expandTokens("ProxyJump", found.jump, map[byte]string{'h': t.Host, 'n': t.Name, 'p': strconv.Itoa(t.Port), 'r': t.User})
	if problem != "" {
		return nil, []error{line.fault(problem)}
	}
	var via *Target
	way = append(slices.Clone(way), t.Name)
	for i, text := range strings.Split(list, ",") {
		ask, ok := parseJump(strings.TrimSpace(text))
		switch {
		case !ok:
			return nil, []error{line.fault("ProxyJump is not a list of [user@]host[:port]: correct it")}
		case slices.Contains(way, ask.name):
			return nil, []error{line.fault("ProxyJump leads in a circle: exclude the jump host from this block with !pattern")}
		case len(way) > maxSSHHops:
			return nil, []error{line.fault("ProxyJump leads through too many hosts: shorten the way")}
		}
		way = append(way, ask.name)
		ask.userElse, ask.noJump = cmp.Or(r.id.User, t.User), i > 0
		hop, errs := r.resolve(ask, way[:len(way)-1])
		if len(errs) > 0 {
			return nil, errs
		}
		if i > 0 {
			hop.Via = via
		}
		via = &hop
	}
	return via, nil
}

// parseJump reads [ssh://][user@]host[:port].
func parseJump(text string) (sshAsk, bool) {
	var ask sshAsk
	text = strings.TrimSuffix(strings.TrimPrefix(text, "ssh://"), "/")
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		ask.user, text = text[:at], text[at+1:]
		if ask.user == "" {
			return ask, false
		}
	}
	ask.name = text
	if host, port, err := net.SplitHostPort(text); err == nil {
		number, problem := sshPort(port)
		if problem != "" {
			return ask, false
		}
		ask.name, ask.port = host, number
	} else if strings.HasPrefix(text, "[") {
		ask.name = strings.TrimSuffix(text[1:], "]")
	}
	return ask, ask.name != "" && !strings.ContainsAny(ask.user+ask.name, " \t\"'$/[]")
}
