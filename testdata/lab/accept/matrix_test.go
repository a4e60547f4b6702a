//go:build lab

package accept

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	cells   = flag.String("cells", "", "only the cells whose name matches, as in 'mount stale/after the commit/head'; \"ten\": those of .ci/run")
	shard   = flag.String("shard", "1/1", "only these of them: 2/4 is the second, the sixth, …")
	results = flag.String("results", "", "a file for the results, a line of JSON each")
)

// cell is one fault at one moment on one node.
type cell struct {
	fault  nodeFault
	moment moment
	node   int
}

func (c cell) where() string {
	if c.node == head {
		return "head"
	}
	return "worker"
}

func (c cell) String() string { return fmt.Sprintf("%s/%s/%s", c.fault.name, c.moment, c.where()) }

// result is what a cell came to.
type result struct {
	Cell, Fault, Moment, Node, Class, Expected, Seen, Verdict, Detail string
	Seconds                                                           int
}

func everyCell() []cell {
	var all []cell
	for _, f := range everyFault {
		for _, m := range everyMoment {
			for _, node := range []int{1, head} {
				all = append(all, cell{f, m, node})
			}
		}
	}
	return all
}

// halves are all cells, in two halves that each have every fault at every moment on one of the nodes: a run
// that is cut short has seen the most.
func halves() []cell {
	all := everyCell()
	var first, second []cell
	for i, c := range all {
		fault, moment := i/2/len(everyMoment), i/2%len(everyMoment)
		if (i+fault+moment)%2 == 0 {
			first = append(first, c)
		} else {
			second = append(second, c)
		}
	}
	return append(first, second...)
}

// chosen are the cells of this run.
func chosen(t *testing.T) []cell {
	t.Helper()
	var part, parts int
	if _, err := fmt.Sscanf(*shard, "%d/%d", &part, &parts); err != nil || part < 1 || part > parts {
		t.Fatalf("cannot use -shard %q: want 1/4", *shard)
	}
	wanted := regexp.MustCompile(*cells).MatchString
	if *cells == "ten" {
		wanted = func(name string) bool { return ten[name] }
	}
	var out []cell
	number := 0
	for _, c := range halves() {
		if !wanted(c.String()) {
			continue
		}
		if number++; (number-1)%parts == part-1 {
			out = append(out, c)
		}
	}
	return out
}

// Every fault at every moment, on a worker and on the head. A cell that takes another way than expected
// fails; whatever way it takes, in the end the group serves again by itself.
func TestMatrix(t *testing.T) {
	if *results == "" {
		t.Skip("skipped: `make lab-matrix` runs it")
	}
	doorways(t)
	for _, c := range chosen(t) {
		t.Run(c.String(), func(t *testing.T) {
			r := result{Cell: c.String(), Fault: c.fault.name, Moment: string(c.moment), Node: c.where(), Verdict: "did not end"}
			defer func() { keep(t, r) }()
			c.play(t, &r)
		})
	}
}

// play lets the story happen and compares it.
func (c cell) play(t *testing.T, r *result) {
	want := c.expected()
	r.Class, r.Expected = want.class, want.text(c.fault.mend == nil)
	c.settled(t)
	began := time.Now()
	before := ids(t)
	mended := false
	mend := func() {
		if c.fault.mend != nil && !mended {
			c.fault.mend(t, c.node)
		}
		mended = true
		release(c.node)
	}
	defer func() {
		if !mended {
			mend()
		}
	}()
	c.strike(t)
	struck, while := time.Now(), regexp.MustCompile(`^`+want.while+`$`)
	for time.Since(struck) < want.lasts || !want.blind && !while.MatchString(seenSince(began).line(time.Time{})) {
		if time.Since(struck) > matrixLimit {
			break
		}
		onlyOne(t)
		time.Sleep(time.Second)
	}
	under := seenSince(began)
	mend()
	var bar time.Time
	if c.fault.mend != nil {
		bar = time.Now()
	}
	all := c.ends(t, r, began, bar, want.pattern(bar.IsZero()))
	if r.Detail = under.refusals(); !want.named(r.Detail) {
		r.Verdict = "names another cause"
		t.Errorf("a refusal does not say %q: %s", want.says, r.Detail)
	}
	if !all.has("commit") && strings.Join(ids(t), " ") != strings.Join(before, " ") {
		r.Verdict = "touched without a commit"
		t.Errorf("touched without a commit: %v, now %v", before, ids(t))
	}
}

// ends waits until the group serves again by itself, and compares the whole story.
func (c cell) ends(t *testing.T, r *result, began, bar time.Time, want string) seen {
	t.Helper()
	var all seen
	eventually(t, matrixLimit, "it serves again by itself", func() bool {
		onlyOne(t)
		all = seenSince(began)
		r.Seen = all.line(bar)
		return len(all) > 0 && all[len(all)-1].word == "serving" && !statusBusy(t)
	})
	r.Seen += " " + counted(statusNow(t).Budget)
	r.Seconds = int(time.Since(began).Seconds())
	r.Verdict = "as expected"
	if !regexp.MustCompile(`^` + want + `$`).MatchString(r.Seen) {
		r.Verdict = "differs"
		t.Errorf("seen     %s\nexpected %s", r.Seen, want)
	}
	return all
}

// matrixLimit bounds each half of a cell. The longest wait is that for a launch command of a minute, the
// pause after it, and the grace for a person.
const matrixLimit = 4 * time.Minute

// settled hands over a group that serves and has its whole budget; its launch uses the shared mount.
func (c cell) settled(t *testing.T) {
	t.Helper()
	load := ""
	if c.moment == duringBoot {
		load = "--load " + bootLoad.String()
	}
	const args = `echo "-v /shared:/models:ro" >/var/lib/lab/docker-args`
	servingWith(t, args)
	everywhere(t, args+"; printf %s '"+load+"' >/var/lib/lab/server-args")
}

// onlyOne checks what must hold at every instant: no node has two containers of the name. Of each node
// it looks now and then, since a look from outside costs more than one of the watchdog's.
func onlyOne(t *testing.T) {
	t.Helper()
	node := int(time.Now().Unix()) % nodes
	out, err := try(node, `timeout 5 /usr/bin/docker ps -aq --filter name=^/vllm$`)
	if err == nil && len(strings.Fields(out)) > 1 {
		t.Errorf("node%d has two containers of the name: %s", node+1, out)
	}
}

func statusBusy(t *testing.T) bool { return statusNow(t).Working != "" }

// counted is the fraction in "restart 1/2 in 36m".
func counted(budget string) string { return regexp.MustCompile(`\d/\d`).FindString(budget) }

// keep writes the result down as soon as it is known.
func keep(t *testing.T, r result) {
	t.Helper()
	if r.Verdict == "did not end" && t.Skipped() {
		return
	}
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(*results), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(*results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}
