package scripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// N05: what unmounts by force, mounts again or restarts a file server only makes it worse, and a
// person finds a node that nobody knows the state of. We report mounts, we never touch one.
var (
	menders  = regexp.MustCompile(`^(.*/)?(u?mount(\.[a-z0-9.]+)?|fusermount3?|exportfs|mount-(s3|point).*|automount|sshfs|nfsconf|rpc\.[a-z]+|swapo(n|ff)|losetup|nsenter)$`)
	services = list(`start stop restart try-restart reload reload-or-restart reset-failed kill`)
)

// mending returns the calls of a script that would change a mount, also inside what it gives to a
// shell, and behind sudo, timeout and functions that run their arguments.
func mending(t *testing.T, name, text string) []string {
	t.Helper()
	var found []string
	syntax.Walk(parse(t, name, text), func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words := make([]string, len(call.Args))
		for i, w := range call.Args {
			words[i] = strings.Trim(source(w), `"'`)
		}
		told := len(words) > 0 && slices.Contains(list(`printf echo fail`), words[0])
		for i, w := range words {
			switch {
			case told:
			case menders.MatchString(w), w == "systemctl" && slices.ContainsFunc(words[i+1:], func(v string) bool { return slices.Contains(services, v) }):
				found = append(found, strings.Join(words, " "))
			case w == "-c" && i+1 < len(words) && strings.HasPrefix(source(call.Args[i+1]), "'"):
				found = append(found, mending(t, name, strings.Trim(source(call.Args[i+1]), "'"))...)
			}
		}
		return true
	})
	return found
}

func TestNoScriptMendsAMountN05(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sh" {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		for _, call := range mending(t, path, string(text)) {
			t.Errorf("%s mends a mount: %s", path, call)
		}
		return err
	})
	if err != nil || seen <= len(All()) {
		t.Errorf("read %d scripts: %v", seen, err)
	}
}

// The judge itself must see these.
func TestMendingIsSeenN05(t *testing.T) {
	for _, text := range []string{
		"mount -a", "umount -f /models", "umount -l \"$mount\"", "sudo -n /bin/umount /x", "timeout -k 1 5 umount /x", "bounded 8 x mount /x",
		"fusermount3 -uz /x", "exportfs -ra", "mount.nfs a:/b /c", "x=$(mount -o remount /x)", "if umount /x; then :; fi", "sh -c 'cd /; umount -l /x'",
		"systemctl restart nfs-client.target", "sudo systemctl --no-block start models.mount", "nsenter -t 1 -m true", "f() { \"$@\"; }; f umount /x",
	} {
		if len(mending(t, "test", text)) == 0 {
			t.Errorf("passes for harmless: %s", text)
		}
	}
	for _, text := range []string{"fail \"mount $mount is hung\"", "findmnt -M \"$mount\"", "mount=/x", "about 8 \"mount $mount\" stat /x", "systemctl is-active x"} {
		if got := mending(t, "test", text); len(got) > 0 {
			t.Errorf("passes for mending: %s", text)
		}
	}
}

// Nor does the program itself: no Go file but tests calls what mounts.
func TestNoProgramMendsAMountN05(t *testing.T) {
	calls := regexp.MustCompile(`\b(unix|syscall)\.(Mount|Unmount|Fsmount|MoveMount|OpenTree)\b|exec\.Command(Context)?\([^)]*"(/[a-z/]*/)?(u?mount|fusermount3?)"`)
	for _, folder := range []string{"cmd", "restart", "state", "watchdog", "scripts"} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "badmount" { // mounts for tests, in a process of their own
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if at := calls.Find(text); at != nil {
				t.Errorf("%s: %s", path, at)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
