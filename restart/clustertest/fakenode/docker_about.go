package fakenode

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

type dockerSide struct {
	Version    string
	ApiVersion string //nolint:revive // Docker's spelling
	Os         string
	Arch       string
}

var about = dockerSide{Version: "28.2.2", ApiVersion: "1.50", Os: "linux", Arch: "arm64"}

func dockerVersion(w *world, args []string) int {
	sides := struct{ Client, Server dockerSide }{about, about}
	text := fmt.Sprintf("Client:\n Version:           %s\n API version:       %s\n\nServer:\n Engine:\n  Version:          %[1]s\n  API version:      %[2]s",
		about.Version, about.ApiVersion)
	return w.about(args, sides, text)
}

// daemonInfo is what docker info prints in a format.
type daemonInfo struct {
	ID                string
	Name              string
	ServerVersion     string
	Driver            string
	DockerRootDir     string
	Containers        int
	ContainersRunning int
	Images            int
}

func dockerInfo(w *world, args []string) int {
	d, err := w.node.Look()
	if err != nil {
		return w.broken(err)
	}
	running := 0
	for _, c := range d.Containers {
		if c.running() {
			running++
		}
	}
	info := daemonInfo{
		ID: hash("daemon", d.Node), Name: d.Node, ServerVersion: about.Version, Driver: "overlay2", DockerRootDir: "/var/lib/docker",
		Containers: len(d.Containers), ContainersRunning: running, Images: len(d.Images),
	}
	text := fmt.Sprintf("Server:\n Containers: %d\n  Running: %d\n Server Version: %s\n Storage Driver: overlay2\n Name: %s",
		len(d.Containers), running, about.Version, d.Node)
	return w.about(args, info, text)
}

func (w *world) about(args []string, v any, text string) int {
	p, ok := w.options(flags{values: spell("--format,-f")}, args)
	switch {
	case !ok:
		return exitUnknown
	case len(p.words) > 0:
		return w.unknown(strings.Join(w.args, " "))
	case !p.has("--format"):
		fmt.Fprintln(w.stdout, text)
		return 0
	}
	if err := formatLine(w.stdout, p.last("--format"), v); err != nil {
		return w.unknown(fmt.Sprintf("%s (%v)", strings.Join(w.args, " "), err))
	}
	return 0
}

// writeIndented prints what inspect prints without a format.
func writeIndented(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	return e.Encode(v)
}
