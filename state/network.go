package state

// networkFS names the network file system with this statfs magic; empty for any other. FUSE is
// not here: its number does not tell whether a network is behind it.
func networkFS(magic uint32) string {
	switch magic {
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
