package main

import (
	"bytes"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"cluster-watchdog/scripts"
)

var stepLine = regexp.MustCompile(`(?m)^ *\d+ (launch \w+|verify) `)

// The configs of the examples load, and the plan of each launches in the order that its engine needs.
func TestExampleConfigsHaveTheirPlan(t *testing.T) {
	want := map[string]string{
		"vllm-nnodes": "launch workers, launch head, verify",
		"vllm-ray":    "launch head, launch workers, verify",
		"sglang":      "launch workers, launch head, verify",
	}
	folders, err := fs.ReadDir(scripts.Examples, "examples")
	if err != nil || len(folders) != len(want) {
		t.Fatalf("%d examples, %v; want %d", len(folders), err, len(want))
	}
	for _, folder := range folders {
		text, err := scripts.Examples.ReadFile("examples/" + folder.Name() + "/config.yaml")
		if err != nil {
			t.Fatal(err)
		}
		config := string(text) + "state_dir: '" + t.TempDir() + "'\n"
		var out bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &out, errs: io.Discard, configPath: place(t, config, 0o600)}
		c := planCommand(a)
		if err := c.RunE(c, nil); err != nil {
			t.Errorf("%s: %v", folder.Name(), err)
			continue
		}
		var order []string
		for _, m := range stepLine.FindAllStringSubmatch(out.String(), -1) {
			order = append(order, m[1])
		}
		if got := strings.Join(order, ", "); got != want[folder.Name()] {
			t.Errorf("%s: %s\n%s", folder.Name(), got, out.String())
		}
	}
}

// One worker after the other is told by the plan, and costs its time.
func TestPlanTellsOneAfterTheOther(t *testing.T) {
	good := read(t, configData+"/good-minimal.yaml")
	config := strings.Replace(good, "launch:\n", "launch:\n  sequential: true\n", 1) + "state_dir: '" + t.TempDir() + "'\n"
	var out bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errs: io.Discard, configPath: place(t, config, 0o600)}
	c := planCommand(a)
	if err := c.RunE(c, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "launch/launch, one node after the other\n") {
		t.Errorf("plan:\n%s", out.String())
	}
}
