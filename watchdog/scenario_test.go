package watchdog

import (
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = goflag.Bool("update", false, "rewrite the transcripts in testdata")

// A transcript is a file of blocks: commands, a line of four dashes, what came of them, an empty
// line. Lines that begin with # are for readers. The commands are told in script_test.go.
func TestScenarios(t *testing.T) {
	for _, dir := range []string{"scenarios", "incidents"} {
		files, err := filepath.Glob(filepath.Join("..", "testdata", dir, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts in testdata/%s: %v", dir, err)
		}
		for _, file := range files {
			t.Run(dir+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { transcript(t, file) })
		}
	}
}

func transcript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "# ") {
		t.Errorf("%s has no title", file)
	}
	got, err := play(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if got == string(text) {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s has changed; read the difference and run `go test ./watchdog -run TestScenarios -update`:\n%s", file, difference(string(text), got))
}

// play runs the commands of a transcript and returns it with what came of them now.
func play(text string) (string, error) {
	var out strings.Builder
	var p script
	inAnswer := false
	var commands []string
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case inAnswer && line != "":
		case inAnswer:
			inAnswer = false
			out.WriteString("\n")
		case line == "----":
			inAnswer = true
			answer, err := p.block(commands)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", n+1, err)
			}
			commands = nil
			out.WriteString("----\n" + answer)
		default:
			if line != "" && !strings.HasPrefix(line, "#") {
				commands = append(commands, line)
			}
			out.WriteString(line + "\n")
		}
	}
	if len(commands) > 0 {
		return "", fmt.Errorf("the last commands have no ----")
	}
	return out.String(), nil
}

// difference shows the lines that differ, with the line before the first.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	show := func(sign string, lines []string) string {
		var out strings.Builder
		for _, l := range lines[min(i, len(lines)):min(i+12, len(lines))] {
			out.WriteString(sign + l + "\n")
		}
		return out.String()
	}
	return fmt.Sprintf("from line %d:\n%s%s", i+1, show("-", a), show("+", b))
}
