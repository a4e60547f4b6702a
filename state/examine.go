package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// bbolt's file begins with two meta pages; a commit writes one of them in turn.
const (
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	metaSize     = 64 // of the record, checksum included
	metaAt       = 16 // behind the page's own header
	noFreelist   = ^uint64(0)
	metaPages    = 2
	minimumBytes = metaPages * boltPageSize
	freelistFlag = 0x10
)

// examine tells a first start from a lost or damaged file before bbolt sees it. bbolt would take
// an empty file for a new one, and some damage makes it panic where nobody can recover: a file that
// is not as our last save left it is examined by another process first.
func (s *Store) examine() (fresh bool, err error) {
	info, err := os.Lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.absent()
	}
	if err != nil {
		return false, err
	}
	switch {
	case !info.Mode().IsRegular():
		return false, s.damaged("it is no regular file")
	case info.Size() == 0:
		return false, s.damaged("the file is empty")
	case info.Size() < minimumBytes:
		return false, s.damaged("the file is short: %d bytes", info.Size())
	}
	s.last = s.lastSave() // before the pages: a save may come between
	if err := s.examineMeta(); err != nil {
		return false, err
	}
	now := traceOf(info)
	if now.known(s.last.Trace) || now.known(s.examined) {
		return false, nil
	}
	if err := s.examiner(s.path); err != nil {
		return false, err
	}
	s.examined = now
	return false, nil
}

// absent says whether there never was a database, or it got lost.
func (s *Store) absent() (fresh bool, err error) {
	_, err = os.Lstat(filepath.Join(s.dir, sidecarName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, s.damaged("the file vanished")
}

// examineMeta compares the file with the newest of its meta pages.
func (s *Store) examineMeta() error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = s.newestMeta(f)
	return err
}

// newestMeta reads the two meta pages and returns the newer valid one, if the file fits it.
func (s *Store) newestMeta(f *os.File) (meta, error) {
	var head [minimumBytes]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return meta{}, err
	}
	info, err := f.Stat() // after the read: the file grows before a meta page tells of it
	if err != nil {
		return meta{}, err
	}
	newest, err := checkMeta(head, info.Size())
	if err != nil {
		return meta{}, &DamageError{Path: s.path, Cause: err}
	}
	return newest, nil
}

// checkMeta says why bbolt could not work with such a file.
func checkMeta(head [minimumBytes]byte, size int64) (meta, error) {
	var newest *meta
	for i := range metaPages {
		m, ok := parseMeta(head[i*boltPageSize+metaAt:][:metaSize])
		if ok && (newest == nil || m.transaction > newest.transaction) {
			newest = &m
		}
	}
	switch {
	case newest == nil:
		return meta{}, errors.New("it is no bbolt file, or its first pages are damaged")
	case newest.pageSize != boltPageSize:
		return meta{}, fmt.Errorf("its pages have %d bytes instead of %d", newest.pageSize, boltPageSize)
	case newest.freelist == noFreelist:
		// bbolt would rebuild the list in goroutines whose panics cannot be recovered.
		return meta{}, errors.New("it has no list of free pages")
	case newest.pages > uint64(size)/boltPageSize:
		return meta{}, fmt.Errorf("the file is cut off: %d bytes of %d pages", size, newest.pages)
	}
	return *newest, nil
}

type meta struct {
	pageSize    uint32
	freelist    uint64 // the page where the list of free pages is
	pages       uint64 // how many were ever in use
	transaction uint64
}

func parseMeta(b []byte) (m meta, ok bool) {
	order := binary.NativeEndian
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	if order.Uint32(b) != metaMagic || order.Uint32(b[4:]) != metaVersion || order.Uint64(b[56:]) != sum.Sum64() {
		return meta{}, false
	}
	return meta{
		pageSize:    order.Uint32(b[8:]),
		freelist:    order.Uint64(b[32:]),
		pages:       order.Uint64(b[40:]),
		transaction: order.Uint64(b[48:]),
	}, true
}
