// Package probe is how we look: one file per question. It records facts, each with its error, and
// draws no conclusion.
package probe

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cluster-watchdog/scripts"
	"cluster-watchdog/watchdog"
)

// Config says whom to ask. A deadline of zero is the default.
type Config struct {
	BaseURL    string                 // "http://10.0.0.1:8000" of the head's API
	MetricsURL string                 // default: BaseURL + /metrics
	API        string                 // "completions" or "chat"
	Model      string                 // "": the first of /v1/models
	APIKey     func() (string, error) // read once per look; nil: none
	CA         func() ([]byte, error) // certificates that are trusted beside the machine's; nil: none
	Nodes      []string               // node names in rank order
	Container  string                 // the container's name, the same on all nodes ...
	Containers []string               // ... or per rank
	Processes  []string               // per rank, an extended expression for its engine's process; "": the container is the engine

	Look     time.Duration // everything
	Again    time.Duration // the second look of a tick
	Models   time.Duration
	Counters time.Duration // of each of the two readings
	Canary   time.Duration // including its retry
	Health   time.Duration
	Ranks    time.Duration // of all nodes at once: connecting, a retry and the script
	Script   time.Duration // of the script on a node
}

// DefaultDeadlines returns c with the defaults where it names no deadline. What is asked one after
// the other (models, counters, canary, counters) fits into Look. An engine's own health check may
// take 20 s to say that it failed (E09), so Health must be longer.
func (c Config) DefaultDeadlines() Config {
	fill := func(d *time.Duration, seconds int) {
		if *d == 0 {
			*d = time.Duration(seconds) * time.Second
		}
	}
	fill(&c.Look, int(watchdog.LookLimit/time.Second))
	fill(&c.Again, int(watchdog.LookAgainLimit/time.Second))
	fill(&c.Models, 5)
	fill(&c.Counters, 4)
	fill(&c.Canary, 30)
	fill(&c.Health, 40)
	fill(&c.Ranks, 40)
	fill(&c.Script, 15)
	return c
}

// Nodes runs a script on the node of a rank and returns what the script printed. An error may say
// with ReachOf how far the question got.
type Nodes interface {
	Ask(ctx context.Context, rank int, s scripts.Script, env map[string]string) (stdout string, err error)
}

// Prober looks at one cluster.
type Prober struct {
	config Config
	nodes  Nodes
	script scripts.Script
	client *http.Client
	noCA   error    // why no https question can be asked
	engine string   // where the engine itself is asked, also behind a proxy
	hidden []string // passwords that stand in the URLs
}

// New returns a Prober that asks the nodes through n.
func New(c Config, n Nodes) *Prober {
	c = c.DefaultDeadlines()
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	if c.MetricsURL == "" {
		c.MetricsURL = c.BaseURL + "/metrics"
	}
	roots, err := trust(c.CA)
	return &Prober{
		config: c, nodes: n, script: scripts.Get("observe/look"), client: newClient(roots), noCA: err,
		engine: c.engineURL(), hidden: passwords(c.BaseURL, c.MetricsURL),
	}
}

// engineURL is where the engine says how it is. A proxy at BaseURL may say 503 of itself, or answer
// for another engine; beside its counters the engine itself is asked.
func (c Config) engineURL() string {
	if base, found := strings.CutSuffix(c.MetricsURL, "/metrics"); found {
		return base
	}
	return c.BaseURL
}

// passwords returns those that stand in the URLs.
func passwords(urls ...string) []string {
	var found []string
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil {
			continue
		}
		if password, set := u.User.Password(); set {
			found = append(found, password)
		}
	}
	return found
}

// containerOf returns the name of a rank's container.
func (c Config) containerOf(rank int) string {
	if rank < len(c.Containers) {
		return c.Containers[rank]
	}
	return c.Container
}

// processOf returns the expression for the engine's process in a rank's container; "" for none.
func (c Config) processOf(rank int) string {
	if rank < len(c.Processes) {
		return c.Processes[rank]
	}
	return ""
}

// knownOf returns what is known of a rank; the zero value where nothing is.
func knownOf(known []watchdog.Known, rank int) watchdog.Known {
	if rank < len(known) {
		return known[rank]
	}
	return watchdog.Known{}
}
