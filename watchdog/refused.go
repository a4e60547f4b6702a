package watchdog

import "time"

// How long a node is left alone that has not accepted our key: each refusal doubles it. A tick a
// minute would otherwise have the head banned: sshd's PerSourcePenalties adds them up, and fail2ban
// commonly allows four in ten minutes. No ten minutes hold more than three of ours.
const (
	refusedFirst = 2 * time.Minute
	refusedMost  = 15 * time.Minute
)

// LeaveAlone returns for how much longer the node of a rank is not to be asked, since it has refused
// our key; 0: ask. A new config or a new boot asks at once: the one may hold another key, and after the
// other only the wall clock could tell the time.
func (s State) LeaveAlone(p Policy, rank int, now Clock) time.Duration {
	if rank >= len(s.Ranks) || s.Config != p.Config || s.Identity != p.Identity {
		return 0
	}
	k := s.Ranks[rank]
	if k.Refused == 0 || k.RefusedAt.BootID != now.BootID {
		return 0
	}
	alone := refusedMost
	if doublings := k.Refused - 1; doublings < 3 {
		alone = refusedFirst << doublings
	}
	return max(0, alone-now.Since(k.RefusedAt))
}

// refusals counts how often each node has refused our key in a row. The second look of a tick has asked
// nobody again who refused in the first.
func (l *look) refusals() {
	if l.o.RanksOnly {
		return
	}
	for i, r := range l.o.Ranks {
		k := &l.next.Ranks[i]
		switch {
		case r.SSH == ReachAuth && l.prev.Config == l.p.Config:
			k.Refused, k.RefusedAt = k.Refused+1, l.o.At
		case r.SSH == ReachAuth:
			k.Refused, k.RefusedAt = 1, l.o.At
		case r.SSH == ReachOK:
			k.Refused, k.RefusedAt = 0, Clock{}
		}
	}
}
