package restart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cluster-watchdog/watchdog"
)

// TestSSHDHostKeysH01 has one row per content of known_hosts, with three host keys on the node.
func TestSSHDHostKeysH01(t *testing.T) {
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run("H01 only "+kind+" known", func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f)
			f.knows(t, s.known(kind))
			if _, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("H03 hashed by ssh-keygen", func(t *testing.T) {
		f := sshNewFixture(t)
		s := startSSHD(t, f)
		f.knows(t, "# comment\r\n", "broken line\r\n", s.known("ed25519"))
		if out, err := exec.Command("ssh-keygen", "-H", "-f", f.target.KnownHosts).CombinedOutput(); err != nil {
			t.Logf("ssh-keygen -H: %v: %s", err, out) // it minds the broken line
			f.knows(t, s.known("ed25519"))
			sshMust(t, exec.Command("ssh-keygen", "-H", "-f", f.target.KnownHosts).Run())
		}
		sshMust(t, os.Chmod(f.target.KnownHosts, 0o644))
		if _, err := sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestSSHDHostCertificates are made by ssh-keygen and shown by sshd.
func TestSSHDHostCertificates(t *testing.T) {
	rows := []struct {
		name       string
		principals string
		validity   string
		known      func(s *realSSHD, ca string) string
		words      []string
	}{
		{"of an authority for all", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, nil},
		{"of an authority for this port", "127.0.0.1", "+1d", func(s *realSSHD, ca string) string { return "@cert-authority " + s.name() + " " + ca }, nil},
		{"of an authority beside a plain key", "127.0.0.1", "+1d", func(s *realSSHD, ca string) string {
			return s.known("rsa") + "@cert-authority [127.0.0.*]:" + fmt.Sprint(s.port) + " " + ca
		}, nil},
		{"of an authority for others", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority *.lan " + ca }, []string{"host key unknown", "add this line to it: [127.0.0.1]:"}},
		{"for another name", "n9", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, []string{"host key refused", "principal"}},
		{"that is over", "127.0.0.1", "-2d:-1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca }, []string{"host key refused", "expired"}},
		{"whose authority is revoked", "127.0.0.1", "+1d", func(_ *realSSHD, ca string) string { return "@cert-authority * " + ca + "@revoked * " + ca }, []string{"host key refused", "revoked"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f, "HostCertificate DIR/host_ed25519-cert.pub", "HostCertificate DIR/host_ecdsa-cert.pub")
			ca := sshKeygen(t, s.file("ca"), "-t", "ecdsa")
			for _, kind := range []string{"ed25519", "ecdsa"} {
				out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "host", "-h", "-n", row.principals, "-V", row.validity, s.file("host_"+kind+".pub")).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			s.restart(t)
			f.target.Port = s.port
			public, err := os.ReadFile(ca + ".pub")
			sshMust(t, err)
			f.knows(t, row.known(s, string(public)))
			_, err = sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.words == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			sshWantError(t, err, watchdog.ReachHostKey, row.words...)
		})
	}
}

// TestSSHDKeys are made by ssh-keygen in every shape that people have.
func TestSSHDKeys(t *testing.T) {
	rows := []struct {
		name string
		args []string
		want string // empty: it logs in
	}{
		{"OpenSSH ed25519", []string{"-t", "ed25519"}, ""},
		{"OpenSSH rsa, signing with SHA-2", []string{"-t", "rsa", "-b", "2048"}, ""},
		{"OpenSSH ecdsa of 521 bits", []string{"-t", "ecdsa", "-b", "521"}, ""},
		{"PEM rsa", []string{"-t", "rsa", "-b", "2048", "-m", "PEM"}, ""},
		{"PEM ecdsa", []string{"-t", "ecdsa", "-m", "PEM"}, ""},
		{"PKCS#8 rsa", []string{"-t", "rsa", "-b", "2048", "-m", "PKCS8"}, ""},
		{"PKCS#8 ecdsa", []string{"-t", "ecdsa", "-m", "PKCS8"}, ""},
		{"encrypted OpenSSH", []string{"-t", "ed25519", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
		{"encrypted PEM", []string{"-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
		{"encrypted PKCS#8", []string{"-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "tiger tiger"}, "is encrypted with a passphrase"},
	}
	f := sshNewFixture(t)
	s := startSSHD(t, f)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			key := sshKeygen(t, filepath.Join(t.TempDir(), "id"), row.args...)
			public, err := os.ReadFile(key + ".pub")
			sshMust(t, err)
			sshMust(t, os.WriteFile(s.file("authorized_keys"), public, 0o644))
			own := *f
			own.target.Keys = []string{key}
			_, err = sshConns(t, &own).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.want == "" && err != nil {
				t.Error(err)
			}
			if row.want != "" {
				sshWantError(t, err, watchdog.ReachError, row.want)
			}
		})
	}
}

// TestSSHDUserCertificate: the node trusts an authority and knows no key.
func TestSSHDUserCertificate(t *testing.T) {
	for _, row := range []struct{ name, validity, want string }{
		{"valid", "+1d", ""}, {"over", "-2d:-1d", "its certificate ended at"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			s := startSSHD(t, f, "TrustedUserCAKeys DIR/ca.pub")
			ca := sshKeygen(t, s.file("ca"), "-t", "ed25519")
			key := sshKeygen(t, s.file("id"), "-t", "rsa", "-b", "2048")
			out, err := exec.Command("ssh-keygen", "-q", "-s", ca, "-I", "me", "-n", f.target.User, "-V", row.validity, key+".pub").CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f.target.Keys = []string{key}
			_, err = sshConns(t, f).Run(sshContext(t), 0, sshShellScript(), nil)
			if row.want == "" {
				sshMust(t, err)
			} else {
				sshWantError(t, err, watchdog.ReachAuth, row.want)
			}
		})
	}
}
