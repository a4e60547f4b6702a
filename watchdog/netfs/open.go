package netfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Patience is how long a local file may need to be opened. A disk that spins up needs less.
const Patience = 5 * time.Second

// OnNetwork says that a file lies on a network file system.
type OnNetwork struct{ Name string } // such as NFS

func (e *OnNetwork) Error() string {
	return fmt.Sprintf("lies on %s, which can hang: copy it to a local disk", e.Name)
}

// ErrHangs says that a file system did not answer in time.
var ErrHangs = fmt.Errorf("no answer within %s: its file system hangs: keep it on a local disk", Patience)

// Open opens a local file for reading, and refuses one on a network file system with an *OnNetwork
// without asking that anything. A FIFO or a terminal does not hold it, and a file system that does
// not answer ends in ErrHangs; what waits there then cannot be called back and ends with the program.
// Whether it is a regular file the caller must ask.
func Open(path string) (*os.File, error) {
	return within(Patience, func() (*os.File, error) { return open(path) })
}

func open(path string) (*os.File, error) {
	t, err := readTable()
	if err != nil {
		return nil, fmt.Errorf("what is mounted is unknown: %w", err)
	}
	if name := t.at(path); name != "" {
		return nil, &OnNetwork{name}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if name, err := of(f); err != nil || name != "" {
		f.Close()
		if err == nil {
			err = &OnNetwork{name}
		}
		return nil, err
	}
	return f, nil
}

// Read reads at most limit bytes of a file that Open has opened, with the same patience.
func Read(f *os.File, limit int64) ([]byte, error) {
	return within(Patience, func() ([]byte, error) { return io.ReadAll(io.LimitReader(f, limit)) })
}

// MakeFolder makes a folder and those above it, also on a network file system, with the same patience.
func MakeFolder(path string, mode os.FileMode) error {
	_, err := within(Patience, func() (struct{}, error) { return struct{}{}, os.MkdirAll(path, mode) })
	if errors.Is(err, ErrHangs) {
		return fmt.Errorf("folder %s: %w", path, err)
	}
	return err
}

// within returns what do returns, or ErrHangs.
func within[T any](limit time.Duration, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do()
		done <- answer{value, err}
	}()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-late.C:
		var none T
		return none, ErrHangs
	}
}

// of returns the name of the network file system of an open file: whatever its path went through.
func of(f *os.File) (string, error) {
	var on syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &on); err != nil {
		return "", fmt.Errorf("its file system is unknown: %w", err)
	}
	if name := Name(int64(on.Type)); name != "" {
		return name, nil
	}
	if uint32(on.Type) != fuseMagic {
		return "", nil
	}
	m, err := mountOf(f)
	if err != nil {
		return "", fmt.Errorf("its file system is unknown: %w", err)
	}
	return m.network(), nil
}

const fuseMagic = 0x65735546

// mountOf returns the mount of an open file.
func mountOf(f *os.File) (mount, error) {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", f.Fd()))
	if err != nil {
		return mount{}, err
	}
	t, err := readTable()
	if err != nil {
		return mount{}, err
	}
	for line := range strings.Lines(string(info)) {
		if text, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			id, _ := strconv.Atoi(strings.TrimSpace(text))
			if m, found := t.byID(id); found {
				return m, nil
			}
		}
	}
	return mount{}, errors.New("it is not among the mounts")
}
