package fakenode

import "time"

// Container is what docker inspect prints of one container.
type Container struct {
	ID              string `json:"Id"`
	Created         string
	Path            string
	Args            []string
	State           State
	Image           string // the id of the image
	LogPath         string
	Name            string // with its slash: "/vllm"
	RestartCount    int
	Driver          string
	Platform        string
	MountLabel      string
	ProcessLabel    string
	AppArmorProfile string
	HostConfig      HostConfig
	Config          Config
}

// State is how a container is.
type State struct {
	Status     string
	Running    bool
	Paused     bool
	Restarting bool
	OOMKilled  bool
	Dead       bool
	Pid        int
	ExitCode   int
	Error      string
	StartedAt  string
	FinishedAt string
}

// HostConfig is the part of a container that the machine gives.
type HostConfig struct {
	Binds         []string
	NetworkMode   string
	IpcMode       string
	RestartPolicy RestartPolicy
	AutoRemove    bool
	Privileged    bool
	ShmSize       int64
}

// RestartPolicy is Docker's own.
type RestartPolicy struct {
	Name              string
	MaximumRetryCount int
}

// Config is the part of a container that its author gives.
type Config struct {
	Hostname string
	User     string
	Tty      bool
	Env      []string
	Cmd      []string
	Image    string // as it was named
	Labels   map[string]string
}

// never is how Docker writes a time that has not come.
const never = "0001-01-01T00:00:00Z"

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func (c *Container) shortName() string { return c.Name[1:] }

func (c *Container) running() bool { return c.State.Status == "running" }
