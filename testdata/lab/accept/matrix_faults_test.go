//go:build lab

package accept

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// effect is what a fault takes away. What is expected follows from it, see matrix_expected_test.go.
type effect int

const (
	harmless   effect = iota // slower, or over at once: a restart goes through it
	narrow                   // the way to the node is so slow that little fits through
	mountGone                // the checked mount, which the launch needs too, gives no answer or a wrong one
	cut                      // the node is cut off from everybody
	frozen                   // all of the node stands still, and goes on later
	noLogin                  // new SSH logins fail; what runs goes on
	noSSH                    // SSH is cut off, and with it what runs over it
	dockerHung               // Docker answers nothing; the containers run on
	dockerGone               // Docker is stopped, and its containers with it
	dockerDies               // Docker is killed and back at once; the rank ends
	rankPaused               // the container stands still
	rankKilled               // `docker kill`: somebody's doing
	rankCrash                // the server's process dies
	powerLost                // the node is off for a while
	rebooted                 // the node is off and back at once
)

// nodeFault is one of the faults that the lab can make on a node.
type nodeFault struct {
	name   string
	effect effect
	says   string // what a refusal must name, as a pattern; NODE is its name
	inject func(t *testing.T, node int)
	mend   func(t *testing.T, node int) // nil: it is over by itself
}

// every fault, by where it strikes: the mount, the way to the node, the node, its Docker, its rank.
var everyFault = []nodeFault{
	ofMount("stale", mountGone, `is stale`),
	ofMount("eio", mountGone, `[Ii]nput/output error`),
	ofMount("hang", mountGone, `is hung`),
	ofMount("softhang", mountGone, `is hung`),
	ofMount("enospc", harmless, ``),
	ofMount("rofs", harmless, ``),
	ofMount("slow:500ms", harmless, ``),
	byCommand("mount's daemon killed", mountGone, `mount /shared on NODE: .*is dead`, "systemctl kill -s KILL faultfs", "systemctl reset-failed faultfs; systemctl restart faultfs"),
	byCommand("mount's daemon stopped", mountGone, `mount /shared on NODE: .*is hung`, "systemctl kill -s STOP faultfs", "systemctl kill -s CONT faultfs"),

	{"cable pulled", cut, unreachable(""), pull, plug},
	byCommand("link down", cut, unreachable(""), "ip link set "+nic+" down", "ip link set "+nic+" up"),
	byCommand("all dropped", cut, unreachable(""), "iptables -I INPUT -i "+nic+" -j DROP; iptables -I OUTPUT -o "+nic+" -j DROP", "iptables -F"),
	byCommand("a third lost", harmless, ``, "iptables -I INPUT -i "+nic+" -m statistic --mode random --probability 0.3 -j DROP", "iptables -F"),
	byCommand("16 kbit/s", narrow, ``, "tc qdisc add dev "+nic+" root tbf rate 16kbit burst 1600 latency 2s", "tc qdisc del dev "+nic+" root"),
	byCommand("sshd stopped by a signal", noLogin, unreachable(`.*(banner|handshake|timeout|no answer)`), "pkill -STOP -o -x sshd", "pkill -CONT -x sshd"),
	byCommand("ssh stopped", noLogin, unreachable(`.*refused`), "systemctl stop ssh", "systemctl start ssh"),
	byCommand("port 22 reset", noSSH, unreachable(`.*(refused|reset|dropped)`), "iptables -I INPUT -p tcp --dport 22 -j REJECT --reject-with tcp-reset", "iptables -F"),
	byCommand("sshd killed", harmless, ``, "pkill -KILL -o -x sshd", ""),
	byCommand("key gone", noLogin, unreachable(`.*(key|auth)`), "mv /home/ops/.ssh/authorized_keys /home/ops/.ssh/away", "mv /home/ops/.ssh/away /home/ops/.ssh/authorized_keys"),
	byCommand("host key changed", noLogin, unreachable(`.*host key`), "cp -a /etc/ssh /root/ssh-away; rm /etc/ssh/ssh_host_*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; systemctl restart ssh",
		"cp -a /root/ssh-away/. /etc/ssh/; rm -rf /root/ssh-away; systemctl restart ssh"),

	{"node paused", frozen, unreachable(""), outerCommand("pause"), outerCommand("unpause")},
	{"power lost", powerLost, unreachable(""), outerCommand("kill"), start},
	{"power lost and back", rebooted, unreachable(""), func(t *testing.T, node int) { outerCommand("kill")(t, node); start(t, node) }, nil},
	{"reboot", rebooted, unreachable(""), reboot, nil},

	byCommand("dockerd stopped by a signal", dockerHung, `docker on NODE: .*does not answer`, "pkill -STOP -x dockerd", "pkill -CONT -x dockerd"),
	byCommand("docker stopped", dockerGone, `docker on NODE: .*not running`, "systemctl stop docker.socket docker", "systemctl start docker.socket docker"),
	byCommand("dockerd killed", dockerDies, `docker on NODE: `, "pkill -KILL -x dockerd", ""),

	byCommand("docker pause", rankPaused, ``, "docker pause vllm", "docker unpause vllm || true"),
	byCommand("docker kill", rankKilled, ``, "docker kill vllm", ""),
	byCommand("server killed", rankCrash, ``, "kill -KILL $(docker inspect -f '{{.State.Pid}}' vllm)", ""),
}

// nic is the node's interface: a cable that was plugged in again has another name.
const nic = "$(ip -o -4 addr | awk '/ 172\\.31\\./ { print $2 }')"

// byCommand is a fault made by a command on the node, and mended by another; "": over by itself.
func byCommand(name string, e effect, says, inject, mend string) nodeFault {
	f := nodeFault{name: name, effect: e, says: says, inject: func(t *testing.T, node int) { on(t, node, inject) }}
	if mend != "" {
		f.mend = func(t *testing.T, node int) { on(t, node, mend) }
	}
	return f
}

// ofMount is a fault of the shared mount.
func ofMount(word string, e effect, says string) nodeFault {
	return byCommand("mount "+word, e, `mount /shared on NODE: .*`+says, "echo "+word+" >/run/faultfs.mode", "echo ok >/run/faultfs.mode")
}

// unreachable is what is said of a node that cannot be asked, or could no longer be asked.
func unreachable(more string) string {
	return `(cannot reach NODE by SSH: ` + more + `|on NODE: the SSH connection )`
}

func outerCommand(verb string) func(*testing.T, int) {
	return func(t *testing.T, node int) { mustOuter(t, verb, container(node)) }
}

// network and address of a node, as lab.sh made them.
func network(node int) (name, address string) {
	name, _, _ = strings.Cut(container(node), "-")
	third := 77
	if n := strings.TrimPrefix(name, "cwlab"); n != "" {
		third += int(n[0] - '1')
	}
	return name, fmt.Sprintf("172.31.%d.%d", third, 11+node)
}

func pull(t *testing.T, node int) {
	name, _ := network(node)
	mustOuter(t, "network", "disconnect", name, container(node))
}

func plug(t *testing.T, node int) {
	name, address := network(node)
	mustOuter(t, "network", "connect", "--ip", address, name, container(node))
}

func start(t *testing.T, node int) {
	mustOuter(t, "start", container(node))
	ready(t, node)
}

// reboot is the orderly one: systemd ends what runs, Docker its containers.
func reboot(t *testing.T, node int) {
	_, _ = try(node, "systemctl --no-block reboot")
	eventually(t, time.Minute, "the node goes down", func() bool {
		out, _ := outer("inspect", "-f", "{{.State.Running}}", container(node))
		return out == "false"
	})
	start(t, node)
}
