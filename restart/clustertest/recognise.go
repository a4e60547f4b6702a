package clustertest

import (
	"strings"
	"sync"

	"cluster-watchdog/scripts"
)

var known = sync.OnceValue(scripts.All)

// recognise returns the name of the script that a text holds, or "" for none.
func recognise(text string) string {
	for _, s := range known() {
		if strings.Contains(text, s.Body()) {
			return s.Name()
		}
	}
	return ""
}
