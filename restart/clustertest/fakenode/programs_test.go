package fakenode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSudo(t *testing.T) {
	n := newNode(t)
	line := []string{"/usr/bin/tee", "/proc/sys/vm/drop_caches"}
	for _, tc := range []struct {
		faults, stdin string
		args          []string
		want          said
		drops         int
	}{
		{"", "", []string{"-n", "-l"}, said{"/usr/bin/tee /proc/sys/vm/drop_caches\n", "", 0}, 0},
		{"", "", []string{"-n"}, said{"", "", 0}, 0},
		{"", "3\n", []string{"-n"}, said{"3\n", "", 0}, 1},
		{"", "x\n", []string{"-n"}, said{"x\n", "/usr/bin/tee: /proc/sys/vm/drop_caches: Invalid argument\n", 1}, 1},
		{NoSudo, "3\n", []string{"-n"}, said{"", "sudo: a password is required\n", 1}, 1},
		{NoSudo, "", []string{"-n", "-l"}, said{"", "sudo: a password is required\n", 1}, 1},
	} {
		if got := play(n, tc.faults, tc.stdin, "sudo", append(tc.args, line...)...); got != tc.want || len(n.Drops()) != tc.drops {
			t.Errorf("%+v: got %+v, %d drops", tc, got, len(n.Drops()))
		}
	}
}

func TestFindmnt(t *testing.T) {
	n := newNode(t)
	if err := n.SetMounts(Mount{"/", "/dev/x", "ext4", "rw"}, Mount{"/models", "nas:/m", "nfs4", "ro"}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		faults, line string
		want         said
	}{
		{"", "-n -r -M /models -o FSTYPE", said{"nfs4\n", "", 0}},
		{"", "-no source,fstype /models/", said{"nas:/m nfs4\n", "", 0}},
		{"", "-n -o TARGET -T /models/a", said{"/models\n", "", 0}},
		{"", "-n -o TARGET -T /other", said{"/\n", "", 0}},
		{"", "-n -M /other", said{"", "", 1}},
		{"", "-n -t ext4 -M /models", said{"", "", 1}},
		{MountAbsent, "-n -M /models", said{"", "", 1}},
	} {
		if got := play(n, tc.faults, "", "findmnt", strings.Fields(tc.line)...); got != tc.want {
			t.Errorf("%s: got %+v", tc.line, got)
		}
	}
}

func TestDiskAndFiles(t *testing.T) {
	n := newNode(t)
	if err := errors.Join(n.SetMounts(Mount{"/", "/dev/x", "ext4", "rw"}, Mount{n.Dir, "nas:/m", "nfs4", "ro"}), os.WriteFile(n.Run("f"), []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := play(n, DiskFull, "", "df", "-Pk", "--", n.Dir); r.code != 0 || strings.Fields(strings.Split(r.out, "\n")[1])[3] != "0" {
		t.Errorf("got %+v", r)
	}
	if r := play(n, DiskFull, "", "df", "--output=source", n.Dir); r.code != exitUnknown {
		t.Errorf("got %+v", r)
	}
	if r := play(n, MountStale, "", "head", "-c", "1", "--", n.Run("f")); r.code != 1 || !strings.Contains(r.err, "Stale file handle") {
		t.Errorf("got %+v", r)
	}
	if r := play(n, MountStale, "", "cat", "/dev/null"); r.code != 0 {
		t.Errorf("got %+v", r)
	}
	if r := play(n, "", "", "cat", n.Run("f")); r.out != "text" {
		t.Errorf("got %+v", r)
	}
}

func TestPortsReadByAwk(t *testing.T) {
	n := newNode(t)
	if err := n.Listen(8000, 29500); err != nil {
		t.Fatal(err)
	}
	if r := play(n, "", "", "awk", `$4 == "0A" { print $2 }`, "/proc/net/tcp", "/proc/net/tcp6"); r.out != "0100007F:1F40\n0100007F:733C\n" {
		t.Errorf("got %+v", r)
	}
}

// TestWrappersPassOn: what is not played runs the machine's own program.
func TestWrappersPassOn(t *testing.T) {
	n := newNode(t)
	if err := n.Install("/bin/echo", []string{"it's", "played"}); err != nil {
		t.Fatal(err)
	}
	for name := range when {
		if _, ok := programs[name]; !ok {
			t.Errorf("%s is no program", name)
		}
	}
	for _, name := range Programs() {
		b, err := os.ReadFile(filepath.Join(n.Bin(), name))
		if err != nil {
			t.Fatal(err)
		}
		_, conditional := when[name]
		if played := strings.Contains(string(b), `exec '/bin/echo' 'it'\''s' 'played' `+name+` "$@"`); !played || conditional != strings.Contains(string(b), "esac\nexec '/") {
			t.Errorf("%s is %s", name, b)
		}
	}
}
