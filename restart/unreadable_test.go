package restart

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"
)

// A key or known_hosts that cannot be read is told as such, with its path, and never as a failure of
// SSH: nothing was dialled.
func TestUnreadableIdentityY05(t *testing.T) {
	if asNobody(t) {
		return
	}
	us, err := user.Current()
	sshMust(t, err)
	signer, raw := fleetSigner(t, 0)
	block, err := ssh.MarshalPrivateKey(raw, "")
	sshMust(t, err)
	for _, row := range []struct {
		name  string
		spoil func(path string) error
		want  string
	}{
		{"mode 000", func(path string) error { return os.Chmod(path, 0) }, "permission denied: let uid "},
		{"gone", os.Remove, "does not exist: create it, or correct its path"},
	} {
		for _, what := range []string{"key", "known_hosts"} {
			t.Run(row.name+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				id := Identity{User: us.Username, Keys: []string{filepath.Join(dir, "key")}, KnownHosts: filepath.Join(dir, "known_hosts")}
				sshMust(t, os.WriteFile(id.Keys[0], pemOf(block), 0o600))
				sshMust(t, os.WriteFile(id.KnownHosts, []byte(sshLine("n1", signer.PublicKey())), 0o600))
				path := filepath.Join(dir, what)
				sshMust(t, row.spoil(path))
				_, err := Resolve(id, []Place{{Name: "n1", Host: "127.0.0.1", Port: 1}})
				if err == nil || !strings.Contains(err.Error(), "cannot use "+what+" "+path+": "+row.want) {
					t.Errorf("err = %v", err)
				}
				if err != nil && strings.Contains(err.Error(), "by SSH") {
					t.Errorf("told as a failure of SSH: %v", err)
				}
			})
		}
	}
}

// asNobody runs the calling test once more in a process of an ordinary user, as root has no rights to
// lack, and returns true: the test is over then.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	const nobody = 65534
	again := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	again.Dir = "/"
	if said, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	return true
}
