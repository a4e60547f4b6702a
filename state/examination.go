package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// What the process that examines says, a line each.
const (
	wordBegun   = "examining"
	wordFine    = "fine"
	wordDamaged = "damaged: "
	wordFault   = "fault: "
)

// examineStack is the most that following the pages may take of it: they are a handful deep.
const examineStack = 16 << 20

// Answer examines a database for the process that has started this one, and says on out what it
// found. It may end the process at any instant.
func Answer(path string, out io.Writer) {
	debug.SetMaxStack(examineStack)
	time.AfterFunc(examineTimeout+time.Second, func() { os.Exit(1) }) // whoever asked may be gone
	fmt.Fprintln(out, wordBegun)
	err := Examine(path)
	var damage *DamageError
	switch {
	case err == nil:
		fmt.Fprintln(out, wordFine)
	case errors.As(err, &damage):
		fmt.Fprintln(out, wordDamaged+oneLine(damage.Cause))
	default:
		fmt.Fprintln(out, wordFault+oneLine(err))
	}
}

func oneLine(err error) string { return strings.Map(printable, err.Error()) }

// Examine follows every page of a database and reads every value. It may panic, overflow its stack or
// end the process: see InChild. After damage the file stays open.
func Examine(path string) error {
	s := &Store{path: path, timeout: openTimeout}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{Timeout: s.timeout, ReadOnly: true, PageSize: boltPageSize})
	if err != nil {
		return s.fault("read", s.opened(err))
	}
	if err := s.examineFreelist(); err != nil {
		return s.fault("read", err)
	}
	tx, err := db.Begin(false)
	if err != nil {
		return s.fault("read", err)
	}
	for wrong := range tx.Check() {
		return s.damaged("its pages contradict each other: %v", wrong) // not one word more: it might never end
	}
	if err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return readAll(b) }); err != nil {
		return s.damaged("%v", err)
	}
	_ = tx.Rollback()
	return s.fault("read", db.Close())
}

// readAll touches every byte.
func readAll(b *bbolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		if value == nil {
			return fmt.Errorf("its part %.20q is none of ours", key)
		}
		for at := 0; at < len(value); at += 512 {
			_ = value[at]
		}
		return nil
	})
}

// examineFreelist looks at the list of free pages before bbolt makes room for as many as it says.
func (s *Store) examineFreelist() error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	newest, err := s.newestMeta(f)
	if err != nil {
		return err
	}
	var head [24]byte // the page's header, and the first number behind it
	if newest.freelist < metaPages || newest.freelist >= newest.pages {
		return s.damaged("its list of free pages is outside")
	}
	if _, err := f.ReadAt(head[:], int64(newest.freelist)*boltPageSize); err != nil {
		return err
	}
	order := binary.NativeEndian
	flags, count, room := order.Uint16(head[8:]), uint64(order.Uint16(head[10:])), (uint64(order.Uint32(head[12:]))+1)*boltPageSize
	if count == 0xffff {
		count = order.Uint64(head[16:])
	}
	if flags != freelistFlag || order.Uint64(head[:]) != newest.freelist || newest.freelist+room/boltPageSize > newest.pages || count > room/8 {
		return s.damaged("its list of free pages is damaged")
	}
	return nil
}
