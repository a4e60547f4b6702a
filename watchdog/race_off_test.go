//go:build !race

package watchdog

const underRace = false
