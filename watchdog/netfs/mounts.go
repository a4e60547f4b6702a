package netfs

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mount is one line of mountinfo: see proc_pid_mountinfo(5).
type mount struct {
	id     int
	point  string
	fstype string
	source string
}

// table is what is mounted, in the kernel's order: of two at one place the later one shows.
type table []mount

const mountinfo = "/proc/self/mountinfo"

// readTable reads what is mounted. It asks no file system that is mounted.
func readTable() (table, error) {
	text, err := os.ReadFile(mountinfo)
	if err != nil {
		return nil, err
	}
	return parseTable(string(text)), nil
}

func parseTable(text string) table {
	var t table
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		own, rest := strings.Fields(before), strings.Fields(after)
		if !found || len(own) < 5 || len(rest) < 2 {
			continue
		}
		id, _ := strconv.Atoi(own[0])
		t = append(t, mount{id: id, point: unescape(own[4]), fstype: rest[0], source: unescape(rest[1])})
	}
	return t
}

// unescape undoes the kernel's octal form of blanks and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// holding returns what is mounted where the path lies.
func (t table) holding(path string) mount {
	var found mount
	for _, m := range t {
		inside := m.point == "/" || path == m.point || strings.HasPrefix(path, m.point+"/")
		if inside && len(m.point) >= len(found.point) {
			found = m
		}
	}
	return found
}

// byID returns the mount of that number.
func (t table) byID(id int) (mount, bool) {
	for _, m := range t {
		if m.id == id {
			return m, true
		}
	}
	return mount{}, false
}

// maxLinks is how many symbolic links the kernel follows too.
const maxLinks = 40

// At returns the name of the network file system on which a path lies, "" where it lies on none,
// or nothing is known of it. It asks no network file system anything, so that one that hangs cannot
// hold us: it goes along the path, through its symbolic links, and stops before the first. On any
// other that does not answer within Patience it says so instead of a name.
func At(path string) string {
	name, err := within(Patience, func() (string, error) {
		t, err := readTable()
		return t.at(path), err
	})
	if errors.Is(err, ErrHangs) {
		return "a file system that hangs"
	}
	return name
}

func (t table) at(path string) string {
	for range maxLinks {
		name, next := t.along(filepath.Clean(path))
		if name != "" || next == "" {
			return name
		}
		path = next
	}
	return ""
}

// along goes from the root to the path, up to a network file system or a symbolic link; next is
// where that leads.
func (t table) along(path string) (name, next string) {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		part := path[:end]
		m := t.holding(part)
		if name := m.network(); name != "" {
			return name, ""
		}
		if m.fstype == "autofs" && m.point != part {
			return "", "" // to ask would mount it
		}
		target, err := os.Readlink(part)
		if err != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(part), target)
		}
		return "", target + path[end:]
	}
	return "", ""
}

// network returns the name of a network file system, "" for any other. What FUSE carries is told by
// its type and, where that is of no help, by a source such as nas:/models or https://nas/models.
func (m mount) network() string {
	if name, known := types[m.fstype]; known {
		return name
	}
	kind, fuse := strings.CutPrefix(m.fstype, "fuse.")
	if name, known := fuses[kind]; fuse && known {
		return name
	}
	if (fuse || m.fstype == "fuse") && elsewhere(m.source) {
		return "FUSE with " + m.source
	}
	return ""
}

// elsewhere says whether the source of a mount names another machine.
func elsewhere(source string) bool {
	host, _, remote := strings.Cut(source, ":")
	return strings.HasPrefix(source, "//") || strings.Contains(source, "://") || remote && host != "" && !strings.Contains(host, "/")
}

var types = map[string]string{
	"nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB", "smbfs": "SMB", "ceph": "Ceph", "9p": "9p", "lustre": "Lustre", "gpfs": "GPFS",
	"gfs2": "GFS2", "ocfs2": "OCFS2", "afs": "AFS", "coda": "Coda", "ncpfs": "NCP", "beegfs": "BeeGFS", "panfs": "PanFS", "pvfs2": "OrangeFS",
}

// fuses are the network file systems behind FUSE, by the part of the type after "fuse.".
var fuses = map[string]string{
	"sshfs": "sshfs", "s3fs": "s3fs", "glusterfs": "GlusterFS", "rclone": "rclone", "ceph": "Ceph", "ceph-fuse": "Ceph", "juicefs": "JuiceFS",
	"goofys": "goofys", "gcsfuse": "gcsfuse", "mount-s3": "Mountpoint for S3", "davfs": "WebDAV", "davfs2": "WebDAV", "curlftpfs": "FTP", "smbnetfs": "SMB",
	"seaweedfs": "SeaweedFS", "weed": "SeaweedFS", "mfs": "MooseFS", "lizardfs": "LizardFS", "fuse_dfs": "HDFS", "blobfuse": "Azure Blob", "blobfuse2": "Azure Blob",
	"gvfsd-fuse": "GVfs", "cvmfs2": "CernVM-FS", "afp": "AFP", "fuse-nfs": "NFS",
}
