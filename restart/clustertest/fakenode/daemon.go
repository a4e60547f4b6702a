package fakenode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Daemon is the Docker of one node, as a value that lives in a file.
type Daemon struct {
	Node       string
	Seed       uint64
	Made       int // containers made so far: the next id hangs on it
	Images     map[string]string
	Containers []*Container
	Leaving    map[string]time.Time `json:",omitempty"` // removals in progress and their ends
	Events     []Event
	Starts     []Start // the youngest last, also of containers that are gone
}

// Start is one start of one container, from then to its end.
type Start struct {
	ID       string
	Name     string
	Started  time.Time
	Finished time.Time // zero: it still runs
}

// startsKept bounds the memory of starts; the engine looks at far fewer.
const startsKept = 200

// NewDaemon returns a Docker that has the images and nothing else.
func NewDaemon(node string, seed uint64, images ...string) *Daemon {
	d := &Daemon{Node: node, Seed: seed, Images: map[string]string{}}
	for _, image := range images {
		d.Images[image] = "sha256:" + hash("image", image)
	}
	return d
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// Find returns the container of that id, name or unambiguous start of an id.
func (d *Daemon) Find(ref string) (*Container, error) {
	if ref == "" {
		return nil, fmt.Errorf("invalid container name or ID: value is empty")
	}
	for _, c := range d.Containers {
		if c.ID == ref || c.shortName() == strings.TrimPrefix(ref, "/") {
			return c, nil
		}
	}
	var found []*Container
	for _, c := range d.Containers {
		if strings.HasPrefix(c.ID, ref) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return nil, says("No such container: %s", ref)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("multiple IDs found with provided prefix: %s", ref)
}

// Spec is what docker run was asked for.
type Spec struct {
	Name    string
	Image   string
	Args    []string
	Env     []string
	Host    HostConfig
	Labels  map[string]string
	Entry   string
	AsUser  string
	Machine string // --hostname
}

// Create makes a container that does not run yet.
func (d *Daemon) Create(s Spec, now time.Time) (*Container, error) {
	image, ok := d.Images[s.Image]
	if !ok {
		return nil, says("No such image: %s", s.Image)
	}
	for _, c := range d.Containers {
		if c.shortName() == s.Name {
			return nil, says("Conflict. The container name %q is already in use by container %q. "+
				"You have to remove (or rename) that container to be able to reuse that name.", c.Name, c.ID)
		}
	}
	d.Made++
	id := hash("container", fmt.Sprint(d.Seed), d.Node, fmt.Sprint(d.Made))
	if s.Host.RestartPolicy.Name == "" {
		s.Host.RestartPolicy.Name = "no"
	}
	if s.Host.NetworkMode == "" {
		s.Host.NetworkMode = "bridge"
	}
	c := &Container{
		ID: id, Name: "/" + s.Name, Created: stamp(now), Path: s.Entry, Args: s.Args, Image: image,
		Driver: "overlay2", Platform: "linux", HostConfig: s.Host,
		State: State{Status: "created", StartedAt: never, FinishedAt: never},
		Config: Config{
			Hostname: s.Machine, User: s.AsUser, Image: s.Image, Cmd: s.Args, Labels: s.Labels,
			Env: append(slices.Clone(s.Env), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
		},
	}
	d.Containers = append(d.Containers, c)
	d.tell(now, c, "create", nil)
	return c, nil
}

// words are an error in Docker's own words, which keep none of our rules.
type words string

func (w words) Error() string { return string(w) }

func says(format string, a ...any) error { return words(fmt.Sprintf(format, a...)) }
