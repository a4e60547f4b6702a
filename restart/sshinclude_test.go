package restart

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSSHConfigInclude has a folder of files per row; the first is the one that is named.
func TestSSHConfigInclude(t *testing.T) {
	rows := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"glob in order of names", map[string]string{"config": "Include DIR/conf.d/*.conf\nPort 9\n", "conf.d/b.conf": "Port 6\n", "conf.d/a.conf": "Port 5\n", "conf.d/c.txt": "Port 4\n"}, "me@n2:5"},
		{"several words, quoted", map[string]string{"config": "Include DIR/none \"DIR/with blank\"\n", "with blank": "Port 5\n"}, "me@n2:5"},
		{"the first value wins", map[string]string{"config": "Port 9\nInclude DIR/a\n", "a": "Port 5\n"}, "me@n2:9"},
		{"in a block for us", map[string]string{"config": "Host n2\n Include DIR/a\n", "a": "Port 5\n"}, "me@n2:5"},
		{"in a block for another", map[string]string{"config": "Host n9\n Include DIR/a\n", "a": "Port 5\nHost n2\n Port 6\n"}, "me@n2:22"},
		{"its blocks end with it", map[string]string{"config": "Include DIR/a\nPort 5\n", "a": "Host n9\n Port 6\n"}, "me@n2:5"},
		{"includes again", map[string]string{"config": "Include DIR/a\n", "a": "Include DIR/b\n", "b": "Host n2\n Port 5\n"}, "me@n2:5"},
		{"H11 includes itself", map[string]string{"config": "Include DIR/config\n"}, "DIR/config line 1: Include is nested too deep"},
		{"H09 Match within", map[string]string{"config": "Include DIR/*.conf\n", "a.conf": "Host n2\n Port 5\n\nMatch exec tiger\n User x\n HostName y\n"}, "DIR/a.conf line 4: Match exec is not supported"},
		{"H10 error within", map[string]string{"config": "\nInclude DIR/a\n", "a": "# x\nHost n2\n Port tiger\n"}, "DIR/a line 3: Port is not a number"},
		{"H10 no keyword within", map[string]string{"config": "Include DIR/a\n", "a": "\n= tiger\n"}, "DIR/a line 2: this is not a keyword"},
		{"for all to write", map[string]string{"config": "Include DIR/open*\n", "open": "Port 5\n"}, "DIR/open: others can write it"},
		{"a folder", map[string]string{"config": "Include DIR/conf.d\n", "conf.d/a": "Port 5\n"}, "DIR/conf.d: is a directory"},
		{"bad pattern", map[string]string{"config": "Include DIR/[\n"}, "line 1: Include holds a pattern that does not parse"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range row.files {
				path := filepath.Join(dir, name)
				sshMust(t, os.MkdirAll(filepath.Dir(path), 0o755))
				mode := os.FileMode(0o644)
				if strings.HasPrefix(name, "open") {
					mode = 0o666
				}
				sshMust(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), mode))
				sshMust(t, os.Chmod(path, mode))
			}
			got := sshResolved(t, filepath.Join(dir, "config"))
			want := strings.ReplaceAll(row.want, "DIR", dir)
			if got != want && !strings.Contains(got, "cannot use ssh_config "+want) && !(strings.HasPrefix(want, "line") && strings.Contains(got, want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if strings.Contains(strings.ReplaceAll(got, dir, ""), "tiger") {
				t.Errorf("the error quotes the file: %s", got)
			}
		})
	}
}

// TestSSHConfigIncludeRelative: below ~/.ssh, or for the system's file below /etc/ssh.
func TestSSHConfigIncludeRelative(t *testing.T) {
	rows := []struct{ name, person, path, word, want, problem string }{
		{"of the system", "root", "/etc/ssh/ssh_config", "../passwd", "/etc/passwd", ""},
		{"of the system, with a tilde", "root", "/etc/ssh/ssh_config", "~/x", "", "~ would be the home of root"},
		{"of root", "root", "/srv/config", "x", "", "~ would be the home of root"},
		{"of a user of the nodes only", "no-such-user-here", "/srv/config", "x", "", "does not exist on this machine"},
		{"of another", "nobody", "/srv/config", "~root/x", "", "only ~/ is supported"},
		{"of nobody, who has no such file", "nobody", "/srv/config", "x", "", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := &sshConfig{person: row.person}
			paths, problem := c.includedBy(sshConfigLine{path: row.path, words: []string{row.word}})
			if got := strings.Join(paths, " "); got != row.want || !strings.Contains(problem, row.problem) || (problem == "") != (row.problem == "") {
				t.Errorf("got %q and %q, want %q and %q", got, problem, row.want, row.problem)
			}
		})
	}
}

// TestSSHConfigKeysH11 reads IdentityFile as somebody whose home is not root's.
func TestSSHConfigKeysH11(t *testing.T) {
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("no user nobody on this machine")
	}
	home := nobody.HomeDir
	rows := []struct{ name, user, file, want string }{
		{"H11 absolute", "nobody", "IdentityFile /k/id\n", "/k/id"},
		{"H11 in quotes", "nobody", "IdentityFile \"/k/my id\"\n", "/k/my id"},
		{"H11 several, in order", "nobody", "Host n2\n IdentityFile /k/b\n IdentityFile /k/a\nHost *\n IdentityFile /k/c\n", "/k/b /k/a /k/c"},
		{"H11 several, once with Match final", "nobody", "IdentityFile /k/b\nMatch final all\n IdentityFile /k/c\n", "/k/b /k/c"},
		{"H11 tilde", "nobody", "IdentityFile ~/.ssh/id\n", home + "/.ssh/id"},
		{"H11 tokens", "nobody", "HostName h.lan\nPort 5\nIdentityFile %d/%h-%n-%p-%r-%u-%%\n", home + "/h.lan-n2-5-nobody-nobody-%"},
		{"H11 HOME", "nobody", "IdentityFile ${HOME}/id\n", home + "/id"},
		{"H11 another variable", "nobody", "\nIdentityFile ${TIGER}/id\n", "line 2: IdentityFile may hold no variable but ${HOME}"},
		{"H11 unknown token", "nobody", "IdentityFile /k/%C\n", "line 1: IdentityFile may hold only the tokens %d, %h, %n, %p, %r, %u"},
		{"H11 another's tilde", "nobody", "IdentityFile ~tiger/id\n", "line 1: only ~/ is supported"},
		{"H11 relative", "nobody", "IdentityFile id\n", "line 1: IdentityFile is not an absolute path"},
		{"H11 root's tilde", "root", "IdentityFile ~/.ssh/id\n", "line 1: ~ would be the home of root"},
		{"H11 root's keys", "nobody", "IdentityFile /root/.ssh/../.ssh/id\n", "line 1: IdentityFile is root's own identity"},
		{"H11 a user of the nodes only", "no-such-user-here", "IdentityFile ~/.ssh/id\n", "line 1: ~ is the home of the SSH user, who does not exist"},
		{"H11 the library's default is none", "nobody", "Port 5\n", "no key is configured"},
		{"H11 none", "nobody", "IdentityFile none\n", "no key is configured"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := sshWriteFile(t, "config", row.file, 0o644)
			config, err := readSSHConfig(path, row.user, trustedOwners(nil))
			sshMust(t, err)
			target, errs := resolvePlace(Identity{User: row.user, SSHConfig: path}, Place{Name: "n2"}, config)
			got := strings.Join(target.Keys, " ")
			if len(errs) > 0 {
				got = errors.Join(errs...).Error()
				if !strings.Contains(got, row.want) || strings.Contains(strings.ToLower(got), "tiger") {
					t.Errorf("got %s\nwant %s", got, row.want)
				}
			} else if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// TestSSHConfigKeysAreOursFirst: with keys of our own no other is used, for jump hosts either.
func TestSSHConfigKeysAreOursFirst(t *testing.T) {
	path := sshWriteFile(t, "config", "Host n2\n ProxyJump gate\n IdentityFile /k/a\nHost *\n IdentityFile ~no/b\n", 0o644)
	config, err := readSSHConfig(path, "me", trustedOwners(nil))
	sshMust(t, err)
	target, errs := resolvePlace(Identity{User: "me", Keys: []string{"/ours"}, KnownHosts: "/hosts"}, Place{Name: "n2"}, config)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for at := &target; at != nil; at = at.Via {
		if !slices.Equal(at.Keys, []string{"/ours"}) || at.KnownHosts != "/hosts" {
			t.Errorf("%s: got %v and %s", at.Name, at.Keys, at.KnownHosts)
		}
	}
	if target.Via == nil || target.Via.Name != "gate" {
		t.Errorf("got way %v", target.Via)
	}
}

// TestSSHSources says of each value where it came from.
func TestSSHSources(t *testing.T) {
	path := sshWriteFile(t, "config", "Host n2\n HostName 10.0.0.2\n User ops\n HostKeyAlias x\n ProxyJump gate\n IdentityFile /k/a\n IdentityFile none\n IdentityFile /k/b\n", 0o644)
	config, err := readSSHConfig(path, "", trustedOwners(nil))
	sshMust(t, err)
	rows := []struct {
		name  string
		id    Identity
		place Place
		want  []Source
	}{
		{"from the file", Identity{KnownHosts: "/hosts"}, Place{Name: "n2", Port: 7}, []Source{
			{"host", "10.0.0.2", path + " line 2"}, {"port", "7", "the config"}, {"user", "ops", path + " line 3"},
			{"key", "/k/a", path + " line 6"}, {"key", "/k/b", path + " line 8"}, {"known_hosts", "/hosts", "the config"},
			{"host key alias", "x", path + " line 4"}, {"jump hosts", "gate", path + " line 5"}}},
		{"from us", Identity{User: "me", Keys: []string{"/k"}, KnownHosts: "/hosts"}, Place{Name: "n9", Host: "h"}, []Source{
			{"host", "h", "the config"}, {"port", "22", "the default"}, {"user", "me", "the config"}, {"key", "/k", "the config"},
			{"known_hosts", "/hosts", "the config"}}},
		{"from nowhere", Identity{User: "me", Keys: []string{"/k"}}, Place{Name: "n9"}, []Source{
			{"host", "n9", "its name"}, {"port", "22", "the default"}, {"user", "me", "the config"}, {"key", "/k", "the config"},
			{"known_hosts", "", "the config"}}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			target, _ := resolvePlace(row.id, row.place, config)
			if fmt.Sprint(target.Sources) != fmt.Sprint(row.want) {
				t.Errorf("got  %v\nwant %v", target.Sources, row.want)
			}
		})
	}
}
