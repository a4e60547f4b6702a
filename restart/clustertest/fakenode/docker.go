package fakenode

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// socket is where the words of Docker's errors say that its daemon listens.
const socket = "/var/run/docker.sock"

var dockerCommands = map[string]func(*world, []string) int{
	"version": dockerVersion,
	"info":    dockerInfo,
	"ps":      dockerPs,
	"inspect": dockerInspect,
	"logs":    dockerLogs,
	"top":     dockerTop,
	"events":  dockerEvents,
	"run":     dockerRun,
	"start":   dockerStart,
	"stop":    dockerStop,
	"restart": dockerRestart,
	"kill":    dockerKill,
	"rm":      dockerRm,
	"update":  dockerUpdate,
	"image":   dockerImage,
}

// docker plays the command-line client. Its words are those of Docker 28.
func docker(w *world) int {
	if w.has(DockerHangs) {
		return hang()
	}
	args := w.args
	if len(args) > 1 && args[0] == "container" { // docker container ls = docker ps
		args = args[1:]
		switch args[0] {
		case "ls", "list":
			args = append([]string{"ps"}, args[1:]...)
		case "inspect":
			args = append([]string{"inspect", "--type", "container"}, args[1:]...)
		}
	}
	if len(args) == 0 {
		return w.unknown("docker without a command")
	}
	command, ok := dockerCommands[args[0]]
	if !ok {
		return w.unknown(strings.Join(w.args, " "))
	}
	if why := w.unreachable(args[0]); why != "" {
		if args[0] == "inspect" || args[0] == "image" {
			fmt.Fprintln(w.stdout, emptyInspect(args)) // the client prints it before it tells the error
		}
		if args[0] == "run" {
			fmt.Fprintf(w.stderr, "docker: %s\n\nRun 'docker run --help' for more information\n", why)
			return exitUnknown
		}
		fmt.Fprintln(w.stderr, why)
		return 1
	}
	return command(w, args[1:])
}

func (w *world) unreachable(command string) string {
	switch {
	case w.has(DockerDenied):
		return fmt.Sprintf("permission denied while trying to connect to the Docker daemon socket at unix://%s: "+
			"Get \"http://%s/v1.50/%s\": dial unix %s: connect: permission denied",
			socket, strings.ReplaceAll(socket, "/", "%2F"), command, socket)
	case w.has(DockerDown):
		return fmt.Sprintf("Cannot connect to the Docker daemon at unix://%s. Is the docker daemon running?", socket)
	}
	return ""
}

func emptyInspect(args []string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-f") || strings.HasPrefix(arg, "--format") {
			return ""
		}
	}
	return "[]"
}

// options reads a sub-command's options; an option that is not played is refused loudly.
func (w *world) options(f flags, args []string) (parsed, bool) {
	p, err := f.parse(args)
	if err != nil {
		w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
		return p, false
	}
	return p, true
}

// daemonError is how the client tells what the daemon said.
func (w *world) daemonError(err error) {
	fmt.Fprintf(w.stderr, "Error response from daemon: %v\n", err)
}

// each does one thing to each named container and prints its name, as stop, kill, rm and start
// do. What the daemon refuses is told, and the rest is done all the same.
func (w *world) each(refs []string, do func(*Daemon, *Container, time.Time) error) int {
	if len(refs) == 0 {
		return w.unknown(strings.Join(w.args, " ") + " (no container named)")
	}
	code := 0
	for _, ref := range refs {
		var refused error
		err := w.node.Change(func(d *Daemon) error {
			c, err := d.Find(ref)
			if err == nil {
				err = do(d, c, time.Now())
			}
			refused = err
			return nil // events of a refused command stay
		})
		if err = errors.Join(refused, err); err != nil {
			w.daemonError(err)
			code = 1
			continue
		}
		fmt.Fprintln(w.stdout, ref)
	}
	return code
}
