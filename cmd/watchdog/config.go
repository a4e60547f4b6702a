package main

import "time"

// defaultConfigPath is where the unit and a person's commands both look for the config.
const defaultConfigPath = "/etc/cluster-watchdog/config.yaml"

// Config is the whole config file. The yaml tags are the keys; nothing else is accepted.
type Config struct {
	Group     string        `yaml:"group"`     // name of the group, for sentences and for files on the nodes
	Container string        `yaml:"container"` // name of the container on every node
	Process   string        `yaml:"process"`   // expression for the engine's process in it; empty: the container ends with its engine
	Nodes     []NodeConfig  `yaml:"nodes"`     // in rank order: the first is the head
	SSH       SSHConfig     `yaml:"ssh"`
	Server    ServerConfig  `yaml:"server"`
	Launch    LaunchConfig  `yaml:"launch"`
	Checks    ChecksConfig  `yaml:"checks"`
	Settle    SettleConfig  `yaml:"settle"`
	Judge     JudgeConfig   `yaml:"judge"`
	Budget    BudgetConfig  `yaml:"budget"`
	Notify    NotifyConfig  `yaml:"notify"`
	StateDir  string        `yaml:"state_dir"`
	LogDir    string        `yaml:"log_dir"` // preserved evidence; empty: cases/ in StateDir
	LogKeep   KeepConfig    `yaml:"log_keep"`
	Period    time.Duration `yaml:"period"` // of the timer

	ActingLock string `yaml:"acting_lock"` // one for all groups of this machine

	credentialKey string // the API key file that systemd passed; not part of any hash
}

// NodeConfig is one node. Its name is also its alias in the ssh_config.
type NodeConfig struct {
	Name    string `yaml:"name"`
	Address string `yaml:"address"` // host or host:port; empty: the ssh_config says, else the name
	Process string `yaml:"process"` // of this rank; empty: Config.Process
}

// SSHConfig is the identity on every node, the head included. Nothing else is ever used.
type SSHConfig struct {
	User       string   `yaml:"user"`
	Keys       []string `yaml:"keys"`
	KnownHosts string   `yaml:"known_hosts"`
	SSHConfig  string   `yaml:"ssh_config"` // empty: none
	Parallel   int      `yaml:"parallel"`   // nodes connected to, and logs copied, at once
}

// ServerConfig says how the API server is asked.
type ServerConfig struct {
	URL           string        `yaml:"url"`
	MetricsURL    string        `yaml:"metrics_url"`    // empty: /metrics below URL
	API           string        `yaml:"api"`            // completions or chat
	Model         string        `yaml:"model"`          // empty: the first that the server lists
	APIKeyFile    string        `yaml:"api_key_file"`   // empty: systemd's credential "api-key" where it passed one
	Engine        string        `yaml:"engine"`         // auto, vllm or sglang
	CAFile        string        `yaml:"ca_file"`        // trusted beside the machine's own certificates; empty: none
	CanaryTimeout time.Duration `yaml:"canary_timeout"` // an answer later than this is none
	CanaryEvery   time.Duration `yaml:"canary_every"`   // while others are served
}

// LaunchConfig says how a rank is started and stopped.
type LaunchConfig struct {
	Command     string        `yaml:"command"`
	Order       LaunchOrder   `yaml:"order"`
	Sequential  bool          `yaml:"sequential"`   // workers one after the other, in rank order
	Timeout     time.Duration `yaml:"timeout"`      // of one launch on one node
	HeadAddress string        `yaml:"head_address"` // that workers connect to; empty: the first node's
	Image       string        `yaml:"image"`        // must be on every node; empty: not checked
	Dirs        []string      `yaml:"dirs"`         // on every node, made where they are missing
	StopSeconds int           `yaml:"stop_seconds"` // a container gets this long to stop before it is killed
}

// ChecksConfig is what must be true on every node before anything is touched.
type ChecksConfig struct {
	Mounts       []MountConfig `yaml:"mounts"`
	Disk         []DiskConfig  `yaml:"disk"`
	StateMinFree Size          `yaml:"state_min_free"` // on the volume of StateDir, on this machine
}

// MountConfig is one file system that a launch needs.
type MountConfig struct {
	Path     string `yaml:"path"`
	Type     string `yaml:"type"`     // such as nfs4; empty: any
	Sentinel string `yaml:"sentinel"` // a file on it that must be readable; empty: none
}

// DiskConfig is the free space that a path must have.
type DiskConfig struct {
	Path    string `yaml:"path"`
	MinFree Size   `yaml:"min_free"`
}

// SettleConfig says what must be true between removing and launching.
type SettleConfig struct {
	MemoryFloor  Size          `yaml:"memory_floor"` // zero: 90 % of what the last good launch had
	MemoryWait   time.Duration `yaml:"memory_wait"`
	Ports        []int         `yaml:"ports"` // free on the head; empty: the port of Server.URL
	FlusherEvery time.Duration `yaml:"flusher_every"`
}

// RuleConfig is watchdog.Rule.
type RuleConfig struct {
	Looks int           `yaml:"looks"`
	Apart time.Duration `yaml:"apart"`
	Over  time.Duration `yaml:"over"`
}

// JudgeConfig holds the windows of watchdog.Policy; their meaning is told there.
type JudgeConfig struct {
	Gap             time.Duration `yaml:"gap"`
	StrikeVoid      time.Duration `yaml:"strike_void"`
	Dead            RuleConfig    `yaml:"dead"`
	EngineDead      RuleConfig    `yaml:"engine_dead"`
	NoProgress      RuleConfig    `yaml:"no_progress"`
	NoProgressBlind RuleConfig    `yaml:"no_progress_blind"`
	BootOver        RuleConfig    `yaml:"boot_over"`
	Baseline        time.Duration `yaml:"baseline"`
	BootLimit       time.Duration `yaml:"boot_limit"`
	RankAppears     time.Duration `yaml:"rank_appears"`
	StaleWorker     time.Duration `yaml:"stale_worker"`
	DockerStarts    int           `yaml:"docker_starts"`
	Grace           time.Duration `yaml:"grace"`
	KillToDie       time.Duration `yaml:"kill_to_die"`
	EarlyDeath      time.Duration `yaml:"early_death"`
	DestroyTries    int           `yaml:"destroy_tries"`
	BusyTold        time.Duration `yaml:"busy_told"`
}

// BudgetConfig limits how often the watchdog acts on its own.
type BudgetConfig struct {
	Attempts int           `yaml:"attempts"`
	Window   time.Duration `yaml:"window"`
	Pause    time.Duration `yaml:"pause"` // after a failed launch or a boot that died early
}

// NotifyConfig is how a person hears of it.
type NotifyConfig struct {
	Command string        `yaml:"command"` // gets the text on stdin; empty: nobody is told
	User    string        `yaml:"user"`    // of this machine, as whom it runs; empty: SSH.User
	Timeout time.Duration `yaml:"timeout"`
}

// KeepConfig is how much preserved evidence is kept. The newest stays, and that of an incident
// that is not over.
type KeepConfig struct {
	Incidents int  `yaml:"incidents"`
	Size      Size `yaml:"size"`
}
