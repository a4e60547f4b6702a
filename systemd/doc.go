// Package systemd holds the units and the example config as they are installed.
package systemd

import "embed"

// Files are the units and the example config.
//
//go:embed *.service *.timer config.example.yaml
var Files embed.FS
