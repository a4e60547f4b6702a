//go:build lab

package accept

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var report = flag.String("report", "", "write the table of all results in -results to this file")

// The table that people read, from the results of all labs. Of a cell that ran twice the later result
// stands.
func TestMatrixReport(t *testing.T) {
	if *report == "" {
		t.Skip("skipped: `make lab-matrix` runs it")
	}
	text, err := os.ReadFile(*results)
	if err != nil {
		t.Fatal(err)
	}
	latest := map[string]result{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		latest[r.Cell] = r
	}
	if err := os.WriteFile(*report, table(latest), 0o644); err != nil {
		t.Fatal(err)
	}
}

func table(latest map[string]result) []byte {
	var names []string
	for _, c := range everyCell() {
		names = append(names, c.String())
		if r, found := latest[c.String()]; found {
			latest[c.String()] = c.judged(r)
		}
	}
	for _, p := range peopleCases {
		names = append(names, "people/"+p.name)
	}
	names = append(names, "people/off for a week")

	var rows bytes.Buffer
	ran, right := 0, 0
	for _, name := range names {
		r, found := latest[name]
		if !found {
			continue
		}
		ran++
		if r.Verdict == "as expected" {
			right++
		}
		cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
		fmt.Fprintf(&rows, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(r.Fault), r.Moment, r.Node, r.Class, cell(r.Expected), cell(r.Seen), r.Verdict)
	}

	var out bytes.Buffer
	fmt.Fprintf(&out, matrixHead, ran, len(names), right)
	for _, w := range why {
		fmt.Fprintf(&out, "- **%s**: %s\n", w.class, w.text)
	}
	fmt.Fprintf(&out, "\n## The cells\n\n| fault | moment | on | class | expected | seen | verdict |\n|---|---|---|---|---|---|---|\n")
	out.Write(rows.Bytes())
	return out.Bytes()
}

// judged is the result by what is expected now, which may have been put right since it was played.
func (c cell) judged(r result) result {
	want, noBar := c.expected(), c.fault.mend == nil
	r.Class, r.Expected = want.class, want.text(noBar)
	if r.Verdict != "as expected" && r.Verdict != "differs" && r.Verdict != "names another cause" {
		return r
	}
	switch {
	case !want.fits(r.Seen, noBar):
		r.Verdict = "differs"
	case !want.named(r.Detail):
		r.Verdict = "names another cause"
	default:
		r.Verdict = "as expected"
	}
	return r
}

const matrixHead = `# The matrix: every fault at every moment

Written by ` + "`make lab-matrix`" + `, which plays each fault of the lab at each moment of a restart that another rank's
death has made necessary, on a worker and on the head: %d of %d cells, %d as expected.

A story is told in the words of the journal's events, each change once: *refused* (nothing touched, not
counted), *commit*, *broken* (a container could not be removed), *waits* (the group is down and waits),
*launch-failed*, *launched*, *grace* (a person is at work), *serving*; a bar where the fault was mended;
at the end what was counted of the budget. In every cell the group serves again by itself, and no node
ever has two containers of its name. Words in brackets may be missing.

## Why that is right

`
