package main

import (
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog/netfs/badmount"
)

// The config, the API key and the CA file keep no tick from looking, wherever they lie.
func TestFilesOnMountsN01(t *testing.T) {
	if badmount.Elsewhere(t) {
		return
	}
	network := badmount.New(t, "fuse.sshfs", "ops@nas:/srv")
	network.Hang()
	hung := badmount.New(t, "fuse.local", "/srv/keys")
	hung.Hang()
	for what, read := range map[string]func(string) ([]byte, error){"config": readConfig, "API key": readSmall} {
		for dir, want := range map[string]string{network.Path: "lies on sshfs", hung.Path: "no answer within 5s: its file system hangs"} {
			if _, err := read(dir + "/file"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", what, err, want)
			}
		}
	}
	if network.Waiting() != 0 {
		t.Error("the network file system was asked")
	}
}

// N04: loading from NFS takes its time: 540 s for 378 GiB is normal, cold it is an hour.
func TestBootLimitN04(t *testing.T) {
	if limit := defaultConfig().Judge.BootLimit; limit < 30*time.Minute {
		t.Errorf("a boot may take %s", limit)
	}
}
