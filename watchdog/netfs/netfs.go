// Package netfs names network file systems. Reading from one can hang for ever, and locks and
// mapped files on one are not safe: neither state, nor keys, nor a config may lie there.
package netfs

// Name returns the name of the network file system with this statfs magic (its f_type, which is
// sign-extended on some machines), "" for any other. FUSE is not here: its number does not tell
// whether a network is behind it, and most of what is mounted with it is local. The numbers are
// those of linux/magic.h and of each file system's own source.
func Name(magic int64) string {
	switch uint32(magic) {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xff534d42, 0xfe534d42:
		return "SMB"
	case 0x00c36400:
		return "Ceph"
	case 0x01021997:
		return "9p"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x47504653:
		return "GPFS"
	case 0x01161970:
		return "GFS2"
	case 0x7461636f:
		return "OCFS2"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x73757245:
		return "Coda"
	case 0x564c:
		return "NCP"
	case 0x19830326:
		return "BeeGFS"
	case 0xaad7aaea:
		return "PanFS"
	}
	return ""
}
