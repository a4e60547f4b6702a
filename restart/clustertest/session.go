package clustertest

import (
	"sync/atomic"

	"golang.org/x/crypto/ssh"
)

// maxSessions is sshd's default.
const maxSessions = 10

// serveChannels serves one connection until it ends.
func (s *server) serveChannels(conn *ssh.ServerConn, channels <-chan ssh.NewChannel) {
	var open atomic.Int64
	for asked := range channels {
		if asked.ChannelType() != "session" {
			asked.Reject(ssh.UnknownChannelType, "unsupported channel type")
			continue
		}
		if open.Load() >= maxSessions {
			asked.Reject(ssh.ConnectionFailed, "open failed")
			continue
		}
		channel, requests, err := asked.Accept()
		if err != nil {
			continue
		}
		open.Add(1)
		s.cluster.wg.Go(func() {
			defer open.Add(-1)
			s.serveSession(conn, channel, requests)
		})
	}
}

// serveSession runs the one command of a session. Whatever else is asked – a terminal, an
// environment, a shell, a subsystem – is refused.
func (s *server) serveSession(conn *ssh.ServerConn, channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	gone := make(chan struct{})
	started := false
	for r := range requests {
		var exec struct{ Command string }
		if r.Type != "exec" || started || ssh.Unmarshal(r.Payload, &exec) != nil {
			s.refuse(r)
			continue
		}
		started = true
		r.Reply(true, nil)
		s.cluster.wg.Go(func() { s.command(conn, channel, exec.Command, gone) })
	}
	close(gone) // the client has closed the channel, or is away
}

func (s *server) refuse(r *ssh.Request) {
	s.node.NoteUnknown("sshd: unknown request " + r.Type)
	if r.WantReply {
		r.Reply(false, nil)
	}
}
