package main

import (
	"bytes"
	"compress/gzip"

	"cluster-watchdog/systemd"
)

func (l layout) manualFiles() ([]installed, error) {
	text, err := systemd.Files.ReadFile("cluster-watchdog.8")
	if err != nil {
		return nil, err
	}
	packed, err := pack(text)
	return []installed{{l.prefix + "/share/man/man8/cluster-watchdog.8.gz", 0o644, packed}}, err
}

// pack compresses without name and time, so that the same text gives the same bytes.
func pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// completionFiles come from the command line itself.
func (l layout) completionFiles() ([]installed, error) {
	var bash, zsh, fish bytes.Buffer
	root := newRoot(&app{})
	if err := root.GenBashCompletionV2(&bash, true); err != nil {
		return nil, err
	}
	if err := root.GenZshCompletion(&zsh); err != nil {
		return nil, err
	}
	if err := root.GenFishCompletion(&fish, true); err != nil {
		return nil, err
	}
	return []installed{
		{l.prefix + "/share/bash-completion/completions/" + installedName, 0o644, bash.Bytes()},
		{l.zshFolder() + "/_" + installedName, 0o644, zsh.Bytes()},
		{l.prefix + "/share/fish/vendor_completions.d/" + installedName + ".fish", 0o644, fish.Bytes()},
	}, nil
}
