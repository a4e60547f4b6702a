package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"cluster-watchdog/restart"
	"cluster-watchdog/state/disktest"
	"cluster-watchdog/watchdog"
	"cluster-watchdog/watchdog/probe"
)

var everyWrite = flag.Bool("every-write", false, "fail every write of a restart in every way: minutes")

// diskAnswer is what a tick on a judged disk came to.
type diskAnswer struct {
	Code  int
	Error string
	Wrong []string
	Runs  int    // ranks
	Times []int  // launched, per rank
	Heard string // in the journal and by people
}

// playDisk lives a group's life in this process, whose writes the parent judges.
func playDisk() {
	if err := disktest.Submit(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	worlds := map[string]*diskWorld{}
	err := disktest.Serve(func(words []string) string {
		dir := words[1]
		if words[0] == "begin" {
			worlds[dir] = newDiskWorld(dir)
			return beginOnDisk(worlds[dir])
		}
		a := tickOnDisk(worlds[dir])
		text, err := json.Marshal(a)
		if err != nil {
			return err.Error()
		}
		return string(text)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// onDisk is a session on the world's nodes, with no engine that answers.
func onDisk(w *diskWorld) (*session, error) {
	c := defaultConfig()
	c.Container, c.StateDir = "vllm", filepath.Join(w.dir, "state")
	for rank := range diskRanks {
		c.Nodes = append(c.Nodes, NodeConfig{Name: fmt.Sprint("n", rank+1), Address: "127.0.0.1"})
	}
	c.SSH.User, c.Server.URL, c.Launch.Command = "ops", "http://127.0.0.1:1", "true"
	c.Checks.StateMinFree = 1
	c.ActingLock = filepath.Join(w.dir, "acting", "lock")
	// A launch that was cut off by the disk is judged at once.
	c.Judge.Dead.Apart, c.Judge.RankAppears, c.Launch.Timeout, c.Budget.Pause = time.Millisecond, time.Millisecond, time.Millisecond, time.Millisecond
	a := &app{out: io.Discard, errs: io.Discard}
	s := &session{app: a, config: c, policy: c.Policy(time.Time{}), nodes: w, now: probe.Now, log: zerolog.New(&w.heard)}
	var err error
	if s.past, err = openState(c.StateDir); err != nil {
		return nil, err
	}
	s.store = s.past
	settings := c.settings()
	settings.Owner = restart.Owner{ID: "id-of-spark", Name: "spark"}
	if s.plan, err = restart.NewPlan(settings, restart.Steps()); err != nil {
		return nil, err
	}
	s.prober = probe.New(c.probe(), asker{w})
	return s, nil
}

// beginOnDisk brings the group to a crash that the next tick will act on.
func beginOnDisk(w *diskWorld) string {
	s, err := onDisk(w)
	for _, step := range []func() error{
		func() error { return s.tick(context.Background()) },
		func() error {
			return s.store.SaveArm(&watchdog.Arm{Who: "anna", At: probe.Now(), Identity: s.policy.Identity})
		},
		func() error { return s.tick(context.Background()) },
	} {
		if err == nil {
			err = step()
		}
	}
	w.exited[1] = true
	if err != nil {
		return err.Error()
	}
	return ""
}

func tickOnDisk(w *diskWorld) diskAnswer {
	w.heard.Reset()
	s, err := onDisk(w)
	if err == nil {
		err = s.tick(context.Background())
	}
	a := diskAnswer{Code: exitCode(err), Wrong: w.wrong, Times: w.launches, Heard: w.heard.String()}
	if err != nil {
		a.Error = err.Error()
	}
	for rank, id := range w.containers {
		if id != "" && !w.exited[rank] {
			a.Runs++
		}
	}
	return a
}

// judged is the process of playDisk, and its disk.
type judged struct {
	t    *testing.T
	disk *disktest.Disk
	root string
	n    int
}

func judgedDisk(t *testing.T) *judged {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: exe, Args: []string{"watchdog-on-disk"}, Stderr: os.Stderr}
	j := &judged{t: t, root: disktest.Folder(t)}
	j.disk, err = disktest.Start(cmd, j.root)
	if errors.Is(err, disktest.ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.disk.Close() })
	return j
}

// begin makes a group whose next tick restarts it, in a folder of its own.
func (j *judged) begin() (dir string) {
	j.t.Helper()
	j.n++
	dir = filepath.Join(j.root, fmt.Sprint(j.n))
	answer, err := j.disk.Do(disktest.Fault{}, "begin", dir)
	if err != nil || answer != "" {
		j.t.Fatalf("%v: %s", err, answer)
	}
	return dir
}

func (j *judged) tick(f disktest.Fault, dir string) diskAnswer {
	j.t.Helper()
	text, err := j.disk.Do(f, "tick", dir)
	if err != nil {
		j.t.Fatalf("%s: %v", f, err)
	}
	var a diskAnswer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		j.t.Fatalf("%s: %v in %q", f, err, text)
	}
	return a
}

// A write of a restart fails, at every place and in every way. Nothing is destroyed or launched that
// is not on the disk, exactly the restarts are counted that launched something, and the ticks after
// that, on a mended disk, bring the group up: with the same restart, or where the disk failed between
// the workers and the head, with a second one.
func TestRestartOnAFailingDisk(t *testing.T) {
	j := judgedDisk(t)
	if a := j.tick(disktest.Fault{}, j.begin()); a.Code != exitFine || a.Runs != diskRanks || len(a.Wrong) > 0 {
		t.Fatalf("on a disk that is well: %+v", a)
	}
	writes := j.disk.Writes()
	if len(writes) < 100 {
		t.Fatalf("a restart has only the writes %q", writes)
	}
	met, missed := 0, 0
	for i, f := range restartFaults(writes) {
		if !*everyWrite && i%7 != 0 {
			continue
		}
		dir := j.begin()
		a := j.tick(f, dir)
		if !j.disk.Failed() {
			missed++ // such as a full disk, which still deletes
			continue
		}
		met++
		hint := map[syscall.Errno]string{syscall.ENOSPC: "free some disk space", syscall.EIO: "look at the disk", syscall.EROFS: "mounted read-only"}[f.Errno]
		switch {
		case a.Code == exitFine && a.Runs == diskRanks: // it was no write that matters
		case a.Code != exitFault || !strings.Contains(a.Error, hint):
			t.Errorf("%s: exit code %d, %s", f, a.Code, a.Error)
		}
		for range 4 {
			if a.Runs < diskRanks {
				a = j.tick(disktest.Fault{}, dir)
			}
		}
		j.mended(f, dir, a)
	}
	if met < 50 || missed > met/4 {
		t.Errorf("only %d writes failed, %d did not", met, missed)
	}
}

// restartFaults are the ways to fail the writes of a restart. Within a transaction its first write
// and its syncs stand for all: each single one is tried in package state.
func restartFaults(writes []string) (all []disktest.Fault) {
	for _, w := range writes {
		if !*everyWrite && strings.HasPrefix(w, "state/state.db write") {
			continue
		}
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
			all = append(all, disktest.Fault{Write: w, Errno: errno}, disktest.Fault{Write: w, Errno: errno, Stays: true})
		}
	}
	return all
}

// mended looks at what all ticks together came to.
func (j *judged) mended(f disktest.Fault, dir string, a diskAnswer) {
	j.t.Helper()
	for _, w := range a.Wrong {
		j.t.Errorf("%s: %s", f, w)
	}
	if a.Runs != diskRanks || slices.Max(a.Times) > 2 {
		j.t.Errorf("%s: %d ranks run, launched %v times: exit code %d, %s", f, a.Runs, a.Times, a.Code, a.Error)
	}
	store, err := openState(filepath.Join(dir, "state"))
	if err != nil {
		j.t.Fatal(err)
	}
	st, err := store.Load()
	if err != nil {
		j.t.Fatal(err)
	}
	counted := 0
	for _, attempt := range st.Attempts {
		if attempt.Counted() {
			counted++
		}
	}
	launched := slices.Max(a.Times)
	// Where a sync failed nobody knows what is on the disk: then the launch may be there that was
	// given up for it, as if the power had gone in between.
	unsure := strings.Contains(f.Write, " sync ") && counted == launched+1
	if counted != launched && !unsure || len(st.Attempts) != counted {
		j.t.Errorf("%s: %d attempts, %d counted, launched %v times", f, len(st.Attempts), counted, a.Times)
	}
}

// On a full disk nothing is restarted, since no budget could be kept, and people hear of it: in an
// hour once. Evidence that finds no room keeps nobody from restarting.
func TestFullDiskB06(t *testing.T) {
	j := judgedDisk(t)
	if a := j.tick(disktest.Fault{}, j.begin()); a.Code != exitFine {
		t.Fatalf("on a disk that is well: %+v", a)
	}
	writes := j.disk.Writes()
	first := slices.IndexFunc(writes, func(w string) bool { return strings.HasPrefix(w, "state/state.db write") })
	log := slices.IndexFunc(writes, func(w string) bool { return strings.Contains(w, ".logs.gz") })
	if first < 0 || log < 0 {
		t.Fatalf("%q", writes)
	}
	dir := j.begin()
	const told = "notice: cannot save what was seen"
	for tick, want := range []int{1, 0} {
		a := j.tick(disktest.Fault{Write: writes[first], Errno: syscall.ENOSPC}, dir)
		if a.Code != exitFault || a.Runs != diskRanks-1 || slices.Max(a.Times) > 0 || len(a.Wrong) > 0 || !strings.Contains(a.Error, "free some disk space") {
			t.Errorf("tick %d: %+v", tick, a)
		}
		if got := strings.Count(a.Heard, told); got != want {
			t.Errorf("tick %d: people heard of it %d times: %s", tick, got, a.Heard)
		}
	}
	unsaved, _ := filepath.Glob(filepath.Join(dir, "acting", "unsaved-*"))
	if len(unsaved) != 1 {
		t.Fatalf("%q", unsaved)
	}
	before := time.Now().Add(-unsavedAgain - time.Minute)
	if err := os.Chtimes(unsaved[0], before, before); err != nil {
		t.Fatal(err)
	}
	if a := j.tick(disktest.Fault{Write: writes[first], Errno: syscall.ENOSPC}, dir); !strings.Contains(a.Heard, told) {
		t.Errorf("an hour later: %s", a.Heard)
	}
	if a := j.tick(disktest.Fault{}, dir); a.Runs != diskRanks {
		t.Errorf("with room again: %+v", a)
	}
	if a := j.tick(disktest.Fault{Write: writes[log], Errno: syscall.ENOSPC}, j.begin()); !j.disk.Failed() || a.Runs != diskRanks || len(a.Wrong) > 0 {
		t.Errorf("no room for evidence: %+v", a)
	}
}
