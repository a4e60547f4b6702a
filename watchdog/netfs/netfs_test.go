package netfs

import "testing"

// B02: where locks do not hold, no state.
func TestNameB02(t *testing.T) {
	rows := []struct {
		magic uint32
		want  string
	}{
		{0x6969, "NFS"}, {0x517b, "SMB"}, {0xff534d42, "SMB"}, {0xfe534d42, "SMB"}, {0x00c36400, "Ceph"}, {0x01021997, "9p"},
		{0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x01161970, "GFS2"}, {0x7461636f, "OCFS2"}, {0x5346414f, "AFS"},
		{0x6b414653, "AFS"}, {0x73757245, "Coda"}, {0x564c, "NCP"}, {0x19830326, "BeeGFS"}, {0xaad7aaea, "PanFS"},
		{0xef53, ""}, {0x58465342, ""}, {0x9123683e, ""}, {0x01021994, ""}, {0x794c7630, ""}, {0x2fc12fc1, ""}, // ext, xfs, btrfs, tmpfs, overlay, zfs
		{0x65735546, ""}, // FUSE
		{0, ""},
	}
	for _, r := range rows {
		if got := Name(int64(int32(r.magic))); got != r.want { // as a 32-bit statfs gives it
			t.Errorf("Name(%#x) = %q, want %q", r.magic, got, r.want)
		}
		if got := Name(int64(r.magic)); got != r.want {
			t.Errorf("Name(%#x) = %q, want %q", r.magic, got, r.want)
		}
	}
}
