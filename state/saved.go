package state

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// savedName is a file that says how our last save left the database. It is never needed: without it
// the database is examined once more.
const savedName = "saved"

const bootIDFile = "/proc/sys/kernel/random/boot_id"

// saved is what that file holds. Its transaction only ever grows, and is written behind the
// database's own sync: a database with a lower one has lost what was saved.
type saved struct {
	Transaction int   `json:"transaction"`
	Trace       trace `json:"trace"`
}

// trace changes with each write to a file, by whomever. After a reboot nothing is known of what the
// disk has kept, so the boot is part of it.
type trace struct {
	Boot    string `json:"boot"`
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
	Bytes   int64  `json:"bytes"`
	Changed int64  `json:"changed"` // the inode's ctime, which nobody can set, in ns
}

// traceOf returns the zero trace, which is never one that is known, where the boot has no name.
func traceOf(info fs.FileInfo) trace {
	boot, err := os.ReadFile(bootIDFile)
	stat, ok := info.Sys().(*syscall.Stat_t)
	if err != nil || !ok {
		return trace{}
	}
	return trace{
		Boot: strings.TrimSpace(string(boot)), Device: uint64(stat.Dev), Inode: stat.Ino, Bytes: stat.Size,
		Changed: time.Unix(stat.Ctim.Unix()).UnixNano(),
	}
}

func (t trace) known(as trace) bool { return t == as && t != trace{} }

// lastSave reads what our last save left; the zero value where that cannot be told.
func (s *Store) lastSave() (last saved) {
	text, err := os.ReadFile(s.savedPath())
	if err != nil || json.Unmarshal(text, &last) != nil {
		return saved{}
	}
	return last
}

// stamp notes how a save left the file. What goes wrong here costs an examination, not the save.
func (s *Store) stamp(transaction int) {
	info, err := os.Lstat(s.path)
	if err != nil {
		return
	}
	s.examined = traceOf(info)
	text, err := json.Marshal(saved{Transaction: transaction, Trace: s.examined})
	if err == nil {
		_ = os.WriteFile(s.savedPath(), append(text, '\n'), fileMode)
	}
}

// unstamp forgets the last save of a database that goes.
func (s *Store) unstamp() error {
	err := os.Remove(s.savedPath())
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func (s *Store) savedPath() string { return filepath.Join(s.dir, savedName) }
