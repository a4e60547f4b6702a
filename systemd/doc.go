// Package systemd holds the units, the example config and the man page as they are installed, and
// what the Debian package is made of. The units of one more group are templates, made of the others.
package systemd

import "embed"

// Files are the units, the example config and the man page. They name the program Program.
//
//go:embed *.service *.timer config.example.yaml cluster-watchdog.8
var Files embed.FS

// Program is where the units expect the program; an installation elsewhere replaces it.
const Program = "/usr/local/bin/cluster-watchdog"
