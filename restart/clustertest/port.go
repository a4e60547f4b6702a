package clustertest

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// port is an address on loopback that stays ours while nobody listens on it: a bound socket that
// never listens keeps others away, and whoever connects meanwhile is refused.
type port struct {
	holder int
	addr   string
	number int
}

func holdPort() (*port, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	number, err := bind(fd)
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("cannot get a port on loopback: %w", err)
	}
	return &port{holder: fd, number: number, addr: fmt.Sprintf("127.0.0.1:%d", number)}, nil
}

func bind(fd int) (int, error) {
	// With this on both sockets the listener may bind beside the holder.
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return name.(*syscall.SockaddrInet4).Port, nil
}

func (p *port) listen() (net.Listener, error) { return net.Listen("tcp4", p.addr) }

func (p *port) close() { syscall.Close(p.holder) }
