package netfs

import (
	"os"
	"path/filepath"
	"testing"
)

const examples = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:53 / /mnt/nas rw,relatime shared:20 - nfs4 nas:/export rw,vers=4.2,hard,addr=10.0.0.9
31 22 0:54 / /mnt/ssh rw - fuse.sshfs ops@nas:/srv rw,user_id=0
32 22 0:55 / /mnt/bind rw - fuse.bindfs /srv rw
33 22 8:17 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw
34 22 0:57 / /mnt/dav rw - fuse https://nas/dav rw
35 22 0:58 / /mnt/crypt rw - fuse.gocryptfs /home/ops/crypt rw
36 22 0:59 / /mnt/odd rw - fuse.someone nas:/models rw
37 22 0:60 / /mnt/auto rw - autofs systemd-1 rw,direct
38 37 0:61 / /mnt/auto rw - nfs nas:/auto rw
39 22 0:62 / /mnt/asleep rw - autofs systemd-1 rw,direct
40 22 0:63 / /mnt/with\040blank rw - cifs //nas/share rw
41 30 0:64 / /mnt/nas/local rw - tmpfs tmpfs rw
42 22 0:65 / /mnt/vm rw - virtiofs models rw
a line that is none
`

func TestNetworkFileSystemsByTypeN01(t *testing.T) {
	all := parseTable(examples)
	for _, r := range []struct{ path, want string }{
		{"/etc/key", ""},
		{"/mnt/nas", "NFS"}, {"/mnt/nas/key", "NFS"}, {"/mnt/nasty/key", ""}, {"/mnt/nas/local/key", ""},
		{"/mnt/ssh/key", "sshfs"},
		{"/mnt/bind/key", ""}, {"/mnt/ntfs/key", ""}, {"/mnt/crypt/key", ""}, {"/mnt/vm/key", ""}, // FUSE, and local
		{"/mnt/dav/key", "FUSE with https://nas/dav"},
		{"/mnt/odd/key", "FUSE with nas:/models"},
		{"/mnt/auto/key", "NFS"}, // the automount below it does not count
		{"/mnt/asleep/key", ""},  // nobody knows before it is asked
		{"/mnt/with blank/key", "SMB"},
	} {
		if got := all.holding(r.path).network(); got != r.want {
			t.Errorf("%s: %q, want %q", r.path, got, r.want)
		}
	}
}

// What leads to a network file system lies on it; nothing there is asked.
func TestAlongSymbolicLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, target := range map[string]string{"direct": "nas", "absolute": at("direct"), "round": at("round")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("nas"), 0o700); err != nil {
		t.Fatal(err)
	}
	all := append(parseTable(examples), mount{id: 99, point: at("nas"), fstype: "nfs4", source: "nas:/x"})
	for _, r := range []struct{ path, want string }{
		{"nas/key", "NFS"}, {"direct/key", "NFS"}, {"absolute/sub/key", "NFS"}, {"local/key", ""}, {"round/key", ""}, {"direct/../key", ""},
	} {
		if got := all.at(at(r.path)); got != r.want {
			t.Errorf("%s: %q, want %q", r.path, got, r.want)
		}
	}
}
