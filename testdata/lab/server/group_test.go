package main

import (
	"net"
	"testing"
	"time"
)

func TestAdmit(t *testing.T) {
	for _, row := range []struct {
		name       string
		rank, size int
		lost, want bool
	}{
		{"free seat", 2, 4, false, true},
		{"taken seat", 1, 4, false, false},
		{"the head's seat", 0, 4, false, false},
		{"no such seat", 4, 4, false, false},
		{"another group", 2, 3, false, false},
		{"a dying head", 2, 4, true, false},
	} {
		g := newGroup(4)
		g.admit(heard(t), 1, 4)
		if row.lost {
			g.lose()
		}
		if got := g.admit(heard(t), row.rank, row.size); got != row.want {
			t.Errorf("%s: admitted %t, want %t", row.name, got, row.want)
		}
	}
}

// heard is a connection whose other end listens.
func heard(t *testing.T) net.Conn {
	here, there := net.Pipe()
	t.Cleanup(func() { here.Close(); there.Close() })
	go there.Read(make([]byte, 64))
	return here
}

func TestMurmur(t *testing.T) {
	said := &lines{news: make(chan struct{})}
	s := &server{pace: pace{heartbeat: time.Millisecond}}
	stop := s.murmur(newLog(said, said, time.Now))
	(&rank{t: t, said: said}).says("No available shared memory broadcast block found in 0 seconds.")
	stop()
}
