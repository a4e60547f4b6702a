package restart

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/watchdog"
)

// TestIdentityCertificate puts a certificate beside the key, where ssh looks for it.
func TestIdentityCertificate(t *testing.T) {
	authority, _ := sshKeyPair(t, "ed25519")
	_, otherFile := sshKeyPair(t, "ed25519")
	hour := time.Hour
	rows := []struct {
		name      string
		kind      uint32
		from, to  time.Duration // from now
		beside    bool          // beside the key it belongs to
		spoil     func(path string)
		authority bool // the node trusts the authority
		plain     bool // the node trusts the key itself
		want      string
	}{
		{"used", ssh.UserCert, -hour, hour, true, nil, true, false, ""},
		{"not trusted, but the key is", ssh.UserCert, -hour, hour, true, nil, false, true, ""},
		{"over, but the key is trusted", ssh.UserCert, -2 * hour, -hour, true, nil, true, true, ""},
		{"over", ssh.UserCert, -2 * hour, -hour, true, nil, true, false, "; its certificate ended at "},
		{"not yet", ssh.UserCert, hour, 2 * hour, true, nil, true, false, "; its certificate is valid only from "},
		{"of a host", ssh.HostCert, -hour, hour, true, nil, true, true, "-cert.pub: is one for a host"},
		{"of another key", ssh.UserCert, -hour, hour, false, nil, true, true, "-cert.pub: belongs to another key"},
		{"no certificate", ssh.UserCert, -hour, hour, true, func(path string) { os.WriteFile(path, []byte("tiger"), 0o644) }, true, true, "-cert.pub: is not a certificate"},
		{"for all to write", ssh.UserCert, -hour, hour, true, func(path string) { os.Chmod(path, 0o666) }, true, true, "-cert.pub: others can write it"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := sshNewFixture(t)
			cert := &ssh.Certificate{Key: f.key.PublicKey(), CertType: row.kind, ValidPrincipals: []string{"ops"},
				ValidAfter: uint64(time.Now().Add(row.from).Unix()), ValidBefore: uint64(time.Now().Add(row.to).Unix())}
			sshMust(t, cert.SignCert(rand.Reader, authority))
			if !row.beside {
				f.target.Keys = []string{otherFile}
			}
			path := f.target.Keys[0] + "-cert.pub"
			sshMust(t, os.WriteFile(path, ssh.MarshalAuthorizedKey(cert), 0o644))
			if row.spoil != nil {
				row.spoil(path)
			}
			checker := ssh.CertChecker{
				IsUserAuthority: func(key ssh.PublicKey) bool {
					return row.authority && string(key.Marshal()) == string(authority.PublicKey().Marshal())
				},
				UserKeyFallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
					if row.plain && string(key.Marshal()) == string(f.key.PublicKey().Marshal()) {
						return nil, nil
					}
					return nil, os.ErrPermission
				},
			}
			f.server.config.PublicKeyCallback = checker.Authenticate
			_, err := f.start(t).Run(sshContext(t), 0, sshShellScript(), nil)
			switch {
			case row.want == "":
				if err != nil {
					t.Error(err)
				}
			case strings.HasPrefix(row.want, ";"):
				sshWantError(t, err, watchdog.ReachAuth, row.want)
			default:
				sshWantError(t, err, watchdog.ReachError, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "tiger") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}
