package restart

import (
	"strings"
	"syscall"
	"testing"

	"cluster-watchdog/watchdog/netfs/badmount"
)

// Every file that decides where or as whom we connect is refused on a network file system, by the
// name of both, and one on a file system that hangs or went stale ends in an error in time.
func TestIdentityFilesOnMountsN01N02(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	network := badmount.New(t, "fuse.sshfs", "ops@nas:/srv")
	network.Hang()
	hung := badmount.New(t, "fuse.local", "/srv/keys")
	hung.Hang()
	stale := badmount.New(t, "fuse.local", "/srv/keys")
	stale.Say(syscall.ESTALE)
	for _, what := range []string{"key", "certificate", "known_hosts", "ssh_config"} {
		for _, r := range []struct{ dir, want string }{
			{network.Path, "lies on sshfs, which can hang: copy it to a local disk"},
			{stale.Path, "its mount is stale or dead: keep it on a local disk"},
			{hung.Path, "no answer within 5s: its file system hangs: keep it on a local disk"},
		} {
			if r.dir == hung.Path && what != "key" {
				continue // each takes its 5 s
			}
			_, err := openIdentityFile(what, r.dir+"/file", trustedOwners(nil), false)
			if err == nil || !strings.HasPrefix(err.Error(), what+" "+r.dir+"/file: ") || !strings.Contains(err.Error(), r.want) {
				t.Errorf("%s: got %v, want %q", what, err, r.want)
			}
		}
	}
	if network.Waiting() != 0 {
		t.Error("the network file system was asked")
	}
}
