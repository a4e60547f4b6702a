package restart

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	xknownhosts "golang.org/x/crypto/ssh/knownhosts"

	"cluster-watchdog/watchdog"
)

func TestSSHKnownHosts(t *testing.T) {
	hosts := map[string]ssh.Signer{}
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		hosts[kind], _ = sshKeyPair(t, kind)
	}
	other, _ := sshKeyPair(t, "ed25519")
	ed := hosts["ed25519"].PublicKey()
	const bad = "marla 1024 35 1432722500\noldhost ssh-rsa @@@@\n"
	rows := []struct {
		name  string
		kinds []string // of the server's host keys
		alias string
		lines func(name string) string
		reach watchdog.Reach
		words []string
	}{
		{"H01 two host keys, only ed25519 known", []string{"ecdsa", "ed25519"}, "", func(n string) string { return sshLine(n, ed) }, watchdog.ReachOK, nil},
		{"H01 two host keys, only ecdsa known", []string{"ed25519", "ecdsa"}, "", func(n string) string { return sshLine(n, hosts["ecdsa"].PublicKey()) }, watchdog.ReachOK, nil},
		{"H01 three host keys, only rsa known", []string{"ed25519", "ecdsa", "rsa"}, "", func(n string) string { return sshLine(n, hosts["rsa"].PublicKey()) }, watchdog.ReachOK, nil},
		{"H01 server has no key of the known kind", []string{"ecdsa"}, "", func(n string) string { return sshLine(n, ed) }, watchdog.ReachHostKey, []string{"changed", "ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-keyscan"}},
		{"H02 bad lines are skipped", []string{"ed25519"}, "", func(n string) string { return bad + sshLine(n, ed) }, watchdog.ReachOK, nil},
		{"H02 good first, bad last", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + bad }, watchdog.ReachOK, nil},
		{"H02 only bad lines", []string{"ed25519"}, "", func(string) string { return bad }, watchdog.ReachHostKey, []string{"no line that can be read"}},
		{"H02 bad revoked line", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + "@revoked * ssh-ed25519 @@@@\n" }, watchdog.ReachHostKey, []string{"line 2", "@revoked"}},
		{"H02 revoked line of two kinds", []string{"ed25519"}, "", func(n string) string {
			return sshLine(n, ed) + "@revoked " + strings.Replace(sshLine("*", ed), "ssh-ed25519", "ssh-rsa", 1)
		}, watchdog.ReachHostKey, []string{"line 2", "@revoked"}},
		{"H02 revoked in capitals", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + "@REVOKED " + sshLine("*", ed) }, watchdog.ReachHostKey, []string{"line 2"}},
		{"H02 revoked key", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + "@revoked " + sshLine("*", ed) }, watchdog.ReachHostKey, []string{"revoked", "line 2"}},
		{"H02 revoked key of another", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + "@revoked " + sshLine("*", other.PublicKey()) }, watchdog.ReachOK, nil},
		{"H03 unknown host on a port of its own", []string{"ed25519"}, "", func(string) string { return "" }, watchdog.ReachHostKey, []string{"unknown", ssh.FingerprintSHA256(ed), "ssh-keyscan -p", "ssh-keygen -lf", "only then add this line to it: [127.0.0.1]:", string(ssh.MarshalAuthorizedKey(ed)[:40])}},
		{"H03 name without the port is not enough", []string{"ed25519"}, "", func(string) string { return sshLine("127.0.0.1", ed) }, watchdog.ReachHostKey, []string{"unknown", "[127.0.0.1]:"}},
		{"H03 nor beside a wildcard", []string{"ed25519"}, "", func(string) string { return sshLine("127.0.0.1", ed) + sshLine("*.lan", other.PublicKey()) }, watchdog.ReachHostKey, []string{"unknown"}},
		{"H03 wildcard", []string{"ed25519"}, "", func(string) string { return sshLine("127.0.0.*", ed) }, watchdog.ReachOK, nil},
		{"H03 hashed", []string{"ed25519"}, "", func(n string) string { return sshLine(xknownhosts.HashHostname(n), ed) }, watchdog.ReachOK, nil},
		{"H03 wildcard for names with their port", []string{"ed25519"}, "", func(n string) string { return sshLine(strings.Replace(n, "127.0.0.1", "127.*.?", 1), ed) }, watchdog.ReachOK, nil},
		{"H03 wildcard, but negated", []string{"ed25519"}, "", func(n string) string { return sshLine("[127.*]:*,[*.1]:22,*,!"+n, ed) }, watchdog.ReachHostKey, []string{"unknown"}},
		{"H03 negation of another", []string{"ed25519"}, "", func(n string) string { return sshLine("!n9,"+n, ed) }, watchdog.ReachOK, nil},
		{"H03 several names", []string{"ed25519"}, "", func(n string) string { return sshLine("n9,"+n+",n8", ed) }, watchdog.ReachOK, nil},
		{"H02 comments and CRLF", []string{"ed25519"}, "", func(n string) string {
			return "# a comment\r\n\r\n  # another\r\n" + strings.TrimSpace(sshLine(n, ed)) + " root@n2\r\n"
		}, watchdog.ReachOK, nil},
		{"H02 CRLF behind a revoked key", []string{"ed25519"}, "", func(n string) string {
			return sshLine(n, ed) + "@revoked " + strings.TrimSpace(sshLine("*", ed)) + "\r\n"
		}, watchdog.ReachHostKey, []string{"revoked", "line 2"}},
		{"H02 revoked line cut short", []string{"ed25519"}, "", func(n string) string { return sshLine(n, ed) + "@revoked *\n" }, watchdog.ReachHostKey, []string{"line 2", "@revoked"}},
		{"H03 hashed, another", []string{"ed25519"}, "", func(n string) string { return sshLine(xknownhosts.HashHostname("n9"), ed) }, watchdog.ReachHostKey, []string{"unknown"}},
		{"H03 unknown, with a skipped line", []string{"ed25519"}, "", func(string) string { return bad + sshLine("n9", ed) }, watchdog.ReachHostKey, []string{"2 lines of the file do not parse", "line 1"}},
		{"H04 two keys of one kind, the second fits", []string{"ed25519"}, "", func(n string) string { return sshLine(n, other.PublicKey()) + sshLine(n, ed) }, watchdog.ReachOK, nil},
		{"changed", []string{"ed25519"}, "", func(n string) string { return sshLine(n, other.PublicKey()) }, watchdog.ReachHostKey, []string{"changed", ssh.FingerprintSHA256(ed), ssh.FingerprintSHA256(other.PublicKey()), "line 1"}},
		{"H18 alias stands without a port", []string{"ed25519"}, "spark-n2", func(string) string { return sshLine("spark-n2", ed) }, watchdog.ReachOK, nil},
		{"H18 alias replaces host and port", []string{"ed25519"}, "spark-n2", func(n string) string { return sshLine(n, ed) }, watchdog.ReachHostKey, []string{"unknown", "add this line to it: spark-n2 ssh-ed25519 AAAA"}},
		{"H18 alias in another case", []string{"ed25519"}, "Spark-N2", func(string) string { return sshLine("spark-n2", ed) }, watchdog.ReachOK, nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			var keys []ssh.Signer
			for _, kind := range row.kinds {
				keys = append(keys, hosts[kind])
			}
			f.server = sshNewServer(t, f.key.PublicKey(), keys...)
			f.target.Port, f.target.HostKeyAlias = f.server.port(), row.alias
			f.knows(t, row.lines(f.name()))
			_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.reach == watchdog.ReachOK {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			sshWantError(t, err, row.reach, row.words...)
			for _, secret := range []string{"@@@@", "1432722500", "StrictHostKeyChecking"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error %q says %q", err, secret)
				}
			}
		})
	}
}

// TestSSHHostCertificate: the kind of an authority's key says nothing of the keys it signs.
func TestSSHHostCertificate(t *testing.T) {
	authority, _ := sshKeyPair(t, "ed25519")
	rows := []struct {
		name, principal, ban string
		reach                watchdog.Reach
	}{
		{"of an authority", "127.0.0.1", "", watchdog.ReachOK},
		{"for another host", "n9", "", watchdog.ReachHostKey},
		{"of a revoked authority", "127.0.0.1", "@revoked " + sshLine("*", authority.PublicKey()), watchdog.ReachHostKey},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			host, _ := sshKeyPair(t, "ecdsa")
			cert := &ssh.Certificate{Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{row.principal}, ValidBefore: ssh.CertTimeInfinity}
			if err := cert.SignCert(strings.NewReader(strings.Repeat("x", 64)), authority); err != nil {
				t.Fatal(err)
			}
			signer, err := ssh.NewCertSigner(cert, host)
			if err != nil {
				t.Fatal(err)
			}
			f := sshNewFixture(t)
			f.server = sshNewServer(t, f.key.PublicKey(), signer)
			f.target.Port = f.server.port()
			f.knows(t, "@cert-authority "+sshLine(f.name(), authority.PublicKey()), row.ban)
			_, err = f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.reach != watchdog.ReachOK {
				sshWantError(t, err, row.reach, "host key")
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestSSHRSAHostKeysSignWithSHA2H01(t *testing.T) {
	host, _ := sshKeyPair(t, "rsa")
	path := sshWriteFile(t, "known_hosts", sshLine("n2", host.PublicKey()), 0o644)
	hosts, err := readKnownHosts(path, trustedOwners(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(hosts.algorithms("n2:22")); got != "[rsa-sha2-512 rsa-sha2-256]" {
		t.Errorf("H01: got %s", got)
	}
}

func TestResolveWarnsOfSkippedLines(t *testing.T) {
	f := sshNewFixture(t)
	f.knows(t, "oldhost ssh-rsa @@@@\n", sshLine("n2", f.host.PublicKey()))
	targets, err := Resolve(Identity{User: "ops", Keys: f.target.Keys, KnownHosts: f.target.KnownHosts}, []Place{{Name: "n2"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(targets[0].Warnings); !strings.Contains(got, f.target.KnownHosts+" line 1") || strings.Contains(got, "@@@@") {
		t.Errorf("H02: got warnings %s", got)
	}
}

func TestSSHKnownHostsThroughASymlink(t *testing.T) {
	host, _ := sshKeyPair(t, "ed25519")
	real := sshWriteFile(t, "known_hosts", sshLine("n2", host.PublicKey()), 0o644)
	link := real + ".link"
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	hosts, err := readKnownHosts(link, trustedOwners(nil))
	if err != nil || len(hosts.db.HostKeys("n2:22")) != 1 {
		t.Fatalf("got %v, %v", hosts, err)
	}
}
