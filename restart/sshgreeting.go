package restart

import (
	"bytes"
	"net"
	"sync"
)

// greetedConn remembers the first bytes a server sends: whether the SSH banner came, and what
// it said instead. The library forgets both.
type greetedConn struct {
	net.Conn
	mu   sync.Mutex
	head []byte
}

const maxGreeting = 512

func (g *greetedConn) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if room := maxGreeting - len(g.head); room > 0 {
		g.head = append(g.head, p[:min(n, room)]...)
	}
	return n, err
}

// greeting says whether the banner came and, if not, what came in its place.
func (g *greetedConn) greeting() (banner bool, instead string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytes.HasPrefix(g.head, []byte("SSH-")) || bytes.Contains(g.head, []byte("\nSSH-")) {
		return true, ""
	}
	return false, printableLine(string(g.head))
}
