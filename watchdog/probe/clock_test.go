package probe

import (
	"encoding/json"
	"testing"
	"time"

	"cluster-watchdog/watchdog"
)

func TestNow(t *testing.T) {
	a, b := Now(), Now()
	if a.BootID == "" || a.BootID != b.BootID || b.Boot < a.Boot || a.Boot <= 0 || time.Since(a.Wall) > time.Minute {
		t.Errorf("got %+v, %+v", a, b)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back watchdog.Clock
	if err := json.Unmarshal(text, &back); err != nil || back != a {
		t.Errorf("%s reads back as %+v, %v", text, back, err)
	}
}
