package fakenode

import (
	"fmt"
	"strings"
)

const tcpHeader = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// Listen writes the node's /proc/net/tcp so that these ports, and no others, are listened on at
// 127.0.0.1.
func (n Node) Listen(ports ...int) error {
	var b strings.Builder
	b.WriteString(tcpHeader)
	for i, port := range ports {
		fmt.Fprintf(&b, "%4d: 0100007F:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 %d 1 0000000000000000 100 0 0 10 0\n",
			i, port, 40000+i)
	}
	if err := replace(n.Run("tcp"), []byte(b.String())); err != nil {
		return err
	}
	return replace(n.Run("tcp6"), []byte(tcpHeader))
}
