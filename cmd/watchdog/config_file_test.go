package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyOwnersMayWriteTheConfig(t *testing.T) {
	const me = 1000
	for _, row := range []struct {
		name  string
		facts fileFacts
		want  string // "": accepted
	}{
		{"mine", fileFacts{mode: 0o600, uid: me}, ""},
		{"root's", fileFacts{mode: 0o644, uid: 0}, ""},
		{"a stranger's", fileFacts{mode: 0o600, uid: 1001}, "belongs to user id 1001; chown it to root or to the user running this"},
		{"owner not told", fileFacts{mode: 0o600, uid: -1}, "belongs to user id -1; chown it to root or to the user running this"},
		{"group writes", fileFacts{mode: 0o660, uid: me}, "can be written by others (mode 0660); run chmod go-w"},
		{"all write", fileFacts{mode: 0o602, uid: 0}, "can be written by others (mode 0602); run chmod go-w"},
		{"folder", fileFacts{mode: fs.ModeDir | 0o700, uid: me}, "is not a regular file"},
		{"pipe", fileFacts{mode: fs.ModeNamedPipe | 0o600, uid: me}, "is not a regular file"},
		{"device", fileFacts{mode: fs.ModeDevice | 0o600, uid: 0}, "is not a regular file"},
		{"large", fileFacts{mode: 0o600, uid: me, size: maxConfig + 1}, "is larger than 1 MiB: not a config"},
	} {
		got := ""
		if err := row.facts.file(me); err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestLoadRefusesAFileOthersCanChange(t *testing.T) {
	good := read(t, configData+"/good-minimal.yaml")
	for _, row := range []struct {
		name string
		make func(t *testing.T) string
		want string
	}{
		{"no file", func(t *testing.T) string { return filepath.Join(t.TempDir(), "none.yaml") }, "no such file or directory"},
		{"writable", func(t *testing.T) string { return place(t, good, 0o666) }, "can be written by others (mode 0666)"},
		{"folder writable", func(t *testing.T) string {
			file := place(t, good, 0o600)
			must(t, os.Chmod(filepath.Dir(file), 0o777))
			return file
		}, "its folder"},
		{"link into a writable folder", func(t *testing.T) string {
			file := place(t, good, 0o600)
			must(t, os.Chmod(filepath.Dir(file), 0o777))
			link := filepath.Join(t.TempDir(), "config.yaml")
			must(t, errors.Join(os.Chmod(filepath.Dir(link), 0o700), os.Symlink(file, link)))
			return link
		}, "its folder"},
		{"link in a writable folder", func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "config.yaml")
			must(t, errors.Join(os.Symlink(place(t, good, 0o600), link), os.Chmod(filepath.Dir(link), 0o777)))
			return link
		}, "its folder"},
		{"pipe without a writer", func(t *testing.T) string {
			pipe := filepath.Join(t.TempDir(), "config.yaml")
			must(t, syscall.Mkfifo(pipe, 0o600))
			return pipe
		}, "is not a regular file"},
		{"folder in its place", func(t *testing.T) string { return t.TempDir() }, "is not a regular file"},
		{"large", func(t *testing.T) string { return place(t, strings.Repeat("#\n", maxConfig), 0o600) }, "larger than 1 MiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := row.make(t)
			_, err := loadConfig(path)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if at := new(configError); !errors.As(err, &at) || !strings.HasPrefix(err.Error(), path+": cannot use this config: ") {
				t.Errorf("not a configError that names its file: %v", err)
			}
		})
	}
}

func TestKeyFile(t *testing.T) {
	file := place(t, "sk-hunter2\n", 0o600)
	for _, row := range []struct {
		name, path string
		mode       os.FileMode
		want       string
	}{
		{"private", file, 0o600, ""},
		{"group reads", file, 0o640, "can be read by others; run chmod 600 on it"},
		{"folder", filepath.Dir(file), 0o600, "must be a regular file"},
		{"none", file + ".none", 0o600, "cannot use this file: no such file or directory"},
	} {
		must(t, os.Chmod(file, row.mode))
		problems := Config{Server: ServerConfig{APIKeyFile: row.path}}.checkKeyFile()
		if row.want == "" && len(problems) == 0 {
			continue
		}
		if len(problems) != 1 || problems[0].text != row.want || problems[0].field != "server.api_key_file" {
			t.Errorf("%s: got %v, want %q", row.name, problems, row.want)
		}
	}
}

// The unit passes an empty credential where the machine has no key.
func TestCredential(t *testing.T) {
	full, blank := filepath.Dir(place(t, "", 0o600)), filepath.Dir(place(t, "", 0o600))
	must(t, errors.Join(os.WriteFile(full+"/api-key", []byte("sk-1\n"), 0o400), os.WriteFile(blank+"/api-key", []byte("\n"), 0o400)))
	good := read(t, configData+"/good-minimal.yaml")
	own := place(t, "sk-2\n", 0o600)
	withOwn := strings.Replace(good, "  url:", "  api_key_file: "+own+"\n  url:", 1)
	plainHash := ""
	for _, row := range []struct{ name, folder, config, want string }{
		{"not under systemd", "", good, ""},
		{"a key", full, good, full + "/api-key"},
		{"blank", blank, good, ""},
		{"no such credential", t.TempDir(), good, ""},
		{"the config's own wins", full, withOwn, own},
	} {
		t.Setenv("CREDENTIALS_DIRECTORY", row.folder)
		c, err := loadConfig(place(t, row.config, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.APIKeyFile(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if plainHash == "" {
			plainHash = c.Hash()
		}
		if row.config == good && c.Hash() != plainHash {
			t.Errorf("%s: a person's `arm` and the service see two configs", row.name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
