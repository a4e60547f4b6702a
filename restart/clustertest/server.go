package clustertest

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"cluster-watchdog/restart/clustertest/fakenode"
)

// server is the sshd of one node.
type server struct {
	Node
	cluster    *Cluster
	rank       int
	node       fakenode.Node
	config     *ssh.ServerConfig
	port       *port
	handshakes atomic.Int64

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
}

// loginGrace ends handshakes that do not, as sshd's LoginGraceTime does.
const loginGrace = 20 * time.Second

func (c *Cluster) newServer(rank int, user userKey) (*server, error) {
	name := nodeName(rank)
	s := &server{cluster: c, rank: rank, conns: map[net.Conn]bool{}, node: fakenode.Node{Dir: filepath.Join(c.options.Dir, name)}}
	keys, err := newHostKeys()
	if err != nil {
		return nil, err
	}
	if s.port, err = holdPort(); err != nil {
		return nil, err
	}
	s.Node = Node{
		Name: name, Host: "127.0.0.1", Port: s.port.number, Dir: s.node.Dir,
		HostKey: knownHostsLine(s.port.addr, keys.ed25519), ECDSA: knownHostsLine(s.port.addr, keys.ecdsa),
	}
	s.config = &ssh.ServerConfig{
		ServerVersion: "SSH-2.0-OpenSSH_9.6p1",
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if meta.User() != User || string(key.Marshal()) != string(user.public.Marshal()) {
				return nil, fmt.Errorf("cannot log in user %s: the key is not accepted", meta.User())
			}
			return nil, nil
		},
	}
	s.config.AddHostKey(keys.ecdsa)
	s.config.AddHostKey(keys.ed25519)
	return s, s.furnish()
}

func nodeName(rank int) string { return fmt.Sprintf("n%d", rank+1) }

// follow opens or closes the door.
func (s *server) follow(open bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case open && s.listener == nil:
		l, err := s.port.listen()
		if err != nil {
			return fmt.Errorf("cannot open the sshd of %s: %w", s.Name, err)
		}
		s.listener = l
		s.cluster.wg.Go(func() { s.accept(l) })
	case !open && s.listener != nil:
		s.listener.Close()
		s.listener = nil
	}
	return nil
}

func (s *server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		if !s.keep(conn) {
			conn.Close()
			return
		}
		s.cluster.wg.Go(func() {
			defer s.drop(conn)
			s.serve(conn)
		})
	}
}

func (s *server) serve(conn net.Conn) {
	if s.cluster.faults.Silent(s.rank) {
		io.Copy(io.Discard, conn) // never a banner; until the client gives up
		return
	}
	conn.SetDeadline(time.Now().Add(loginGrace))
	sshConn, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // the client has heard why
	}
	conn.SetDeadline(time.Time{})
	s.handshakes.Add(1)
	s.cluster.wg.Go(func() { ssh.DiscardRequests(requests) })
	s.serveChannels(sshConn, channels)
}

func (s *server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cluster.ctx.Err() != nil {
		return false
	}
	s.conns[conn] = true
	return true
}

func (s *server) drop(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// cut ends every connection there is.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		conn.Close()
	}
}

func (s *server) close() {
	s.follow(false) // closing never fails
	s.cut()
	s.port.close()
}
