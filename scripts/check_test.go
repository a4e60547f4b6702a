package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestCheckShell(t *testing.T) {
	newNode(t).run("check/shell", nil).passes(t, "shell=ok\n")
}

func TestCheckSudo(t *testing.T) {
	n := newNode(t)
	n.run("check/sudo", nil).passes(t, "")
	if n.got("drops") != "" {
		t.Error("a check dropped the cache")
	}

	n.play("sudo-list", "exit 1")
	n.run("check/sudo", nil).fails(t, "is refused: not allowed", "NOPASSWD")

	n = newNode(t) // S04: allowed, but not without a password
	n.play("sudo-run", "echo 'sudo: a password is required' >&2; exit 1")
	n.run("check/sudo", nil).fails(t, "a password is required", "NOPASSWD")

	n = newNode(t)
	defer n.endLeftBehind()
	n.play("sudo-list", stuck)
	n.run("check/sudo", nil).fails(t, "sudo does not answer")
}

func TestCheckDisk(t *testing.T) {
	disk := func(n *node, least string) answer {
		return n.run("check/disk", map[string]string{"WATCHDOG_DISK_PATH": "/", "WATCHDOG_DISK_MIN": least})
	}
	n := newNode(t)
	df := func(line string) {
		n.bin("df", `[ "$*" = "-Pk -- /" ] || exit 99
cat <<'END'
Filesystem     1024-blocks      Used Available Capacity Mounted on
`+line+`
END`)
	}
	df("/dev/sda1        102400000  81920000  20971520      80% /")
	disk(n, "21474836480").passes(t, "free=21474836480\n")
	got := disk(n, "32212254720")
	got.fails(t, "20 GiB free, 30 GiB needed")
	got.oneLine(t)
	if got.out != "free=21474836480\n" {
		t.Errorf("output %q", got.out)
	}
	df("//server/my share 102400000  81920000  20971520      80% /mnt/my share")
	disk(n, "1").passes(t, "free=21474836480\n")
	df("/dev/sda1        999999999999  1  999999999998      1% /") // more than 32 bits
	disk(n, "1").passes(t, "free=1023999999997952\n")
	df("/dev/sda1        102400000  81920000  -5      100% /")
	disk(n, "1").fails(t, "too full")
	df("nonsense")
	disk(n, "1").fails(t, "cannot tell")
	n.bin("df", "echo 'df: /: Stale file handle' >&2; exit 1")
	disk(n, "1").fails(t, "Stale file handle")
	n.bin("df", stuck)
	defer n.endLeftBehind()
	disk(n, "1").fails(t, "is hung")

	newNode(t).run("check/disk", map[string]string{"WATCHDOG_DISK_PATH": "/nowhere", "WATCHDOG_DISK_MIN": "1"}).fails(t, "cannot tell", "No such file")
}

func TestCheckDirs(t *testing.T) {
	const nobody = 65534
	n := newNode(t)
	if os.Getuid() == 0 { // root may write everywhere
		n.uid = nobody
		for _, dir := range []string{filepath.Dir(filepath.Dir(n.home)), filepath.Dir(n.home)} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	open, closed := filepath.Join(n.fake, "open"), filepath.Join(n.fake, "closed dir")
	file := n.put("file", "")
	for dir, mode := range map[string]os.FileMode{open: 0o777, closed: 0o555, n.home: 0o777} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	dirs := func(list string) answer { return n.run("check/dirs", map[string]string{"WATCHDOG_DIRS": list}) }
	dirs("").passes(t, "")
	dirs(open).passes(t, "")
	dirs("\n"+open+"\n"+open+"/a/b/c\n").passes(t, "")
	if _, err := os.Stat(open + "/a"); err == nil {
		t.Error("a check made a folder")
	}
	got := dirs(closed + "\n" + open + "\n" + file + "/x\nrelative\n" + closed + "/new")
	got.fails(t, closed+" is not writable by this user; "+file+" is not a folder; relative is not an absolute path; "+closed+" is not writable")
	got.oneLine(t)

	look := exec.Command("/bin/sleep", "300") // an earlier look that still waits
	if err := look.Start(); err != nil {
		t.Fatal(err)
	}
	defer look.Process.Kill()
	go look.Wait()
	n = newNode(t)
	outstanding(t, n, "dirs", look.Process.Pid, birth(t, look.Process.Pid))
	n.put("../home/.cache/cluster-watchdog/"+filepath.Base(own(t, n))+"/dirs.out", "at /a\nat "+open+"\n")
	dirs(open).fails(t, "folder "+open+" is hung since 2026")
}
