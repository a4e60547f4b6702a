package restart

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// maxSSHInclude is how deep files may include each other, as in OpenSSH.
const maxSSHInclude = 16

// readFile reads one file and what it includes. The library reads the lines that set something;
// Host, Match and Include are ours: it knows few kinds of Match, and it would open included files
// unchecked and below the home of whoever runs the watchdog.
func (c *sshConfig) readFile(path string, owners identityOwners, depth int) (*sshFile, error) {
	f, err := openIdentityFile("ssh_config", path, owners, false)
	if err != nil {
		return nil, fmt.Errorf("cannot use %w", err)
	}
	defer f.Close()
	content, err := readIdentityFile(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use ssh_config %s: %w", path, err)
	}
	file := &sshFile{path: path}
	rest, err := file.takeBlocks(content)
	if err != nil {
		return nil, err
	}
	parsed, err := ssh_config.DecodeBytes(rest)
	if err != nil {
		// The parser's message may quote the file.
		return nil, fmt.Errorf("cannot use ssh_config %s: it does not parse: check it with ssh -G -F %s", path, path)
	}
	for _, node := range parsed.Hosts[0].Nodes {
		if kv, ok := node.(*ssh_config.KV); ok {
			file.lines = append(file.lines, sshConfigLine{path: path, number: kv.Pos().Line, keyword: strings.ToLower(kv.Key), value: kv.Value})
		}
	}
	slices.SortStableFunc(file.lines, func(a, b sshConfigLine) int { return a.number - b.number })
	return file, c.include(file, owners, depth)
}

// takeBlocks takes the lines that make blocks and leaves the others, each in its place. A line
// without a proper keyword would make the library spin for ever.
func (f *sshFile) takeBlocks(content []byte) (rest []byte, err error) {
	var errs []error
	lines := bytes.Split(content, []byte("\n"))
	for i, raw := range lines {
		text := strings.TrimSpace(string(raw))
		if text == "" || text[0] == '#' {
			continue
		}
		keyword, value := cutSSHKeyword(text)
		line := sshConfigLine{path: f.path, number: i + 1, keyword: keyword}
		switch {
		case strings.Trim(keyword, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || keyword == "":
			errs = append(errs, line.fault("this is not a keyword with its value: correct the line"))
		case keyword == "host" || keyword == "match" || keyword == "include":
			var problem string
			if line.words, problem = sshWords(value); problem != "" {
				errs = append(errs, line.fault(problem))
			}
			f.lines = append(f.lines, line)
			lines[i] = nil
		}
	}
	return bytes.Join(lines, []byte("\n")), errors.Join(errs...)
}

// cutSSHKeyword splits a line at its first blanks or equals sign.
func cutSSHKeyword(text string) (keyword, value string) {
	end := strings.IndexAny(text, " \t=")
	if end < 0 {
		return strings.ToLower(text), ""
	}
	value = strings.TrimLeft(text[end:], " \t")
	value = strings.TrimLeft(strings.TrimPrefix(value, "="), " \t")
	return strings.ToLower(text[:end]), value
}

// sshWords splits what stands behind Host, Match or Include. A word may be quoted; a comment ends
// the line.
func sshWords(text string) (words []string, problem string) {
	for {
		text = strings.TrimLeft(text, " \t")
		if text == "" || text[0] == '#' {
			break
		}
		var word strings.Builder
		for text != "" && text[0] != ' ' && text[0] != '\t' {
			if text[0] != '"' {
				word.WriteByte(text[0])
				text = text[1:]
				continue
			}
			quoted, after, closed := strings.Cut(text[1:], `"`)
			if !closed {
				return nil, "a quote is not closed: correct the line"
			}
			word.WriteString(quoted)
			text = after
		}
		words = append(words, word.String())
	}
	if len(words) == 0 {
		return nil, "nothing stands behind the keyword: correct the line"
	}
	return words, ""
}

// include reads what the Include lines name. As in OpenSSH a pattern that fits nothing is fine.
func (c *sshConfig) include(file *sshFile, owners identityOwners, depth int) error {
	var errs []error
	for i := range file.lines {
		line := &file.lines[i]
		if line.keyword != "include" {
			continue
		}
		if depth >= maxSSHInclude {
			return line.fault("Include is nested too deep: does a file include itself?")
		}
		paths, problem := c.includedBy(*line)
		if problem != "" {
			errs = append(errs, line.fault(problem))
		}
		for _, path := range paths {
			included, err := c.readFile(path, owners, depth+1)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			errs = append(errs, err)
			line.included = append(line.included, included)
		}
	}
	return errors.Join(errs...)
}

// includedBy are the files of an Include line: a relative path is below ~/.ssh, in a file of the
// system below /etc/ssh.
func (c *sshConfig) includedBy(line sshConfigLine) (paths []string, problem string) {
	const system = "/etc/ssh"
	for _, word := range line.words {
		pattern := word
		switch {
		case strings.ContainsAny(word, "%$"):
			return nil, "Include may hold no tokens and no variables: write the path out"
		case filepath.IsAbs(word):
		case !strings.HasPrefix(word, "~") && strings.HasPrefix(line.path, system+"/"):
			pattern = filepath.Join(system, word)
		default:
			if !strings.HasPrefix(word, "~") {
				word = "~/.ssh/" + word
			}
			if pattern, problem = c.expandHome(word); problem != "" {
				return nil, problem
			}
		}
		found, err := filepath.Glob(pattern)
		if err != nil {
			return nil, "Include holds a pattern that does not parse: correct it"
		}
		paths = append(paths, found...)
	}
	return paths, ""
}
