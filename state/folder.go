package state

import (
	"fmt"
	"os"
	"syscall"

	"cluster-watchdog/watchdog/netfs"
)

const folderMode = 0o700

// checkFolder creates the folder if it is absent and refuses one whose content could not be
// believed: on a network file system, or open to other users.
func checkFolder(dir string) error {
	if name := netfs.At(dir); name != "" { // before anything is asked there: it may hang
		return onNetwork(dir, name)
	}
	if err := os.MkdirAll(dir, folderMode); err != nil {
		return fmt.Errorf("cannot create the state folder %s: %w; %s", dir, err, hint(err))
	}
	if err := checkDisk(dir, syscall.Statfs); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("cannot look at the state folder %s: %w; %s", dir, err, hint(err))
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if problem := folderProblem(owner, os.Geteuid(), info.Mode()); problem != "" {
		return fmt.Errorf("cannot keep state in %s: %s; see it with: ls -ld %s", dir, problem, dir)
	}
	return nil
}

// checkDisk refuses a network file system.
func checkDisk(dir string, statfs func(string, *syscall.Statfs_t) error) error {
	var on syscall.Statfs_t
	if err := statfs(dir, &on); err != nil {
		return fmt.Errorf("cannot tell the file system of the state folder %s: %w; %s", dir, err, hint(err))
	}
	if name := netfs.Name(int64(on.Type)); name != "" {
		return onNetwork(dir, name)
	}
	return nil
}

func onNetwork(dir, name string) error {
	return fmt.Errorf("cannot keep state in %s: it is on %s, where locks and mapped files are not safe; choose a folder on a local disk", dir, name)
}

// folderProblem says why another user could change what is in the folder.
func folderProblem(owner uint32, us int, mode os.FileMode) string {
	switch {
	case owner != 0 && int(owner) != us:
		return fmt.Sprintf("it belongs to user %d, and must belong to root or to user %d who runs this", owner, us)
	case mode.Perm()&0o002 != 0:
		return "every user may write to it"
	}
	return ""
}

// syncFolder makes a created, renamed or linked name in the folder last over a power loss.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
