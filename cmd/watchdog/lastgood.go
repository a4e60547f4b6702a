package main

import (
	"cluster-watchdog/watchdog"
)

// lastGood describes a boot of ours that has just served; nil where none has.
func lastGood(p watchdog.Policy, before, next watchdog.State, o watchdog.Observation) *watchdog.LastGood {
	i := len(before.Attempts) - 1
	for i >= 0 && before.Attempts[i].Launching.IsZero() {
		i-- // a person's restart that was refused since
	}
	if i < 0 || !justServed(next, o.At) {
		return nil
	}
	a := before.Attempts[i]
	if o.At.Later(before.Served, a.Launching) || o.At.Later(next.PersonStart, a.Launching) {
		return nil // that launch has served before, or this start is somebody else's
	}
	good := &watchdog.LastGood{At: o.At, Identity: p.Identity, MemFree: a.MemFree}
	if a.Launching.BootID == o.At.BootID { // else no clock can be believed for how long it took
		good.Boot = o.At.Since(a.Launching)
	}
	for _, r := range o.Ranks {
		image := ""
		if r.Container != nil {
			image = r.Container.ImageID
		}
		good.Images = append(good.Images, image)
	}
	return good
}
