package clustertest

import (
	"os"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// sendExit tells how a command ended, in sshd's words.
func sendExit(channel ssh.Channel, state *os.ProcessState) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		signal := struct {
			Signal     string
			CoreDumped bool
			Error      string
			Lang       string
		}{signalName(status.Signal()), status.CoreDump(), "", ""}
		channel.SendRequest("exit-signal", false, ssh.Marshal(&signal))
		return
	}
	code := struct{ Code uint32 }{uint32(state.ExitCode())}
	channel.SendRequest("exit-status", false, ssh.Marshal(&code))
}

// signalName returns a signal as the protocol spells it.
func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGABRT: "ABRT", syscall.SIGALRM: "ALRM", syscall.SIGFPE: "FPE", syscall.SIGHUP: "HUP", syscall.SIGILL: "ILL",
		syscall.SIGINT: "INT", syscall.SIGKILL: "KILL", syscall.SIGPIPE: "PIPE", syscall.SIGQUIT: "QUIT", syscall.SIGSEGV: "SEGV",
		syscall.SIGTERM: "TERM", syscall.SIGUSR1: "USR1", syscall.SIGUSR2: "USR2",
	}
	if name, ok := names[s]; ok {
		return name
	}
	return "SIG@openssh.com"
}
