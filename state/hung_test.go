package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

func TestHungIsReadBack(t *testing.T) {
	dir := t.TempDir()
	at := func(minute int) watchdog.Clock {
		return watchdog.Clock{Wall: time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC), Boot: time.Duration(minute) * time.Minute, BootID: "b"}
	}
	if h := ReadHung(dir); !h.Zero() {
		t.Errorf("none is %+v", h)
	}
	want := Hung{PID: 7, Since: at(3), At: at(47), Where: "looking at the group since 12:03:01\n(x)", Reason: "30s before systemd would", Told: true}
	if err := SaveHung(dir, want); err != nil {
		t.Fatal(err)
	}
	got := ReadHung(dir)
	if got.PID != 7 || !got.Since.Equal(want.Since) || !got.At.Equal(want.At) || got.Where != want.Where || got.Reason != want.Reason || !got.Told {
		t.Errorf("got %+v", got)
	}
	if text := got.String(); !strings.Contains(text, "(pid 7) hung in looking at the group since 12:03:01") {
		t.Errorf("says %q", text)
	}
	for range 2 {
		if err := RemoveHung(dir); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, hungName), []byte{0, 1, 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	if h := ReadHung(dir); !h.Zero() {
		t.Errorf("damage is %+v", h)
	}
}
