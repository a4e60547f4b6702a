package restart

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// sshConfig is a parsed ssh_config. It gives host, port, user and HostKeyAlias. Keys and
// known_hosts come from our own configuration alone, so IdentityFile, UserKnownHostsFile and
// their like are accepted and ignored; what would change where or as whom we connect in a way
// that is not supported is an error, since half a config must never be dialled.
type sshConfig struct {
	path  string
	hosts []*ssh_config.Host
}

// sshFound is what an ssh_config says of one node. Zero: nothing.
type sshFound struct {
	hostName, user, alias string
	port                  int
}

// readSSHConfig reads the file; an empty path is an empty file.
func readSSHConfig(path string, owners identityOwners) (*sshConfig, error) {
	if path == "" {
		return &sshConfig{}, nil
	}
	f, err := openIdentityFile("ssh_config", path, owners, false)
	if err != nil {
		return nil, fmt.Errorf("cannot use %w", err)
	}
	defer f.Close()
	content, err := readIdentityFile(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use ssh_config %s: %w", path, err)
	}
	config := &sshConfig{path: path}
	if err := config.scan(content); err != nil {
		return nil, err
	}
	parsed, err := ssh_config.DecodeBytes(content)
	if err != nil {
		// The parser's message may quote the file.
		return nil, fmt.Errorf("cannot use ssh_config %s: it does not parse: check it with ssh -G -F %s", path, path)
	}
	config.hosts = parsed.Hosts
	return config, nil
}

// scan looks at every line before the parser does: Include would make it open other files,
// Match is not ours to judge, and a line without a proper keyword can make it spin for ever.
func (c *sshConfig) scan(content []byte) error {
	var errs []error
	for i, line := range bytes.Split(content, []byte("\n")) {
		trimmed := strings.TrimSpace(string(line))
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		end := strings.IndexAny(trimmed, " \t=")
		if end < 0 {
			end = len(trimmed)
		}
		switch keyword := strings.ToLower(trimmed[:end]); {
		case keyword == "match":
			errs = append(errs, c.fault(i+1, "Match is not supported yet: write Host blocks, or keep a file for the watchdog alone"))
		case keyword == "include":
			errs = append(errs, c.fault(i+1, "Include is not supported yet: copy what the nodes need into this file"))
		case keyword == "host" && strings.ContainsRune(trimmed, '"'):
			errs = append(errs, c.fault(i+1, "quotes in a Host line are not supported: write the patterns without them"))
		case strings.Trim(keyword, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || keyword == "":
			errs = append(errs, c.fault(i+1, "this is not a keyword with its value: correct the line"))
		}
	}
	return errors.Join(errs...)
}

// lookup finds what the file says of a node. As in OpenSSH the first value of a keyword wins.
func (c *sshConfig) lookup(name string) (sshFound, error) {
	var found sshFound
	var errs []error
	seen := map[string]bool{}
	for _, host := range c.hosts {
		if !sshHostMatches(host, name) {
			continue
		}
		for _, node := range host.Nodes {
			kv, ok := node.(*ssh_config.KV)
			if !ok || seen[strings.ToLower(kv.Key)] {
				continue
			}
			seen[strings.ToLower(kv.Key)] = true
			if problem := found.take(kv, name); problem != "" {
				errs = append(errs, c.fault(kv.Pos().Line, problem))
			}
		}
	}
	return found, errors.Join(errs...)
}

// take stores a value we use, or says why the line cannot be used.
func (f *sshFound) take(kv *ssh_config.KV, name string) (problem string) {
	keyword := strings.ToLower(kv.Key)
	switch keyword {
	case "hostname":
		f.hostName, problem = expandHostName(kv.Value, name)
	case "port":
		f.port, problem = sshPort(kv.Value)
	case "user":
		f.user, problem = sshWord("User", kv.Value)
	case "hostkeyalias":
		f.alias, problem = sshWord("HostKeyAlias", kv.Value)
	default:
		problem = judgeSSHKeyword(keyword, kv.Value)
	}
	return problem
}

func (c *sshConfig) fault(line int, problem string) error {
	return fmt.Errorf("cannot use ssh_config %s line %d: %s", c.path, line, problem)
}

// sshHostMatches does what OpenSSH does; the library's own matching lets "?" stand for nothing
// and does not split patterns at tabs.
func sshHostMatches(host *ssh_config.Host, name string) bool {
	matched := false
	for _, p := range host.Patterns {
		for _, pattern := range strings.Fields(p.String()) {
			pattern, negated := strings.CutPrefix(pattern, "!")
			if ok, err := path.Match(sshLiteral.Replace(pattern), name); err != nil || !ok {
				continue
			}
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

// sshLiteral hides from path.Match what is no wildcard in ssh_config.
var sshLiteral = strings.NewReplacer(`\`, `\\`, `[`, `\[`)

func expandHostName(value, name string) (string, string) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			b.WriteByte(value[i])
			continue
		}
		i++
		switch {
		case i < len(value) && (value[i] == 'h' || value[i] == 'n'):
			b.WriteString(name)
		case i < len(value) && value[i] == '%':
			b.WriteByte('%')
		default:
			return "", "HostName may hold only the tokens %h, %n and %%: write the name out"
		}
	}
	if b.Len() == 0 || strings.ContainsAny(b.String(), " \t\"'/@$") {
		return "", "HostName is not one host name or address: correct it"
	}
	return b.String(), ""
}

func sshPort(value string) (int, string) {
	port, err := strconv.Atoi(value)
	if err != nil || port < 1 || port > 65535 {
		return 0, "Port is not a number from 1 to 65535: correct it"
	}
	return port, ""
}

func sshWord(keyword, value string) (string, string) {
	if value == "" || strings.ContainsAny(value, " \t\"'%$") {
		return "", keyword + " is not one plain word: tokens, variables and quotes are not supported here"
	}
	return value, ""
}
