package scripts

import "embed"

// Examples are launch commands to start from, a folder each, with the config that goes with them.
// They are the person's own to copy and change; nothing here runs them.
//
//go:embed examples
var Examples embed.FS
