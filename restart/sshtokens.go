package restart

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// expandTokens replaces %x by what tokens hold for x; %% is a percent sign.
func expandTokens(keyword, value string, tokens map[byte]string) (string, string) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			b.WriteByte(value[i])
			continue
		}
		i++
		if i < len(value) && value[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if i == len(value) || !hasToken(tokens, value[i]) {
			return "", keyword + " may hold only the tokens " + tokenNames(tokens) + " and %%: write it out"
		}
		b.WriteString(tokens[value[i]])
	}
	return b.String(), ""
}

func hasToken(tokens map[byte]string, token byte) bool {
	_, ok := tokens[token]
	return ok
}

func tokenNames(tokens map[byte]string) string {
	var names []string
	for _, t := range []byte("dhnpru") {
		if hasToken(tokens, t) {
			names = append(names, "%"+string(t))
		}
	}
	return strings.Join(names, ", ")
}

func expandHostName(value, name string) (string, string) {
	host, problem := expandTokens("HostName", value, map[byte]string{'h': name, 'n': name})
	if problem != "" {
		return "", problem
	}
	if host == "" || strings.ContainsAny(host, " \t\"'/@$") {
		return "", "HostName is not one host name or address: correct it"
	}
	return host, ""
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

// expandKey is the path of an IdentityFile line for that target. Variables of the environment
// would differ between a service and a shell; only the home is told.
func (c *sshConfig) expandKey(line sshConfigLine, name string, t Target) (string, error) {
	value := strings.ReplaceAll(line.value, "${HOME}", "%d")
	tokens := map[byte]string{'h': t.Host, 'n': name, 'p': strconv.Itoa(t.Port), 'r': t.User, 'd': "", 'u': ""}
	if strings.Contains(value, "%d") || strings.Contains(value, "%u") {
		who, problem := c.whose()
		if problem != "" {
			return "", line.fault(problem)
		}
		tokens['d'], tokens['u'] = who.HomeDir, who.Username
	}
	if strings.Contains(value, "$") {
		return "", line.fault("IdentityFile may hold no variable but ${HOME}: write the path out")
	}
	file, problem := expandTokens("IdentityFile", value, tokens)
	if problem == "" && strings.HasPrefix(file, "~") {
		file, problem = c.expandHome(file)
	}
	switch {
	case problem != "":
	case !filepath.IsAbs(file):
		problem = "IdentityFile is not an absolute path: write it in full"
	case strings.HasPrefix(filepath.Clean(file), "/root/.ssh/"):
		problem = "IdentityFile is root's own identity: give the watchdog files of its own"
	}
	if problem != "" {
		return "", line.fault(problem)
	}
	return filepath.Clean(file), nil
}

// expandHome replaces the ~ in front of a path.
func (c *sshConfig) expandHome(file string) (string, string) {
	rest, ok := strings.CutPrefix(file, "~/")
	if !ok {
		return "", "only ~/ is supported, not the ~ of a named user: write the path out"
	}
	who, problem := c.whose()
	if problem != "" {
		return "", problem
	}
	return filepath.Join(who.HomeDir, rest), ""
}

// whose home ~ is: that of the SSH user on this machine, never that of root.
func (c *sshConfig) whose() (*user.User, string) {
	var who *user.User
	var err error
	if c.person != "" {
		who, err = user.Lookup(c.person)
	} else {
		who, err = user.LookupId(strconv.Itoa(os.Geteuid()))
	}
	switch {
	case err != nil:
		return nil, "~ is the home of the SSH user, who does not exist on this machine: write the path out"
	case who.Uid == "0":
		return nil, "~ would be the home of root: write the path out, or set the SSH user"
	case !filepath.IsAbs(who.HomeDir):
		return nil, "~ is the home of the SSH user, who has none: write the path out"
	}
	return who, ""
}
