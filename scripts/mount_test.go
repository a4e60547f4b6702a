package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mounted prepares a folder that the stand-in for findmnt calls a mount.
func mounted(n *node, fstype string) (path string) {
	path = filepath.Join(n.fake, "models")
	n.put("models/sentinel", "hello\n")
	n.put("models/empty", "")
	n.put("mounts", path+" "+fstype+"\n")
	return path
}

func checkMount(n *node, path, fstype, sentinel string) answer {
	return n.run("check/mount", map[string]string{"WATCHDOG_MOUNT": path, "WATCHDOG_FSTYPE": fstype, "WATCHDOG_SENTINEL": sentinel})
}

func TestMount(t *testing.T) {
	n := newNode(t)
	path := mounted(n, "nfs4")
	for _, sentinel := range []string{"", "sentinel", path + "/sentinel"} {
		for _, fstype := range []string{"", "nfs", "nfs4"} {
			checkMount(n, path, fstype, sentinel).passes(t, "fstype=nfs4\n")
			checkMount(n, path+"/", fstype, sentinel).passes(t, "fstype=nfs4\n")
		}
	}
}

// What is wrong with a mount, each in its own words, which end in what to do.
func TestMountSentences(t *testing.T) {
	rows := []struct {
		name, mounts, path, fstype, sentinel string // M is the path of the mount
		words, next                          string
	}{
		{"absent", "M nfs4", "M/nothing", "", "", "mount M/nothing is absent: there is no such folder", "make it and mount it"},
		{"phantom: a plain folder", "", "M", "", "sentinel", "mount M is not a mount point but a plain folder", "mount it"},
		{"wrong type", "M nfs4", "M", "ext4", "", "mount M has type nfs4 instead of ext4", "mount the right one"},
		{"covered", "M nfs4\nM tmpfs", "M", "nfs", "", "mount M is covered: something of type tmpfs is mounted over the nfs4", "unmount what lies on top"},
		{"an automount that mounted nothing", "M autofs", "M", "", "", "mount M is an automount that has mounted nothing", "see the journal"},
		{"its source was deleted", "M ext4 /srv/models//deleted", "M", "", "", "mount M shows a folder that was deleted", "mount it again"},
		{"sentinel empty", "M nfs4", "M", "", "empty", "sentinel M/empty is empty: the wrong export", "write a line into it"},
		{"sentinel missing", "M nfs4", "M", "", "missing", "sentinel M/missing is not there", "correct checks.mounts"},
		{"empty export", "M/none nfs4", "M/none", "", "sentinel", "mount M/none is empty: sentinel M/none/sentinel is not there", "empty export is mounted"},
		{"a file", "M nfs4", "M/sentinel", "", "", "cannot look at mount M/sentinel: ", "Not a directory"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			n := newNode(t)
			path := mounted(n, "")
			n.folder("models/none")
			at := func(text string) string { return strings.ReplaceAll(text, "M", path) }
			n.put("mounts", at(r.mounts)+"\n")
			got := checkMount(n, at(r.path), r.fstype, r.sentinel)
			got.fails(t, at(r.words), r.next)
			got.oneLine(t)
			got.fits(t, path)
		})
	}
}

// fits wants words that are not cut off on the head, where the path has a usual length.
func (a answer) fits(t *testing.T, path string) {
	t.Helper()
	const shown = 200
	if text := strings.ReplaceAll(a.err, path, "/srv/models"); len(text) > shown {
		t.Errorf("%d letters are too many: %s", len(text), text)
	}
}

// folder makes an empty one below the stand-ins' folder.
func (n *node) folder(name string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Join(n.fake, name), 0o755); err != nil {
		n.t.Fatal(err)
	}
}

// The words of the kernel decide, whoever met them: what is mounted there says nothing about whether
// it can be read.
func TestMountInTheKernelsWords(t *testing.T) {
	for _, r := range []struct{ name, says, words, next string }{
		{"N02: stale", "Stale file handle", "is stale (Stale file handle)", "must be made anew"},
		{"a dead FUSE daemon", "Transport endpoint is not connected", "is dead (Transport endpoint is not connected)", "mount it again"},
		{"soft mount that timed out", "Connection timed out", "does not answer (Connection timed out): it is a soft mount", "server or network is gone"},
		{"SMB without its server", "Host is down", "does not answer (Host is down)", "server or network is gone"},
		{"I/O error", "Input/output error", "cannot be read (Input/output error)", "see dmesg"},
		{"root_squash", "Permission denied", "refuses this user (Permission denied)", "root_squash"},
		{"Kerberos", "Required key not available", "refuses this user (Required key not available)", "renew it"},
		{"automount that fails", "No such device", "is an automount that cannot mount", "see the journal"},
	} {
		for _, command := range []string{"stat", "head"} {
			t.Run(r.name+", met by "+command, func(t *testing.T) {
				n := newNode(t)
				path := mounted(n, "nfs4")
				n.bin(command, "echo \""+command+": cannot do it: "+r.says+"\" >&2; exit 1")
				got := checkMount(n, path, "nfs4", "sentinel")
				got.fails(t, path, r.words, r.next)
				got.oneLine(t)
				got.fits(t, path)
				if strings.Contains(got.err, "hung") || strings.Contains(got.err, "mount failed") {
					t.Errorf("said %s", got.err)
				}
			})
		}
	}
}

// N04: slow is normal where a model lies on NFS. It is told, and no refusal.
func TestSlowMountN04(t *testing.T) {
	n := newNode(t)
	path := mounted(n, "nfs4")
	n.bin("sleep", `exec /bin/sleep "$@"`)
	n.bin("stat", `case $* in *models*) /bin/sleep 3.5 ;; esac; exec /usr/bin/stat "$@"`)
	got := checkMount(n, path, "nfs", "sentinel")
	if want := "fstype=nfs4\nwarning=mount " + path + " is slow: it took "; got.exit != 0 || got.err != "" || !strings.HasPrefix(got.out, want) {
		t.Errorf("got exit %d, output %q, stderr %q; want exit 0 and a warning", got.exit, got.out, got.err)
	}
}

func TestMountedTwice(t *testing.T) {
	n := newNode(t)
	path := mounted(n, "nfs4")
	n.put("mounts", path+" autofs\n"+path+" nfs4\n")
	checkMount(n, path, "nfs", "").passes(t, "fstype=nfs4\n") // as an automount does it
	n.put("mounts", path+" nfs4\n"+path+" nfs4\n")
	checkMount(n, path, "nfs", "").passes(t, "fstype=nfs4\nwarning=mount "+path+" is mounted 2 times, each over the one before: only the last one shows; unmount what is too many\n")
}

// bin puts one more stand-in before all others.
func (n *node) bin(name, script string) {
	n.play("bin/"+name, script)
	n.path = filepath.Join(n.fake, "bin")
}
