package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shell runs text as a node would and returns its output and exit code.
func shell(t rapid.TB, text []byte) ([]byte, int) {
	t.Helper()
	c := exec.Command("/bin/sh", "-s")
	c.Stdin = bytes.NewReader(text)
	out, err := c.Output()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return out, c.ProcessState.ExitCode()
}

var nasty = []string{
	"'", "''", `"`, "`", "$", "$$", "$(exit 1)", "${x}", "\\", "\\'", "\n", "\r\n", "\t", " ", "!", "!!", "*", "?", "~", "#", ";", "&", "|", "<", ">",
	"(", ")", "{", "}", `{"method":"mtp","n":2}`, "=", "%s", "-n", "é", "\xff", "\x81", "\x88", "end\n", "EOF\n", "'\nexit 0\n'",
}

func words() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(nasty), rapid.String(), rapid.Map(rapid.SliceOf(rapid.ByteRange(1, 255)), func(b []byte) string { return string(b) }))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), ""), "\x00", "")
	})
}

// D12: what goes in comes out, through a real shell.
func TestQuoteRoundTrips(t *testing.T) {
	s := Script{name: "test", class: Check, body: `printf '%s' "$WATCHDOG_A"; printf '%s' "$WATCHDOG_B_2"`}
	rapid.Check(t, func(t *rapid.T) {
		a, b := words().Draw(t, "a"), words().Draw(t, "b")
		fence := NewFence()
		text, err := Render(s, fence, map[string]string{"WATCHDOG_A": a, "WATCHDOG_B_2": b})
		if err != nil {
			t.Fatal(err)
		}
		out, code := shell(t, text)
		got, exit, ok := Inside(fence, out)
		if got != a+b || exit != 0 || code != 0 || !ok {
			t.Fatalf("got %q, exit %d and %d, ok %v; want %q", got, exit, code, ok, a+b)
		}
	})
}

func TestRenderRefuses(t *testing.T) {
	for what, env := range map[string]map[string]string{
		"lower case":   {"WATCHDOG_a": ""},
		"foreign name": {"PATH": "/tmp"},
		"bare prefix":  {"WATCHDOG_": ""},
		"splice":       {"WATCHDOG_A=1;reboot;WATCHDOG_B": ""},
		"newline":      {"WATCHDOG_A\n": ""},
		"empty name":   {"": ""},
		"NUL":          {"WATCHDOG_A": "secret\x00"},
	} {
		_, err := Render(Get("check/shell"), "f", env)
		if err == nil {
			t.Errorf("%s: rendered", what)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error quotes the value: %v", what, err)
		}
	}
	if _, err := Render(Script{}, "f", nil); err == nil {
		t.Error("rendered the zero script")
	}
}

// A shell that gets only a part runs nothing, wherever the connection broke.
func TestTruncatedRunsNothing(t *testing.T) {
	text, file := touching(t, Script{name: "small", class: Check, body: "cat <<END\n$WATCHDOG_FILE\nEND\n( : ) && { :; }\nif :; then :; fi"})
	complete := len(text) - len("\n")
	rapid.Check(t, func(t *rapid.T) {
		anywhere, inBody := rapid.IntRange(0, complete-1), rapid.IntRange(complete-300, complete-1)
		untouched(t, text, file, rapid.OneOf(anywhere, inBody, rapid.IntRange(0, 300)).Draw(t, "cut"))
	})
	for _, s := range All() {
		text, file := touching(t, s)
		for _, cut := range []int{len(text) / 3, len(text) - len(s.body)/2, len(text) - 60, len(text) - 20, len(text) - 3, len(text) - 2} {
			untouched(t, text, file, cut)
		}
		shell(t, text)
		if _, err := os.Stat(file); err != nil {
			t.Errorf("the complete script %s did not run", s.name)
		}
	}
}

// touching renders a script that first of all makes a file.
func touching(t *testing.T, s Script) (text []byte, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "touched")
	s.body = `: >"$WATCHDOG_FILE"; exit 0` + "\n" + s.body
	text, err := Render(s, NewFence(), map[string]string{"WATCHDOG_FILE": file})
	if err != nil {
		t.Fatal(err)
	}
	return text, file
}

func untouched(t rapid.TB, text []byte, file string, cut int) {
	t.Helper()
	shell(t, text[:cut])
	if _, err := os.Stat(file); err == nil {
		t.Fatalf("ran though cut to %q", text[:cut])
	}
}

const unlike = -1 // shells differ in the code, but it is not 0

func TestRenderedBody(t *testing.T) {
	for _, c := range []struct {
		what, body, out string
		exit            int
	}{
		{"sees no stdin", "cat; printf 'x'", "x", 0},
		{"parses in C", `printf '%s' "$LC_ALL"`, "C", 0},
		{"stops at a failure", "printf 'a'\nfalse\nprintf 'b'", "a", 1},
		{"stops at an unset variable", `printf 'a'; printf '%s' "$WATCHDOG_MISSING" || :; printf 'b'`, "a", unlike},
		{"tells its exit code", "exit 37", "", 37},
		{"keeps line ends", "printf 'a\\n\\n'", "a\n\n", 0},
		{"may have no last line end", "printf 'a\\nb'", "a\nb", 0},
		{"may end in a comment", "printf a # b", "a", 0},
		{"fails in words", "fail because", "", 1},
	} {
		fence := NewFence()
		text, err := Render(Script{name: "test", class: Check, body: c.body}, fence, nil)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, "\nprintf 'what comes behind is not run'\n"...)
		text = append(text, strings.Repeat("# nor read\n", 20000)...) // more than a shell reads ahead
		out, code := shell(t, text)
		got, exit, ok := Inside(fence, out)
		if c.exit == unlike && exit != 0 {
			c.exit = exit
		}
		if got != c.out || exit != c.exit || code != c.exit || !ok || bytes.Contains(out, []byte("behind")) {
			t.Errorf("%s: got %q, exit %d and %d, ok %v; want %q, %d; all of it: %q", c.what, got, exit, code, ok, c.out, c.exit, out)
		}
	}
}

// A login shell that echoes what it reads must not look like an answer.
func TestEchoedScriptIsNoAnswer(t *testing.T) {
	fence := NewFence()
	text, err := Render(Get("check/shell"), fence, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _, ok := Inside(fence, text); ok || body != "" {
		t.Errorf("the script itself passes for output %q", body)
	}
}
