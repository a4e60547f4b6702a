package restart

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestSSHConfig resolves n2 with one file per row.
func TestSSHConfig(t *testing.T) {
	rows := []struct{ name, file, want string }{
		{"empty", "", "me@n2:22"},
		{"comments only", "# nothing\n\n   # at all\n", "me@n2:22"},
		{"H18 all four", "Host n2\n HostName 10.0.0.2\n Port 4242\n User ops\n HostKeyAlias spark-n2\n", "me@10.0.0.2:4242 as spark-n2"},
		{"before any Host", "Port 4242\nHost n9\n Port 1\n", "me@n2:4242"},
		{"other host", "Host n9\n HostName 10.0.0.9\n ProxyJump bastion\n", "me@n2:22"},
		{"first value wins", "Host n2\n Port 1\nHost *\n Port 2\n HostName 10.0.0.2\n", "me@10.0.0.2:1"},
		{"pattern *", "Host n*\n HostName %h.lan\n", "me@n2.lan:22"},
		{"pattern ?", "Host n?\n Port 5\n", "me@n2:5"},
		{"? is exactly one", "Host n2?\n Port 5\n", "me@n2:22"},
		{"negated", "Host n* !n2\n Port 5\n", "me@n2:22"},
		{"several patterns", "Host n1 n2\n Port 5\n", "me@n2:5"},
		{"patterns split by a tab", "Host n1\tn2\n Port 5\n", "me@n2:5"},
		{"brackets are no wildcard", "Host n[2]\n Port 5\n", "me@n2:22"},
		{"H11 keywords in any case", "hOST n2\n pORT 5\n", "me@n2:5"},
		{"H11 patterns in their case", "Host N2\n Port 5\n", "me@n2:22"},
		{"H11 equals sign", "Host=n2\n Port = 5\n HostName=10.0.0.2\n", "me@10.0.0.2:5"},
		{"H11 quotes", "Host n2\n HostName \"10.0.0.2\"\n", "me@10.0.0.2:22"},
		{"H11 CRLF", "Host n2\r\n HostName 10.0.0.2\r\n Port 5\r\n", "me@10.0.0.2:5"},
		{"H11 no newline at the end", "Host n2\n Port 5", "me@n2:5"},
		{"H11 comment behind", "Host n2 # the second\n Port 5 # odd\n", "me@n2:5"},
		{"H11 tokens", "Host n2\n HostName %n-%h.%%\n", "me@n2-n2.%:22"},
		{"H11 unknown token", "Host n2\n HostName %r.lan\n", "line 2: HostName may hold only"},
		{"H11 token without an end", "Host n2\n HostName lan%\n", "line 2: HostName may hold only"},
		{"H11 variable", "Host n2\n HostName ${HOST}\n", "line 2: HostName is not one host name"},
		{"H11 two values", "Host n2\n HostName a b\n", "line 2: HostName is not one host name"},
		{"H11 no value", "Host n2\n HostName\n", "line 2: HostName is not one host name"},
		{"H11 port is a word", "Host n2\n Port abc\n", "line 2: Port is not a number"},
		{"H11 port zero", "Host n2\n Port 0\n", "line 2: Port is not a number"},
		{"H11 port too large", "Host n2\n Port 65536\n", "line 2: Port is not a number"},
		{"H11 alias with a token", "Host n2\n HostKeyAlias %h\n", "line 2: HostKeyAlias is not one plain word"},
		{"keys and trust are ours", "Host n2\n IdentityFile ~/.ssh/id_rsa\n IdentitiesOnly yes\n UserKnownHostsFile /dev/null\n StrictHostKeyChecking no\n ForwardAgent yes\n", "me@n2:22"},
		{"H18 ProxyJump", "Host n2\n ServerAliveInterval 5\n ProxyJump bastion\n", "me@n2:22 via me@bastion:22"},
		{"H18 ProxyJump of everybody", "Host *\n ServerAliveInterval 5\n ProxyJump bastion\n", "line 3: ProxyJump leads in a circle"},
		{"H18 ProxyJump by its own lines", "Host n2\n ProxyJump b\nHost b\n HostName 10.0.0.9\n Port 7\n User jump\n HostKeyAlias gate\n", "me@n2:22 via jump@10.0.0.9:7 as gate"},
		{"H18 ProxyJump with user and port", "Host n2\n ProxyJump x@b:8\nHost b\n Port 7\n User jump\n", "me@n2:22 via x@b:8"},
		{"H18 ProxyJump URL", "Host n2\n ProxyJump ssh://x@b:8\n", "me@n2:22 via x@b:8"},
		{"H18 ProxyJump IPv6", "Host n2\n ProxyJump x@[fd00::1]:8,[fd00::2]\n", "me@n2:22 via me@fd00::2:22 via x@fd00::1:8"},
		{"H18 ProxyJump of several hops", "Host n2\n ProxyJump a,b\nHost a\n ProxyJump z\nHost b\n ProxyJump nobody\n", "me@n2:22 via me@b:22 via me@a:22 via me@z:22"},
		{"H18 ProxyJump settles the way to its later hosts", "Host n2\n ProxyJump a,b\nHost b\n ProxyCommand nc tiger\n", "me@n2:22 via me@b:22 via me@a:22"},
		{"H18 ProxyJump through a jump host's own", "Host n2\n ProxyJump b\nHost b\n ProxyJump a\n", "me@n2:22 via me@b:22 via me@a:22"},
		{"H18 ProxyJump in a circle", "Host n2\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump a\n", "line 6: ProxyJump leads in a circle"},
		{"H18 ProxyJump tokens", "Host n2\n HostName 10.0.0.2\n ProxyJump gate-%n-%h\n", "me@10.0.0.2:22 via me@gate-n2-10.0.0.2:22"},
		{"H18 ProxyJump with an unknown token", "Host n2\n ProxyJump %d\n", "line 2: ProxyJump may hold only the tokens %h, %n, %p, %r"},
		{"H18 ProxyJump that is no list", "Host n2\n ProxyJump a,,b\n", "line 2: ProxyJump is not a list"},
		{"H18 ProxyJump with a bad port", "Host n2\n ProxyJump a:tiger\n", "line 2: ProxyJump is not a list"},
		{"H18 a jump host's ProxyCommand", "Host n2\n ProxyJump a\nHost a\n ProxyCommand nc tiger\n", "line 4: ProxyCommand is not supported"},
		{"H18 ProxyJump before ProxyCommand", "Host n2\n ProxyJump a\n ProxyCommand nc\n", "me@n2:22 via me@a:22"},
		{"H18 ProxyCommand before ProxyJump", "Host n2\n ProxyCommand nc\n ProxyJump a\n", "line 2: ProxyCommand is not supported"},
		{"H18 ProxyJump none", "Host n2\n ProxyJump none\nHost *\n ProxyJump bastion\n", "me@n2:22"},
		{"H18 ProxyCommand", "Host n2\n ProxyCommand nc %h %p\n", "line 2: ProxyCommand is not supported"},
		{"H18 CanonicalizeHostname", "CanonicalizeHostname yes\n", "line 1: CanonicalizeHostname is not supported"},
		{"H18 CanonicalizeHostname no", "CanonicalizeHostname no\n", "me@n2:22"},
		{"BindAddress", "Host n2\n BindAddress 10.0.0.1\n", "line 2: BindAddress is not supported"},
		{"AddressFamily", "Host n2\n AddressFamily inet6\n", "line 2: AddressFamily is not supported"},
		{"CertificateFile", "Host n2\n CertificateFile ~/c\n", "line 2: CertificateFile is not supported"},
		{"RevokedHostKeys", "Host n2\n RevokedHostKeys /etc/ssh/revoked\n", "line 2: RevokedHostKeys is not supported"},
		{"unknown keyword", "Host n2\n TigerMode yes\n", "line 2: this keyword is unknown here"},
		{"unknown keyword elsewhere", "Host n9\n TigerMode yes\n", "me@n2:22"},
		{"H09 Match all", "Match all\n Port 5\n", "me@n2:5"},
		{"H09 Match all in any case", "match=ALL\n Port 5\n", "me@n2:5"},
		{"H09 Match host", "Match host n1,n?\n Port 5\n", "me@n2:5"},
		{"H09 Match host of another", "Host n2\n Port 5\n\nMatch host n9\n HostName x\n", "me@n2:5"},
		{"H09 Match host looks at HostName", "Host n2\n HostName 10.0.0.2\nMatch host 10.*\n Port 5\nMatch host n2\n Port 6\n", "me@10.0.0.2:5"},
		{"H09 Match host negated pattern", "Match host n*,!n2\n Port 5\n", "me@n2:22"},
		{"H09 Match negated", "Match !host n9\n Port 5\n", "me@n2:5"},
		{"H09 Match user", "Match user me\n Port 5\n", "me@n2:5"},
		{"H09 Match user and host", "Match user me host n9\n Port 5\nMatch user you host n2\n Port 6\n", "me@n2:22"},
		{"H09 Match originalhost", "Host n2\n HostName 10.0.0.2\nMatch originalhost n2\n Port 5\n", "me@10.0.0.2:5"},
		{"H09 Match final", "Match final host 10.0.0.2\n Port 5\nHost n2\n HostName 10.0.0.2\nHost 10.0.0.2\n HostKeyAlias second\n", "me@10.0.0.2:5 as second"},
		{"H09 Match final of Fedora", "Host n2\n Port 5\nMatch final all\n GSSAPIAuthentication yes\n ForwardX11Trusted yes\n", "me@n2:5"},
		{"H09 Match without a value", "Match host\n", "line 1: a criterion of Match has no value"},
		{"H09 Match all with more", "Match all host n2\n", "line 1: Match all stands alone"},
		{"H09 H10 Match exec", "Host n2\n HostName 10.0.0.2\nmatch EXEC \"tiger x\"\n Port 5\n", "line 3: Match exec is not supported"},
		{"H09 Match exec of another", "Match host n9 exec tiger\n Port 5\n", "me@n2:22"},
		{"H09 Match exec of comfort alone", "Match exec tiger\n ForwardAgent yes\n", "me@n2:22"},
		{"H09 Match exec of what is settled", "Host n2\n Port 5\nMatch exec tiger\n Port 6\n", "me@n2:5"},
		{"H09 Match by an unknown criterion", "Match tiger x\n Port 6\n", "line 1: Match by this criterion is not supported"},
		{"Include", "Host n2\n Include /etc/ssh/nowhere.d/*\n Port 5\n", "me@n2:5"},
		{"Include with a token", "Include /etc/%h\n", "line 1: Include may hold no tokens"},
		{"Include of nothing", "Match all\nInclude\n", "line 2: nothing stands behind the keyword"},
		{"H11 quotes around a pattern", "Host \"n2\" n3\n Port 5\n", "me@n2:5"},
		{"H11 quote that is not closed", "Host \"n2\n", "line 1: a quote is not closed"},
		{"H10 line without a keyword", "Host n2\n= 5\n", "line 2: this is not a keyword"},
		{"H10 quoted keyword", "\"Match\" all\n", "line 1: this is not a keyword"},
		{"H10 a key instead", "-----BEGIN TIGER PRIVATE KEY-----\nAAAA\n", "line 1: this is not a keyword"},
		{"H10 the middle of a key", "b3BlbnNzaC1rZXktdjEAAAAATIGER\n", "line 1: this keyword is unknown here"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := sshWriteFile(t, "config", row.file, 0o644)
			got := sshResolved(t, path)
			if strings.HasPrefix(row.want, "line ") {
				if !strings.Contains(got, "cannot use ssh_config "+path+" "+row.want) {
					t.Errorf("got %s\nwant %s", got, row.want)
				}
			} else if got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if strings.Contains(strings.ToLower(got), "tiger") {
				t.Errorf("the error quotes the file: %s", got)
			}
		})
	}
}

// sshResolved is the one target, or the error, in words.
func sshResolved(t *testing.T, path string) string {
	t.Helper()
	config, err := readSSHConfig(path, "me", trustedOwners(nil))
	if err != nil {
		return err.Error()
	}
	target, errs := resolvePlace(Identity{User: "me", Keys: []string{"/k"}}, Place{Name: "n2"}, config)
	if len(errs) > 0 {
		return errors.Join(errs...).Error()
	}
	var way []string
	for at := &target; at != nil; at = at.Via {
		text := fmt.Sprintf("%s@%s:%d", at.User, at.Host, at.Port)
		if at.HostKeyAlias != "" {
			text += " as " + at.HostKeyAlias
		}
		way = append(way, text)
	}
	return strings.Join(way, " via ")
}

func TestOwnConfigurationWins(t *testing.T) {
	path := sshWriteFile(t, "config", "Host n2\n HostName 10.0.0.2\n Port 4242\n User ops\n", 0o644)
	config, err := readSSHConfig(path, "me", trustedOwners(nil))
	if err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name  string
		id    Identity
		place Place
		want  string
	}{
		{"all from ssh_config", Identity{}, Place{Name: "n2"}, "ops@10.0.0.2:4242"},
		{"user is ours", Identity{User: "me"}, Place{Name: "n2"}, "me@10.0.0.2:4242"},
		{"host is ours", Identity{}, Place{Name: "n2", Host: "10.9.9.9"}, "ops@10.9.9.9:4242"},
		{"port is ours", Identity{}, Place{Name: "n2", Port: 7}, "ops@10.0.0.2:7"},
		{"the host is no alias", Identity{User: "me"}, Place{Name: "n3", Host: "n2"}, "me@n2:22"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			row.id.Keys = []string{"/k"}
			target, errs := resolvePlace(row.id, row.place, config)
			if got := fmt.Sprintf("%s@%s:%d", target.User, target.Host, target.Port); len(errs) > 0 || got != row.want {
				t.Errorf("got %s, %v; want %s", got, errs, row.want)
			}
		})
	}
}

func TestSSHConfigFileIsChecked(t *testing.T) {
	for _, row := range []struct{ name, path, want string }{
		{"missing", "/nonexistent/config", "does not exist"},
		{"for all to write", sshWriteFile(t, "config", "Host n2\n", 0o666), "others can write it"},
		{"folder", t.TempDir(), "is a directory"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := sshResolved(t, row.path); !strings.Contains(got, "cannot use ssh_config "+row.path+": "+row.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestSSHConfigAgreesWithOpenSSH asks the real program, where there is one.
func TestSSHConfigAgreesWithOpenSSH(t *testing.T) {
	program, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("no ssh on this machine")
	}
	for _, file := range []string{
		"Host n2\n HostName 10.0.0.2\n Port 4242\n HostKeyAlias spark-n2\n",
		"Host n* !n2\n Port 5\nHost *\n Port 6\n",
		"Host n2?\n Port 5\n", "Host n?\n Port 5\n", "Host ?2\n HostName %h.lan\n",
		"Host n1\tn2\n Port 5\n", "Host N2\n Port 5\n", "Host=n2\n Port=5\n",
		"Host n2\n HostName \"10.0.0.2\"\n", "Host n2\r\n Port 5\r\n", "Port 7\nHost n2\n Port 5\n",
		"Host n2\n ProxyJump none\nHost *\n ProxyJump bastion\n",
		"Host \"n2\" n3\n Port 5\n", "Host n2 # n3\n Port 5 # five\n", "Match host n*,!n2\n Port 5\n", "Match !host n9\n Port 5\n",
		"Match all\n Port 5\n", "Match user me host N2\n Port 5\n", "Match user you\n Port 5\n", "Match originalhost n2 host n2\n Port 5\n",
		"Host n2\n HostName 10.0.0.2\nMatch host 10.*\n Port 5\nMatch host n2\n HostKeyAlias no\n",
		"Match final host 10.0.0.2\n Port 5\nHost n2\n HostName 10.0.0.2\nHost 10.0.0.2\n HostKeyAlias second\n",
		"Match canonical\n Port 5\nMatch !final all\n HostKeyAlias first\n", "Match !all\n Port 5\n", "Match host\tn2\n Port=5\n",
		"Match host n9 exec false\n Port 5\n", "Host 10/8 n2\n Port 5\n", "Host n[2] n!2\n Port 5\n", "Host n2\nHost\n Port 5\n", "Match\n Port 5\n",
	} {
		path := sshWriteFile(t, "config", file, 0o644)
		out, err := exec.Command(program, "-G", "-F", path, "-l", "me", "n2").Output()
		if err != nil { // it refuses the file, and so must we
			if got := sshResolved(t, path); !strings.Contains(got, "cannot use ssh_config") {
				t.Errorf("%q: got %s, ssh says %v", file, got, err)
			}
			continue
		}
		said := map[string]string{}
		for line := range strings.Lines(string(out)) {
			keyword, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			said[keyword] = value
		}
		want := fmt.Sprintf("%s@%s:%s", said["user"], said["hostname"], said["port"])
		if said["hostkeyalias"] != "" && said["hostkeyalias"] != "none" {
			want += " as " + said["hostkeyalias"]
		}
		if got := sshResolved(t, path); got != want {
			t.Errorf("%q: got %s, ssh says %s", file, got, want)
		}
	}
}

func FuzzSSHConfig(f *testing.F) {
	for _, seed := range []string{"Host n2\n Port 5", "=", "Host", "a=", "Host n2\n HostName \"", "\r\rHost\tn2#", "Include\n", " \x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		path := sshWriteFile(t, "config", file, 0o644)
		done := make(chan struct{})
		go func() {
			defer close(done)
			sshResolved(t, path)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%q is never parsed", file)
		}
	})
}
