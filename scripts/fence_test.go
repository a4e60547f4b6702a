package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestInside(t *testing.T) {
	const f = "f00d"
	for _, c := range []struct {
		what, out, body string
		exit            int
		ok              bool
	}{
		{"plain", "\nf00d begin\nhello\n\nf00d end 0\n", "hello\n", 0, true},
		{"nothing said", "\nf00d begin\n\nf00d end 3\n", "", 3, true},
		{"noise around", "Welcome!\nf00d begin\nx\nf00d end 0\nlogout\n", "x", 0, true},
		{"cut off", "\nf00d begin\nhello\nwor", "hello\nwor", 0, false},
		{"cut in the fence", "\nf00d begin\nhello\nf00d en", "hello\nf00d en", 0, false},
		{"cut in the exit code", "\nf00d begin\nhello\nf00d end 1", "hello\nf00d end 1", 0, false},
		{"never began", "command not found\n", "", 0, false},
		{"another fence", "\nbeef begin\nx\nbeef end 0\n", "", 0, false},
		{"fence within a line", "\nf00d begin\nsaid f00d end 0\n\nf00d end 1\n", "said f00d end 0\n", 1, true},
		{"empty", "", "", 0, false},
	} {
		body, exit, ok := Inside(f, []byte(c.out))
		if body != c.body || exit != c.exit || ok != c.ok {
			t.Errorf("%s: got %q %d %v, want %q %d %v", c.what, body, exit, ok, c.body, c.exit, c.ok)
		}
	}
}

// However the output arrives in pieces, the same is inside.
func TestCutterTakesAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fence := NewFence()
		noise := rapid.StringMatching(`[a-z\n]{0,200}`).Draw(t, "noise")
		body := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\n", "x", fence, fence + " begin\n", fence + " en", "\n" + fence, " end 0", "\xff"})).Draw(t, "body"), "")
		if strings.Contains("\n"+body+"\n", "\n"+fence+" end 0\n") {
			t.Skip("the body itself ends the fence")
		}
		exit := rapid.IntRange(0, 255).Draw(t, "exit")
		out := []byte(fmt.Sprintf("%s\n%s begin\n%s\n%s end %d\n%s", noise, fence, body, fence, exit, noise))
		var got bytes.Buffer
		c := NewCutter(fence, &got)
		for len(out) > 0 {
			n := rapid.IntRange(1, min(len(out), 50)).Draw(t, "piece")
			if m, err := c.Write(out[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			out = out[n:]
		}
		code, ok, err := c.Close()
		if got.String() != body || code != exit || !ok || err != nil {
			t.Fatalf("got %q %d %v %v, want %q %d", got.String(), code, ok, err, body, exit)
		}
	})
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// A full disk on the head must not hold up the script on the node.
func TestCutterSurvivesItsWriter(t *testing.T) {
	c := NewCutter("f00d", full{})
	for range 3 {
		if n, err := c.Write([]byte("\nf00d begin\n" + strings.Repeat("x", 1000))); err != nil || n != 1012 {
			t.Fatal(n, err)
		}
	}
	if _, _, err := c.Close(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
