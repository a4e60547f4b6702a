package state

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"cluster-watchdog/watchdog"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFlagText(t *testing.T) {
	rows := []struct {
		name, text string
		want       watchdog.Flag
	}{
		{"touched", "", watchdog.Flag{}},
		{"blank", " \n\n", watchdog.Flag{}},
		{"whole", "# x\nwho: anna\nwhen: 2026-03-04T12:00:00Z\nreason: new switch\nuntil: 2026-03-04T13:00:00Z\n",
			watchdog.Flag{Who: "anna", When: noon, Reason: "new switch", Until: noon.Add(time.Hour)}},
		{"by hand", "Who:anna\r\nREASON:   new switch  \r\n", watchdog.Flag{Who: "anna", Reason: "new switch"}},
		{"only a sentence", "do not touch, anna\nback at noon\n", watchdog.Flag{Reason: "do not touch, anna back at noon"}},
		{"a sentence with a colon", "note: do not touch", watchdog.Flag{Reason: "note: do not touch"}},
		{"a reason beats other text", "hands off\nreason: new switch", watchdog.Flag{Reason: "new switch"}},
		{"escaped", `reason: two\nlines "here" C:\\x`, watchdog.Flag{Reason: "two\nlines \"here\" C:\\x"}},
		{"no escape", `reason: C:\qualm`, watchdog.Flag{Reason: `C:\qualm`}},
		{"until is no time", "until: noon", watchdog.Flag{Err: `until "noon" is no time like 2006-01-02T15:04:05Z07:00: counts as without end`}},
		{"until cut off", "until: 2026-03-04T13:00", watchdog.Flag{Err: `until "2026-03-04T13:00" is no time like 2006-01-02T15:04:05Z07:00: counts as without end`}},
		{"by all clocks", "until: 2026-03-04T13:00:00Z\nends: 2026-03-04T13:00:00Z 2h0m0s b1\n", watchdog.Flag{Until: noon.Add(time.Hour), Ends: at(time.Hour)}},
		{"until changed by hand", "until: 2026-03-05T13:00:00Z\nends: 2026-03-04T13:00:00Z 2h0m0s b1\n", watchdog.Flag{Until: noon.Add(25 * time.Hour)}},
		{"until taken out by hand", "ends: 2026-03-04T13:00:00Z 2h0m0s b1\n", watchdog.Flag{}},
		{"ends is no clock", "until: 2026-03-04T13:00:00Z\nends: 2h b1\n", watchdog.Flag{Err: `ends "2h b1" is not a time, a duration since boot and a boot id: counts as without end`}},
		{"when is no time", "when: noon", watchdog.Flag{}},
		{"binary", "\x00\xff\x1b[31m", watchdog.Flag{Reason: "[31m"}},
		{"long", strings.Repeat("é", 2000), watchdog.Flag{Reason: strings.Repeat("é", otherShown)}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			check(t, os.WriteFile(FlagPath(dir), []byte(r.text), 0o600))
			r.want.Present = true
			same(t, "flag", r.want, ReadFlag(dir))
		})
	}
}

// Whatever stands under the name counts, and reading it neither hangs nor fails.
func TestFlagIsPresentHowever(t *testing.T) {
	rows := []struct {
		name, err string
		do        func(path string) error
	}{
		{"folder", "is no regular file", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"link to nowhere", "is a symbolic link", func(p string) error { return os.Symlink("nowhere", p) }},
		{"link to a file", "is a symbolic link", func(p string) error { return os.Symlink("/etc/hostname", p) }},
		{"FIFO", "is no regular file", func(p string) error { return syscall.Mkfifo(p, 0o600) }},
		{"huge", "is larger than 64 KiB", func(p string) error { return os.WriteFile(p, make([]byte, flagBytes+1), 0o600) }},
		{"huge without content", "is larger than 64 KiB", func(p string) error { // 1 TiB of hole
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(p, 1<<40)
		}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			dir := t.TempDir()
			check(t, r.do(FlagPath(dir)))
			got := ReadFlag(dir)
			if !got.Present || !strings.Contains(got.Err, r.err) || !got.Until.IsZero() {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("the folder is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		check(t, os.WriteFile(file, nil, 0o600))
		if got := ReadFlag(file); !got.Present || got.Err == "" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		dir := t.TempDir()
		check(t, WriteFlag(dir, watchdog.Flag{Who: "anna"}))
		check(t, os.Chmod(FlagPath(dir), 0))
		asNobody(t, dir, func() {
			if got := ReadFlag(dir); !got.Present || !strings.Contains(got.Err, "permission denied") {
				t.Errorf("%+v", got)
			}
		})
	})
}

func TestFlagComesAndGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	same(t, "before", watchdog.Flag{}, ReadFlag(dir))
	want := watchdog.Flag{Present: true, Who: "anna", When: noon, Reason: "new switch", Until: noon.Add(time.Hour)}
	for range 2 { // writing over it is fine
		check(t, WriteFlag(dir, want))
		same(t, "flag", want, ReadFlag(dir))
	}
	text, err := os.ReadFile(FlagPath(dir))
	check(t, err)
	same(t, "for people", flagComment+"who: anna\nwhen: 2026-03-04T12:00:00Z\nreason: new switch\nuntil: 2026-03-04T13:00:00Z\n", string(text))
	entries, err := os.ReadDir(dir)
	check(t, err)
	same(t, "nothing beside it", 1, len(entries))
	for range 2 { // removing it twice is fine
		check(t, RemoveFlag(dir))
		same(t, "after", watchdog.Flag{}, ReadFlag(dir))
	}
}

// The flag works beside a damaged database and a held lock.
func TestFlagNeedsNothing(t *testing.T) {
	s := filled(t)
	write(t, s, []byte("torn"))
	lock, err := Acquire(t.Context(), s.dir, "tick", clock)
	check(t, err)
	defer lock.Release()
	check(t, WriteFlag(s.dir, watchdog.Flag{Who: "anna"}))
	same(t, "flag", watchdog.Flag{Present: true, Who: "anna"}, ReadFlag(s.dir))
	check(t, RemoveFlag(s.dir))
}

func TestFlagErrorSaysHowToDisarm(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(FlagPath(dir), 0o700))
	check(t, os.WriteFile(filepath.Join(FlagPath(dir), "x"), nil, 0o600))
	if err := WriteFlag(dir, watchdog.Flag{}); err == nil || !strings.Contains(err.Error(), "a flag is there and disarms nevertheless") {
		t.Error(err) // whatever stands under its name disarms
	}
	beside := filepath.Join(FlagPath(dir), "x")
	if err := WriteFlag(beside, watchdog.Flag{}); err == nil || !strings.Contains(err.Error(), "touch "+FlagPath(beside)+", or systemctl stop") {
		t.Error(err)
	}
	if err := RemoveFlag(dir); err == nil {
		t.Error("a full folder was removed")
	}
	entries, err := os.ReadDir(dir)
	check(t, err)
	same(t, "no temporary file is left", 1, len(entries))
}

func TestFlagRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := made[watchdog.Flag]().Draw(rt, "flag")
		want.Present, want.Err = true, ""
		want.When, want.Until = want.When.Truncate(time.Second), want.Until.Truncate(time.Second)
		want.Ends = watchdog.Clock{}
		if !want.Until.IsZero() && rapid.Bool().Draw(rt, "by all clocks") {
			boot := time.Duration(rapid.Int64Range(0, 1e9).Draw(rt, "boot")) * time.Second
			want.Ends = watchdog.Clock{Wall: want.Until, Boot: boot, BootID: "8f0c9a6e-0d3b-4a43-9d8e-1f2e3d4c5b6a"}
		}
		text := formatFlag(want)
		got := parseFlag(text)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s\n%s", text, diff)
		}
		for _, r := range text {
			if r != '\n' && r < ' ' {
				rt.Fatalf("a control character in %q", text)
			}
		}
	})
}

func FuzzFlag(f *testing.F) {
	for _, seed := range []string{"", "who: anna\nuntil: 2026-03-04T13:00:00Z\n", "reason: \\", "reason: \"\\\"", "until: 2026-03-04T13:00:00Z\nends: 2026-03-04T13:00:00Z 2h0m0s b1\n", ":", "until: \xff", "#", "when:\x00",
		formatFlag(watchdog.Flag{Who: " x ", Reason: "a\nb\\c\"d\x1b", When: noon, Until: noon})} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flag := parseFlag(text)
		if !flag.Present {
			t.Fatal("not present")
		}
		if (!flag.Until.IsZero() || !flag.Ends.IsZero()) && flag.Err != "" {
			t.Fatal("ends, though its end cannot be read")
		}
		if utf8.ValidString(text) && !utf8.ValidString(flag.Reason+flag.Who) && !strings.Contains(text, `\`) {
			t.Fatalf("broken text in %+v", flag)
		}
		flag.Err = ""
		again := parseFlag(formatFlag(flag))
		if diff := cmp.Diff(flag, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Only the flag that was seen is ended. One that is written while that happens stays, and so does one
// that a killed run has left aside.
func TestFlagOfAnotherIsNotEnded(t *testing.T) {
	dir := t.TempDir()
	anna := watchdog.Flag{Present: true, Who: "anna", When: noon, Reason: "new switch"}
	bert := watchdog.Flag{Present: true, Who: "bert", When: noon, Reason: "new model"}
	ends := func(seen watchdog.Flag, want bool, left watchdog.Flag) {
		t.Helper()
		gone, err := EndFlag(dir, seen)
		check(t, err)
		same(t, "gone", want, gone)
		same(t, "left", left, ReadFlag(dir))
	}
	ends(watchdog.Flag{}, true, watchdog.Flag{})
	check(t, WriteFlag(dir, anna))
	ends(bert, false, anna)
	ends(anna, true, watchdog.Flag{})

	check(t, WriteFlag(dir, anna))
	check(t, os.Rename(FlagPath(dir), flagAside(dir))) // killed in the middle
	same(t, "it disarms from there", anna, ReadFlag(dir))
	ends(watchdog.Flag{}, false, anna)
	check(t, WriteFlag(dir, bert))
	same(t, "a newer one is the flag", bert, ReadFlag(dir))
	ends(bert, true, watchdog.Flag{})

	check(t, WriteFlag(dir, anna))
	check(t, os.Rename(FlagPath(dir), flagAside(dir)))
	ends(anna, true, watchdog.Flag{})
}

// A disarm beside the end of an older one is never lost, wherever in it the rename that disarms falls.
func TestDisarmBesideAnEnd(t *testing.T) {
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	for round := range 1000 {
		old := watchdog.Flag{Present: true, Who: "anna", When: noon}
		check(t, os.WriteFile(FlagPath(dir), []byte(formatFlag(old)), flagMode))
		check(t, os.WriteFile(ready, []byte("who: bert\n"), flagMode))
		wrote := make(chan error)
		go func() {
			for n := round % 100; n > 0; n-- {
				_, _ = os.Lstat(dir) // a few microseconds
			}
			wrote <- os.Rename(ready, FlagPath(dir))
		}()
		_, err := EndFlag(dir, old)
		check(t, err)
		check(t, <-wrote)
		if got := ReadFlag(dir); got.Who != "bert" {
			t.Fatalf("round %d: the disarm is lost: %+v", round, got)
		}
	}
}
