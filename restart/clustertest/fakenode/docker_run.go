package fakenode

import (
	"fmt"
	"strings"
	"time"
)

// runFlags are the options of docker run that launch commands of such servers use.
var runFlags = flags{
	values: spell("--name", "--env,-e", "--env-file", "--network,--net", "--ipc", "--pid", "--uts", "--gpus", "--runtime",
		"--volume,-v", "--mount", "--shm-size", "--ulimit", "--restart", "--label,-l", "--entrypoint", "--user,-u",
		"--hostname,-h", "--device", "--memory,-m", "--memory-swap", "--cpus", "--cpuset-cpus", "--cap-add", "--cap-drop",
		"--security-opt", "--publish,-p", "--workdir,-w", "--add-host", "--log-driver", "--log-opt", "--tmpfs",
		"--stop-timeout", "--stop-signal", "--pull", "--group-add", "--platform", "--oom-score-adj", "--cgroupns"),
	bools: spell("--detach,-d", "--rm", "--init", "--privileged", "--tty,-t", "--interactive,-i", "--quiet,-q", "--oom-kill-disable"),
	early: true,
}

func dockerRun(w *world, args []string) int {
	p, ok := w.options(runFlags, args)
	switch {
	case !ok:
		return exitUnknown
	case len(p.words) == 0 || !p.has("--name") || !p.has("--detach"):
		return w.unknown(strings.Join(w.args, " ") + " (played only with -d, --name and an image)")
	}
	now := time.Now()
	var c *Container
	var startErr error
	err := w.node.Change(func(d *Daemon) error {
		var err error
		if c, err = d.Create(specOf(p), now); err != nil {
			return err
		}
		switch {
		case w.has(LaunchFails):
			startErr = fmt.Errorf("could not select device driver \"\" with capabilities: [[gpu]]")
			d.FailStart(c, 128, startErr.Error())
		case w.has(ContainerExits):
			d.Start(c, now)
			d.Die(c, 1, now.Add(time.Millisecond))
			return w.node.Log(c.ID, now, append(BootLog(c), CrashLog()...)...)
		default:
			d.Start(c, now)
			return w.node.Log(c.ID, now, BootLog(c)...)
		}
		return nil
	})
	if err != nil {
		return w.runError(err)
	}
	fmt.Fprintln(w.stdout, c.ID) // printed before the start is tried: a failed one has it as well
	if startErr != nil {
		return w.runError(startErr)
	}
	return 0
}

func (w *world) runError(err error) int {
	fmt.Fprintf(w.stderr, "docker: Error response from daemon: %v\n\nRun 'docker run --help' for more information\n", err)
	return 125
}

func specOf(p parsed) Spec {
	s := Spec{
		Name: p.last("--name"), Image: p.words[0], Args: p.words[1:], Env: p.values["--env"],
		Entry: p.last("--entrypoint"), AsUser: p.last("--user"), Machine: p.last("--hostname"),
		Labels: map[string]string{},
		Host: HostConfig{
			Binds: p.values["--volume"], NetworkMode: p.last("--network"), IpcMode: p.last("--ipc"),
			AutoRemove: p.has("--rm"), Privileged: p.has("--privileged"),
			RestartPolicy: RestartPolicy{Name: p.last("--restart")},
		},
	}
	for _, label := range p.values["--label"] {
		name, value, _ := strings.Cut(label, "=")
		s.Labels[name] = value
	}
	return s
}
