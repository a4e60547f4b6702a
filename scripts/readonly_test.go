package scripts

import (
	"strings"
	"testing"
)

// What a script that only looks may call. Everything else is an error.
var (
	builtins = list(`: . [ test printf echo read set shift exit return export unset exec break continue wait true false`)
	programs = list(`awk sed grep cat stat df date sleep head tail tr ps findmnt pgrep nvidia-smi id ls`)
	dockers  = list(`inspect ps info version events logs image top`)
	// wrappers run what stands behind this many arguments of theirs.
	wrappers = map[string]int{"bounded": 2, "about": 2, "timeout": 3, "command": 1}
	// Only in front.sh: its functions keep the user's own folder, and end what they started.
	frontOnly = list(`mkdir touch umask kill`)
	frontInto = list(`$out $1`)
	sudos     = []string{
		"-n -l /usr/bin/tee /proc/sys/vm/drop_caches",
		"-n /usr/bin/tee /proc/sys/vm/drop_caches", // with nothing on stdin
	}
)

func list(s string) []string { return strings.Fields(s) }

func TestLookingChangesNothing(t *testing.T) {
	for _, fault := range readOnly(t, "front.sh", Front(), true) {
		t.Errorf("front.sh: %s", fault)
	}
	for _, s := range All() {
		if s.Class() != Check && s.Class() != Observe {
			continue
		}
		for _, fault := range readOnly(t, s.Name(), s.Body(), false) {
			t.Errorf("%s: %s", s.Name(), fault)
		}
	}
}

// The judge itself must see these.
func TestReadOnlyFindsWrites(t *testing.T) {
	for _, text := range []string{
		"rm -f /x", "mkdir -p /x", "kill 1", ": >/tmp/x", "printf x >>\"$own/x\"", "cat <>/x", "docker rm x", "docker image prune",
		"timeout -k 1 5 docker stop x", "bounded 5 x touch /x", "ask_docker 10 kill x", "sudo -n reboot", "x=$(docker restart x)",
		"f() { mkdir /x; }; f", "if :; then tee /x; fi", `"$@"`, "$cmd x", "f() { \"$@\"; }; \"$@\"", "eval x", "sh -c 'rm x'", "awk 'BEGIN { system(\"x\") }'",
		"awk '{ print > \"/x\" }'", "sed -i s/a/b/ x", "sed 's/a/b/w /x' y", "umount /x", "run() { \"$@\"; }; run rm x", "sync",
		"command rm /x", "take rm x", "command -v x; nvidia-smi -r", "bounded 10 sudo sudo -n /usr/bin/tee /etc/passwd",
	} {
		if len(readOnly(t, "test", text, false)) == 0 {
			t.Errorf("passes for read-only: %s", text)
		}
	}
}
