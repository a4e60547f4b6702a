package restart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// sshConfig is a parsed ssh_config with all it includes. It says where a node is, through whom it
// is reached and, where our own configuration is silent, as whom and with which keys. Trust comes
// from our known_hosts alone, so UserKnownHostsFile and its like are ignored; what would change
// where or as whom we connect in a way that is not supported is an error, since half a config must
// never be dialled.
type sshConfig struct {
	person string // of this machine: whose ~ it is; empty: whoever runs the watchdog, unless root
	file   *sshFile
}

// sshFile is one file. An empty one says nothing.
type sshFile struct {
	path  string
	lines []sshConfigLine
}

// sshConfigLine is one line that says something.
type sshConfigLine struct {
	path     string
	number   int
	keyword  string     // in lower case
	value    string     // of a keyword that sets something
	words    []string   // of Host, Match and Include
	included []*sshFile // of Include
}

func (l sshConfigLine) String() string { return fmt.Sprintf("%s line %d", l.path, l.number) }

func (l sshConfigLine) fault(problem string) error {
	return fmt.Errorf("cannot use ssh_config %s: %s", l, problem)
}

// readSSHConfig reads the file; an empty path is an empty file.
func readSSHConfig(path, person string, owners identityOwners) (*sshConfig, error) {
	c := &sshConfig{person: person, file: &sshFile{}}
	if path == "" {
		return c, nil
	}
	file, err := c.readFile(path, owners, 0)
	if err != nil {
		return nil, err
	}
	c.file = file
	return c, nil
}

// sshAsk is what is looked up: a name and what is settled about it beforehand, as by options on
// ssh's command line.
type sshAsk struct {
	name, host, user string
	port             int
	userElse         string // who it is where nothing says so
	ourKeys          bool   // the keys are settled
	noJump           bool   // the way there is settled
}

// sshFound is what an ssh_config says of one name. Zero: nothing.
type sshFound struct {
	hostName, user, alias string
	port                  int
	jump                  string
	keys                  []sshConfigLine
	from                  map[string]sshConfigLine // by keyword, where it was found
}

// source says where a value came from: ours first, then the file, then what holds without either.
func (f sshFound) source(ours bool, keyword, otherwise string) string {
	line, found := f.from[keyword]
	switch {
	case ours:
		return "the config"
	case found:
		return line.String()
	}
	return otherwise
}

// sshSearch goes through the files for one name. As in OpenSSH the first value of a keyword wins.
type sshSearch struct {
	config    *sshConfig
	ask       sshAsk
	found     sshFound
	settled   map[string]bool // keywords that are not looked at any more
	final     bool            // the second time, by the host's own name
	wantFinal bool
	errs      []error
}

// lookup finds what the files say of a name.
func (c *sshConfig) lookup(ask sshAsk) (sshFound, []error) {
	s := &sshSearch{config: c, ask: ask, settled: map[string]bool{}}
	s.found = sshFound{from: map[string]sshConfigLine{}}
	s.settled["hostname"], s.settled["user"], s.settled["port"] = ask.host != "", ask.user != "", ask.port != 0
	s.settled["identityfile"] = ask.ourKeys
	s.settled["proxyjump"], s.settled["proxycommand"] = ask.noJump, ask.noJump
	s.search(c.file, sshState{verdict: sshYes})
	if s.wantFinal && len(s.errs) == 0 {
		s.final = true
		s.search(c.file, sshState{verdict: sshYes})
	}
	return s.found, s.errs
}

// search goes through one file; outer is the state of the block that includes it.
func (s *sshSearch) search(f *sshFile, outer sshState) {
	state := outer
	for _, line := range f.lines {
		switch line.keyword {
		case "host":
			state = outer.and(sshState{verdict: sshMatches(line.words, s.hostLineName()), at: line})
		case "match":
			state = outer.and(s.match(line))
		case "include":
			for _, included := range line.included {
				s.search(included, state)
			}
		default:
			s.line(line, state)
		}
	}
}

// line takes a value we use, or says why the line cannot be used.
func (s *sshSearch) line(line sshConfigLine, state sshState) {
	if state.verdict == sshNo || s.settled[line.keyword] {
		return
	}
	if state.verdict == sshMaybe {
		if !sshIgnored[line.keyword] {
			s.errs = append(s.errs, state.at.fault("Match "+state.why+" is not supported, and its block says more than comfort: write Host blocks, or Match host, user or all"))
			s.settled[line.keyword] = true // once is enough
		}
		return
	}
	if line.keyword != "identityfile" {
		s.settled[line.keyword] = true
	}
	if problem := s.take(line); problem != "" {
		s.errs = append(s.errs, line.fault(problem))
	}
}

// take stores what the line says.
func (s *sshSearch) take(line sshConfigLine) (problem string) {
	f := &s.found
	if _, before := f.from[line.keyword]; !before {
		f.from[line.keyword] = line
	}
	switch line.keyword {
	case "hostname":
		f.hostName, problem = expandHostName(line.value, s.ask.name)
	case "port":
		f.port, problem = sshPort(line.value)
	case "user":
		f.user, problem = sshWord("User", line.value)
	case "hostkeyalias":
		f.alias, problem = sshWord("HostKeyAlias", line.value)
	case "identityfile":
		if !slices.ContainsFunc(f.keys, func(k sshConfigLine) bool { return k.value == line.value }) {
			f.keys = append(f.keys, line)
		}
	case "proxyjump":
		f.jump = line.value
		s.settled["proxycommand"] = true
	case "proxycommand":
		s.settled["proxyjump"] = true
		problem = judgeSSHKeyword(line.keyword, line.value)
	default:
		problem = judgeSSHKeyword(line.keyword, line.value)
	}
	return problem
}

// hostLineName is what a Host line is compared with.
func (s *sshSearch) hostLineName() string {
	if s.final {
		return s.targetName()
	}
	return s.ask.name
}

// targetName is the host as far as it is known.
func (s *sshSearch) targetName() string { return cmp.Or(s.ask.host, s.found.hostName, s.ask.name) }

// userName is who we are there as far as it is known.
func (s *sshSearch) userName() string {
	return cmp.Or(s.ask.user, s.found.user, s.ask.userElse, s.config.person)
}

// keyLines are the lines with a key; "none" is none.
func (f sshFound) keyLines() []sshConfigLine {
	var kept []sshConfigLine
	for _, line := range f.keys {
		if !strings.EqualFold(line.value, "none") {
			kept = append(kept, line)
		}
	}
	return kept
}
