package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// loadConfig reads, decodes and validates the config. Its error is a *configError with every
// problem found.
func loadConfig(path string) (Config, error) {
	content, err := readConfig(path)
	if err != nil {
		text := "cannot use this config: " + err.Error()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text += ": copy config.example.yaml to it and fill it in, or name another with --config"
		case errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0:
			text += ": run it as root, say with sudo"
		}
		return Config{}, &configError{path, []problem{{text: text}}}
	}
	c, problems := parseConfig(content)
	if len(problems) == 0 {
		problems = c.checkKeyFile()
	}
	if len(problems) > 0 {
		return Config{}, &configError{path, problems}
	}
	if c.Server.APIKeyFile == "" {
		c.credentialKey = credentialKey(os.Getenv("CREDENTIALS_DIRECTORY"))
	}
	return c, nil
}

// parseConfig decodes and validates without touching any file.
func parseConfig(content []byte) (Config, []problem) {
	if line := binaryLine(content); line > 0 {
		return Config{}, []problem{{line: line, text: "not text in UTF-8"}}
	}
	c := defaultConfig()
	d := decode(content, &c)
	problems := d.problems
	if len(problems) == 1 && problems[0].field == "" {
		return c, problems // nothing could be decoded: the rest would be noise
	}
	for _, p := range c.Validate() {
		if covers(d.problems, p.field) {
			continue // a value that could not be read has been told already
		}
		p.line = d.nearest(p.field)
		problems = append(problems, p)
	}
	return c, problems
}

// binaryLine is the first line that is not text; 0: all is.
func binaryLine(content []byte) int {
	line := 0
	for text := range bytes.Lines(content) {
		line++
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			return line
		}
	}
	return 0
}

// nearest is the line of the field, or of what would hold it: at last the file.
func (d *decoder) nearest(field string) int {
	for field != "" {
		if line, ok := d.lines[field]; ok {
			return line
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return 1
}

// checkKeyFile looks at the API key's file, never into it. What this user may not see is left
// to the probe, which runs as the service does.
func (c Config) checkKeyFile() []problem {
	if c.Server.APIKeyFile == "" {
		return nil
	}
	text := ""
	info, err := os.Stat(c.Server.APIKeyFile)
	switch {
	case errors.Is(err, fs.ErrPermission):
	case err != nil:
		text = "cannot use this file: " + reasonOf(err).Error()
	case !info.Mode().IsRegular():
		text = "must be a regular file"
	case info.Mode().Perm()&0o077 != 0:
		text = "can be read by others; run chmod 600 on it"
	}
	if text == "" {
		return nil
	}
	return []problem{{field: "server.api_key_file", text: text, got: c.Server.APIKeyFile}}
}

// credentialKey returns the file of systemd's credential "api-key" unless it is blank, as the
// unit makes it where the machine has no key.
func credentialKey(folder string) string {
	if folder == "" {
		return ""
	}
	path := filepath.Join(folder, "api-key")
	content, err := os.ReadFile(path) // systemd's own ramfs, at most 1 MiB
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return ""
	}
	return path
}
